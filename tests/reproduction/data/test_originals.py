"""Parsers against published lines, typed by hand."""

import numpy as np
import pytest

from reproduction.data import info
from reproduction.data.entries import Format
from reproduction.data.originals import parse

# Name: lines of the published file, number of features, first row, all labels.
PUBLISHED = {
    "australian": (
        "1 22.08 11.46 2 4 4 1.585 0 0 0 1 2 100 1213 0\n"
        "1 29.58 1.75 1 4 4 1.25 0 0 0 1 2 280 1 1\n",
        [1, 22.08, 11.46, 2, 4, 4, 1.585, 0, 0, 0, 1, 2, 100, 1213],
        [-1, 1],
    ),
    "breast-cancer": (
        "1057013,8,4,5,1,2,?,7,3,1,4\n1000025,5,1,1,1,2,1,3,1,1,2\n",
        [1057013, 8, 4, 5, 1, 2, 0, 7, 3, 1],
        [1, -1],
    ),
    "parkinsons": (
        "name,MDVP:F0(Hz),MDVP:Fhi(Hz),MDVP:Flo(Hz),MDVP:Jitter(%),MDVP:Jitter(Abs),"
        "MDVP:RAP,MDVP:PPQ,Jitter:DDP,MDVP:Shimmer,MDVP:Shimmer(dB),Shimmer:APQ3,"
        "Shimmer:APQ5,MDVP:APQ,Shimmer:DDA,NHR,HNR,status,RPDE,DFA,spread1,spread2,"
        "D2,PPE\r\n"
        "phon_R01_S01_1,119.99200,157.30200,74.99700,0.00784,0.00007,0.00370,0.00554,"
        "0.01109,0.04374,0.42600,0.02182,0.03130,0.02971,0.06545,0.02211,21.03300,1,"
        "0.414783,0.815285,-4.813031,0.266482,2.301442,0.284654\r\n",
        [119.992, 157.302, 74.997, 0.00784, 7e-05, 0.0037, 0.00554, 0.01109, 0.04374,
         0.426, 0.02182, 0.0313, 0.02971, 0.06545, 0.02211, 21.033,
         0.414783, 0.815285, -4.813031, 0.266482, 2.301442, 0.284654],
        [1],
    ),
    "climate": (
        "Study Run " + " ".join(f"parameter_{i}" for i in range(18)) + " outcome\n"
        "    1        2     " + "   0.25 " * 18 + "   0\n",
        [1, 2] + [0.25] * 18,
        [-1],
    ),
    "diabetic": (
        "@relation 'DR'\n@attribute 0 {0, 1}\n@attribute Class {0,1}\n\n@data\n"
        "1,1,22,22,22,19,18,14,49.895756,17.775994,5.27092,0.771761,0.018632,0.006864,"
        "0.003923,0.003923,0.486903,0.100025,1,0\n",
        [1, 1, 22, 22, 22, 19, 18, 14, 49.895756, 17.775994, 5.27092, 0.771761,
         0.018632, 0.006864, 0.003923, 0.003923, 0.486903, 0.100025, 1],
        [-1],
    ),
    "fertility": (
        "-0.33,0.69,0,1,1,0,0.8,0,0.88,N\n-0.33,0.94,1,0,1,0,0.8,1,0.31,O\n",
        [-0.33, 0.69, 0, 1, 1, 0, 0.8, 0, 0.88],
        [-1, 1],
    ),
    "sonar": ("0.0200," * 60 + "R\n" + "0.5," * 60 + "M\n", [0.02] * 60, [-1, 1]),
    "SPECT": (
        "1,0,0,0,1,0,0,0,1,1,0,0,0,1,1,0,0,0,0,0,0,0,0\n",
        [0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0],
        [1],
    ),
    "haberman": ("30,64,1,1\n34,59,0,2\n", [30, 64, 1], [-1, 1]),
    "heart": (
        "70.0 1.0 4.0 130.0 322.0 0.0 2.0 109.0 0.0 2.4 2.0 3.0 3.0 2\n",
        [70, 1, 4, 130, 322, 0, 2, 109, 0, 2.4, 2, 3, 3],
        [1],
    ),
    "ionosphere": ("1,0," + "0.99539," * 32 + "g\n", [1] + [0.99539] * 32, [1]),
    "monks1": (
        " 1 1 1 1 1 3 1 data_5\n 0 1 2 1 1 2 1 data_51\n\n",
        [1, 1, 1, 1, 3, 1],
        [1, -1],
    ),
    "splice": (
        "-1 " + " ".join(f"{i}:{1 + i % 4}" for i in range(1, 61)) + " \n",
        [1 + i % 4 for i in range(1, 61)],
        [-1],
    ),
    "transfusion": (
        "Recency (months),Frequency (times),Monetary (c.c. blood),Time (months),"
        '"whether he/she donated blood in March 2007"\n2 ,50,12500,98 ,1\n',
        [2, 50, 12500, 98],
        [1],
    ),
    "EEG": (
        "@RELATION EEG_DATA\n\n@ATTRIBUTE AF3 NUMERIC\n@ATTRIBUTE eyeDetection {0,1}\n"
        "\n@DATA\n% a comment\n" + "4329.23," * 14 + "0\n",
        [4329.23] * 14,
        [-1],
    ),
    "ijcnn1-tr": (
        "-1 6:1 11:-0.731854 12:0.173431 14:0.00027 22:-0.00081\n+1 7:1\n",
        [0] * 5 + [1] + [0] * 4 + [-0.731854, 0.173431, 0, 0.00027] + [0] * 7
        + [-0.00081],
        [-1, 1],
    ),
    "guide1-t": (
        "1 1:2.617300e+01 2:5.886700e+01 3:-1.894697e-01 4:1.251225e+02\n"
        "0 1:4.236298e+00\n",
        [26.173, 58.867, -0.1894697, 125.1225],
        [1, -1],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_lines(name):
    text, first, labels = PUBLISHED[name]
    entry = info(name)
    X, y = parse(text, entry.layout, entry.n_features)
    np.testing.assert_array_equal(X[0], first)
    np.testing.assert_array_equal(y, labels)


def test_labels_in_a_second_file():
    entry = info("madelon")
    X, y = parse("485 " * 500 + "\n" + "7 " * 500, entry.layout, 500, "-1\n1\n")
    np.testing.assert_array_equal(X, [[485] * 500, [7] * 500])
    np.testing.assert_array_equal(y, [-1, 1])


@pytest.mark.parametrize(
    ("text", "layout", "message"),
    [
        ("", Format(), "no samples"),
        ("a,b,c\n", Format(), "no samples"),
        ("a,b,c\nd,e,f\n", Format(), "line 2: could not convert"),
        ("1,2,1\n1,1\n", Format(), "line 2: expected 3 fields, got 2"),
        ("1,2,1\n\n1,x,1\n", Format(), "line 3: could not convert"),
        ("1,2,5\n", Format(), "expected the label '1' or '0', got '5'"),
        ("1,nan,1\n", Format(), "not finite"),
        ("1,?,1\n", Format(), "line 1"),
        ("@attribute a\n1,2,1\n", Format(kind="arff"), "no samples"),
        ("1 3:5\n", Format(kind="libsvm"), "index 1 to 2, got '3:5'"),
        ("1 0:5\n", Format(kind="libsvm"), "line 1.*got '0:5'"),
        ("1 5\n", Format(kind="libsvm"), "line 1.*got '5'"),
        ("<html>\n", Format(kind="libsvm"), "label '1' or '0', got '<html>'"),
        ("1 2\n", Format(delimiter=None, label=None), "1 samples but 2 labels"),
    ],
)
def test_other_text_is_refused(text, layout, message):
    labels = "1 1" if layout.label is None else None
    with pytest.raises(ValueError, match=message):
        parse(text, layout, 2, labels)
