"""The published numbers, typed once, and what is known to be wrong with them.

All from F. Liu, X. Huang, C. Gong, J. Yang, J. A. K. Suykens, "Indefinite kernel
logistic regression with concave-inexact-convex procedure", IEEE Transactions on Neural
Networks and Learning Systems 30(3), 765-776, 2019; the tables by its own numbers.
"""

from collections.abc import Mapping
from typing import NamedTuple

from kreinlearn.pages.entries import Spread


class Statistics(NamedTuple):
    """A row of Table 2: features, samples, extreme eigenvalues of the TL1 kernel."""

    m: int
    n: int
    mu_min: float
    mu_max: float


class Cost(NamedTuple):
    """An entry of Tables 4 and 7: accuracy, and seconds of training and testing."""

    accuracy: Spread
    training: float
    test: float


class Metric(NamedTuple):
    """A row of Table 1: whether it is geodesic, its Gaussian positive definite."""

    is_geodesic: bool
    is_definite: bool


def _named_rows(text: str) -> dict[str, list[float]]:
    """Return lines of a name and numbers as a dictionary."""
    lines = [line.split() for line in text.strip().splitlines()]
    return {name: [float(word) for word in words] for name, *words in lines}


def _costs_by_method(
    methods: tuple[str, ...], text: str
) -> Mapping[str, Mapping[str, "Cost"]]:
    """Return lines of a data set and, for each method, mean, deviation and seconds."""
    return {
        name: {
            method: Cost(
                Spread(*words[4 * k : 4 * k + 2]), *words[4 * k + 2 : 4 * k + 4]
            )
            for k, method in enumerate(methods)
        }
        for name, words in _named_rows(text).items()
    }


TABLE2: Mapping[str, Statistics] = {
    name: Statistics(int(m), int(n), low, high)
    for name, (m, n, low, high) in _named_rows("""
    australian     14    690  -0.006  2212.5
    breast-cancer  10    699  -4.408  1593.3
    parkinsons     23    195   0.127  1200.4
    climate        20    540   0.174  1944.7
    diabetic       19   1151  -0.003  6133.1
    fertility       9    100  -0.042  164.98
    sonar          60    208   1.452  3024.6
    SPECT          21     80  -1.145  353.11
    haberman        3    306  -0.204  215.23
    heart          13    270  -0.084  695.16
    ionosphere     33    351   0.085  2489.7
    monks1          6    124  -2.094  94.077
    monks2          6    169  -2.535  131.14
    monks3          6    122  -1.764  95.376
    splice         60   1000  -1.325  2885.3
    transfusion     4    748  -0.336  818.74
    EEG            14  14980  -0.444  7312.0
    ijcnn1-tr      26  35000  -0.018  28945
    guide1-t        4   4000  -0.805  4116.7
    madelon       500   2000  14.825  27015
    """).items()
}
"""Table 2, data set to statistics."""

TABLE3_METHODS = (
    "KLR(RBF)",
    "Flip",
    "Clip",
    "Shift",
    "TDCASVM",
    "KSVM",
    "CCICP-GD",
    "CCICP-SGD",
)
"""Columns of Table 3."""

OURS = (
    "IKLR krein",
    "IKLR hilbert",
    "Clip exact",
    "Flip exact",
    "SVC raw",
    "SVM(RBF)",
    "KreinCV",
)
"""Columns that we add."""

TABLE3: Mapping[str, Mapping[str, Spread]] = {
    name: {
        method: Spread(*words[2 * k : 2 * k + 2])
        for k, method in enumerate(TABLE3_METHODS)
    }
    for name, words in _named_rows("""
    australian          .790 .021 .795 .059 .790 .078 .672 .085 .857 .013 .835 .018 .846 .027 .865 .007
    breast-cancer-683x9 .968 .004 .964 .012 .965 .007 .921 .039 .946 .008 .971 .008 .959 .014 .967 .008
    climate             .939 .012 .909 .047 .838 .036 .839 .061 .904 .031 .918 .011 .912 .013 .923 .018
    diabetic            .625 .007 .532 .016 .529 .012 .534 .016 .545 .024 .570 .020 .552 .034 .516 .065
    fertility           .852 .023 .896 .025 .888 .039 .884 .040 .880 .025 .873 .034 .780 .040 .860 .024
    haberman            .742 .040 .678 .039 .725 .037 .733 .023 .722 .031 .730 .034 .727 .035 .766 .020
    heart               .816 .044 .758 .076 .760 .035 .747 .059 .823 .031 .757 .043 .803 .046 .809 .023
    ionosphere          .907 .029 .891 .032 .900 .032 .841 .022 .903 .022 .899 .014 .901 .015 .915 .028
    monks1              .668 .052 .695 .075 .648 .070 .685 .063 .678 .021 .671 .035 .765 .065 .752 .041
    monks2              .662 .071 .611 .047 .593 .025 .489 .092 .743 .018 .626 .037 .669 .093 .617 .046
    monks3              .779 .073 .723 .090 .805 .021 .870 .036 .734 .045 .640 .083 .830 .072 .893 .031
    parkinsons         1.000 .000 .990 .010 .999 .003 .998 .007 1.000 .000 .945 .039 1.000 .000 1.000 .000
    sonar               .789 .022 .546 .045 .539 .042 .504 .054 .704 .024 .608 .072 .794 .060 .690 .121
    SPECT               .737 .092 .652 .026 .706 .022 .667 .034 .711 .024 .893 .024 .764 .059 .738 .076
    splice              .642 .093 .513 .017 .619 .057 .604 .033 .751 .075 .515 .029 .785 .050 .588 .047
    transfusion         .741 .048 .734 .095 .717 .020 .736 .038 .762 .015 .762 .006 .769 .023 .774 .009
    """).items()  # noqa: E501
}
"""Table 3, data set to method to accuracy."""

