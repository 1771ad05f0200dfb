"""The reproduction of one paper: its tables and figures next to the published numbers.

F. Liu, X. Huang, C. Gong, J. Yang, J. A. K. Suykens, "Indefinite kernel logistic
regression with concave-inexact-convex procedure", IEEE Transactions on Neural Networks
and Learning Systems 30(3), 765-776, 2019.

Run it from a checkout of the source: ``python -m reproduction --help``.
"""
