"""One table of methods, and one way to tune them.

A method is a record: how to build its estimator for one value of its hyper-parameter,
what that is called, and which score judges it. Comparisons, inspections and the
experiments of the paper read the same table, `table.METHODS`, and cross-validate with
the same function, `tuning.held_out_scores`. To add a method, add a record.
"""