TABLE3_DATA = tuple(TABLE3)
"""The data sets of Table 3."""

TABLE4_METHODS = ("CCCP-GD", "CCICP-GD", "CCICP-SGD")
TABLE4_OURS = ("IKLR krein",)
TABLE4 = _costs_by_method(
    TABLE4_METHODS,
    """
    EEG        .769 .042 17171  .1237  .725 .042 848.89 .1304  .730 .080 8776.4 .1188
    guide1-t   .962 .003 1314.3 .0020  .955 .003 47.23  .0028  .947 .022 714.72 .0021
    ijcnn1-tr  .912 .002 51.22  .2215  .914 .003 14.65  .2273  .914 .006 28.23  .2258
    madelon    .624 .080 305.29 .0008  .609 .051 8.129  .0064  .601 .028 160.71 .0011
    """,
)
"""Table 4, data set to method to accuracy and seconds."""

TABLE4_DATA = tuple(TABLE4)
"""The data sets of Tables 4 and 7."""

TABLE1: Mapping[str, Metric] = {
    "Euclidean": Metric(False, True),
    "Log-Euclidean": Metric(True, True),
    "Affine-invariant": Metric(True, False),
}
"""Table 1, properties of metrics on covariance matrices."""

TABLE5: Mapping[str, Spread] = {
    "SVM(Log-E)": Spread(0.976, 0.005),
    "KLR(Log-E)": Spread(0.973, 0.003),
    "Flip": Spread(0.974, 0.002),
    "Clip": Spread(0.956, 0.029),
    "Shift": Spread(0.960, 0.016),
    "TDCASVM": Spread(0.977, 0.005),
    "KSVM": Spread(0.978, 0.003),
    "CCICP-GD": Spread(0.983, 0.008),
    "CCICP-SGD": Spread(0.978, 0.017),
}
"""Table 5, method to accuracy on the faces (printed in per cent)."""
TABLE5_DATA = ("yaleb",)
TABLE5_OURS = ("IKLR krein", "SVM(Log-E) regions", "KreinCV")
TABLE5_MU = (-160.28, 670.05)
"""Table 5, extreme eigenvalues of the affine-invariant kernel."""

TABLE6_DATA = ("monks1", "guide1-t")
TABLE6_METHODS = ("CCICP-GD", "CCICP-SGD")
TABLE6: Mapping[str, Mapping[tuple[str, str], Spread]] = {
    init: {
        ("CCICP-GD", "monks1"): Spread(monks1),
        ("CCICP-GD", "guide1-t"): Spread(guide1),
        ("CCICP-SGD", "monks1"): Spread(*words[:2]),
        ("CCICP-SGD", "guide1-t"): Spread(*words[2:]),
    }
    for init, (monks1, guide1, *words) in _named_rows("""
    zeros       .694 .925  .662 .050  .926 .003
    ones        .697 .925  .675 .037  .919 .016
    minus-ones  .694 .925  .661 .043  .923 .008
    uniform     .706 .927  .663 .054  .926 .049
    """).items()
}
"""Table 6, first coefficients to (method, data set) to accuracy."""
INITS = tuple(TABLE6)

TABLE7_METHODS = ("CCICP-SGD", "CCICP-SGD-I")
TABLE7 = _costs_by_method(
    TABLE7_METHODS,
    """
    EEG        .630 .042 8776.4 .1188  .590 .052 71.2754 .0235
    guide1-t   .947 .022 714.72 .0021  .876 .037 1.4146  .0023
    ijcnn1-tr  .914 .006 28.23  .2258  .912 .003 2.445   .2378
    madelon    .601 .028 160.71 .0011  .550 .065 2.543   .0025
    """,
)
"""Table 7, data set to method to accuracy and seconds."""

FIG2_DATA = ("monks1", "guide1-t")
FIG2_METHODS = ("CCICP-GD",)
FIG2_EPS = (0.0001, 0.001, 0.01, 0.1, 0.5, 1.0, 5.0)
"""Values of eps in Figure 2, whose numbers are drawn and not printed."""

FIG3_DATA = ("monks1", "ijcnn1-tr")
FIG3_METHODS = ("CCCP-GD", "CCICP-GD", "CCICP-SGD")
"""Curves of Figure 3, whose numbers are drawn and not printed."""
