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


def _rows(text: str) -> dict[str, list[float]]:
    """Return lines of a name and numbers as a dictionary."""
    lines = [line.split() for line in text.strip().splitlines()]
    return {name: [float(word) for word in words] for name, *words in lines}


TABLE2: Mapping[str, Statistics] = {
    name: Statistics(int(m), int(n), low, high)
    for name, (m, n, low, high) in _rows("""
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

LARGE = ("EEG", "guide1-t", "ijcnn1-tr", "madelon")
"""The data sets of Tables 4 and 7."""

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
"""Columns that we put beside them."""

TABLE3: Mapping[str, Mapping[str, Spread]] = {
    name: {
        method: Spread(mean, std)
        for method, mean, std in zip(
            TABLE3_METHODS, words[::2], words[1::2], strict=True
        )
    }
    for name, words in _rows("""
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

SMALL = tuple(TABLE3)
"""The data sets of Table 3."""

TABLE4: Mapping[str, Mapping[str, Cost]] = {
    "EEG": {
        "CCCP-GD": Cost(Spread(0.769, 0.042), 17171.0, 0.1237),
        "CCICP-GD": Cost(Spread(0.725, 0.042), 848.89, 0.1304),
        "CCICP-SGD": Cost(Spread(0.730, 0.080), 8776.4, 0.1188),
    },
    "guide1-t": {
        "CCCP-GD": Cost(Spread(0.962, 0.003), 1314.3, 0.0020),
        "CCICP-GD": Cost(Spread(0.955, 0.003), 47.23, 0.0028),
        "CCICP-SGD": Cost(Spread(0.947, 0.022), 714.72, 0.0021),
    },
    "ijcnn1-tr": {
        "CCCP-GD": Cost(Spread(0.912, 0.002), 51.22, 0.2215),
        "CCICP-GD": Cost(Spread(0.914, 0.003), 14.65, 0.2273),
        "CCICP-SGD": Cost(Spread(0.914, 0.006), 28.23, 0.2258),
    },
    "madelon": {
        "CCCP-GD": Cost(Spread(0.624, 0.080), 305.29, 0.0008),
        "CCICP-GD": Cost(Spread(0.609, 0.051), 8.129, 0.0064),
        "CCICP-SGD": Cost(Spread(0.601, 0.028), 160.71, 0.0011),
    },
}
"""Table 4, data set to method to accuracy and seconds."""

TABLE4_METHODS = ("CCCP-GD", "CCICP-GD", "CCICP-SGD")
TABLE4_OURS = ("IKLR krein",)

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
INITS = ("zeros", "ones", "minus-ones", "uniform")
TABLE6: Mapping[str, Mapping[tuple[str, str], Spread]] = {
    "zeros": {
        ("CCICP-GD", "monks1"): Spread(0.694),
        ("CCICP-GD", "guide1-t"): Spread(0.925),
        ("CCICP-SGD", "monks1"): Spread(0.662, 0.050),
        ("CCICP-SGD", "guide1-t"): Spread(0.926, 0.003),
    },
    "ones": {
        ("CCICP-GD", "monks1"): Spread(0.697),
        ("CCICP-GD", "guide1-t"): Spread(0.925),
        ("CCICP-SGD", "monks1"): Spread(0.675, 0.037),
        ("CCICP-SGD", "guide1-t"): Spread(0.919, 0.016),
    },
    "minus-ones": {
        ("CCICP-GD", "monks1"): Spread(0.694),
        ("CCICP-GD", "guide1-t"): Spread(0.925),
        ("CCICP-SGD", "monks1"): Spread(0.661, 0.043),
        ("CCICP-SGD", "guide1-t"): Spread(0.923, 0.008),
    },
    "uniform": {
        ("CCICP-GD", "monks1"): Spread(0.706),
        ("CCICP-GD", "guide1-t"): Spread(0.927),
        ("CCICP-SGD", "monks1"): Spread(0.663, 0.054),
        ("CCICP-SGD", "guide1-t"): Spread(0.926, 0.049),
    },
}
"""Table 6, first coefficients to (method, data set) to accuracy."""

TABLE7_METHODS = ("CCICP-SGD", "CCICP-SGD-I")
TABLE7: Mapping[str, Mapping[str, Cost]] = {
    "EEG": {
        "CCICP-SGD": Cost(Spread(0.630, 0.042), 8776.4, 0.1188),
        "CCICP-SGD-I": Cost(Spread(0.590, 0.052), 71.2754, 0.0235),
    },
    "guide1-t": {
        "CCICP-SGD": Cost(Spread(0.947, 0.022), 714.72, 0.0021),
        "CCICP-SGD-I": Cost(Spread(0.876, 0.037), 1.4146, 0.0023),
    },
    "ijcnn1-tr": {
        "CCICP-SGD": Cost(Spread(0.914, 0.006), 28.23, 0.2258),
        "CCICP-SGD-I": Cost(Spread(0.912, 0.003), 2.445, 0.2378),
    },
    "madelon": {
        "CCICP-SGD": Cost(Spread(0.601, 0.028), 160.71, 0.0011),
        "CCICP-SGD-I": Cost(Spread(0.550, 0.065), 2.543, 0.0025),
    },
}
"""Table 7, data set to method to accuracy and seconds."""

FIG2_DATA = ("monks1", "guide1-t")
FIG2_METHODS = ("CCICP-GD",)
FIG2_EPS = (0.0001, 0.001, 0.01, 0.1, 0.5, 1.0, 5.0)
"""Values of eps in Figure 2, whose numbers are drawn and not printed."""

FIG3_DATA = ("monks1", "ijcnn1-tr")
FIG3_METHODS = ("CCCP-GD", "CCICP-GD", "CCICP-SGD")
"""Curves of Figure 3, whose numbers are drawn and not printed."""
