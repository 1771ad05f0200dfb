"""Module path of kernels in saved models; the code is in `rows`."""

from kreinlearn.kernels import rows

epanechnikov, gaussian_difference = rows.epanechnikov, rows.gaussian_difference
laplacian, log, power, rbf, tl1 = (
    rows.laplacian,
    rows.log,
    rows.power,
    rows.rbf,
    rows.tl1,
)

for _function in (epanechnikov, gaussian_difference, laplacian, log, power, rbf, tl1):
    _function.__module__ = __name__
