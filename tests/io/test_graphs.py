"""TU folders: their content, and messages about bad ones."""

import numpy as np
import pytest

from kreinlearn.io import read_tu
from kreinlearn.kernels.graphs import check_graphs, wl_assignment

FILES = {
    "A": "1, 2\n2, 1\n3, 2\n2, 3\n5, 4\n4, 5\n",
    "graph_indicator": "1\n1\n1\n2\n2\n3\n",
    "graph_labels": "1\n-1\n1\n",
    "node_labels": "0\n1\n0\n2\n2\n7\n",
    "node_attributes": "0.5, 1\n1, 1\n2, 1e-3\n0, 0\n0, 0\n3, 3\n",
    "edge_labels": "anything",
}


@pytest.fixture
def folder(tmp_path):
    """Return a function that writes a folder, with some files in place of others."""

    def write(**changed):
        for name, text in (FILES | changed).items():
            if text is not None:
                (tmp_path / f"DS_{name}.txt").write_text(text)
        return tmp_path

    return write


def test_graphs_labels_and_attributes(folder):
    graphs, y = read_tu(folder())
    assert y.tolist() == [1, -1, 1] and y.dtype.kind == "i"
    assert [graph["n_nodes"] for graph in graphs] == [3, 2, 1]
    assert [g["edges"].tolist() for g in graphs] == [[[0, 1], [1, 2]], [[0, 1]], []]
    assert [g["labels"].tolist() for g in graphs] == [[0, 1, 0], [2, 2], [7]]
    assert graphs[0]["attributes"].tolist() == [[0.5, 1], [1, 1], [2, 1e-3]]
    assert check_graphs(graphs)[1] is graphs[1]  # they have the form that is used
    K = wl_assignment(graphs, normalize=False)
    assert K.diagonal().tolist() == [18, 12, 6]


def test_what_may_be_missing(folder):
    missing = dict.fromkeys(("graph_labels", "node_labels", "node_attributes"))
    graphs, y = read_tu(folder(**missing))
    assert y is None and len(graphs) == 3
    assert graphs[0]["labels"] is None and graphs[0]["attributes"] is None


def test_nodes_of_a_graph_may_be_apart(folder):
    graphs, _ = read_tu(
        folder(
            A="1, 3\n4, 2\n",
            graph_indicator="1\n2\n1\n2\n3\n1\n",
            node_labels="a\nb\nc\nd\ne\nf\n\n",
        )
    )
    assert [g["edges"].tolist() for g in graphs] == [[[0, 1]], [[0, 1]], []]
    assert ["".join(g["labels"]) for g in graphs] == ["acf", "bd", "e"]


def test_several_labels_are_one_of_text(folder):
    graphs, y = read_tu(
        folder(node_labels="0,1\n0, 1\n1,1\n1,1\n1,1\n1,1\n", graph_labels="a\nb\na")
    )
    assert graphs[0]["labels"].tolist() == ["0, 1", "0, 1", "1, 1"]
    assert y.tolist() == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"A": "1, 2\n2\n"}, "DS_A.txt, line 2: two whole numbers"),
        ({"A": "1, 2\n2, x\n"}, "DS_A.txt, line 2: two whole numbers"),
        ({"A": "1, 2\n\n2, 1\n"}, "DS_A.txt, line 2: the line is empty"),
        ({"A": "1, 2\n2, 9\n"}, "DS_A.txt, line 2: nodes are numbers from 1 to 6"),
        ({"A": "0, 1\n"}, "DS_A.txt, line 1: nodes are numbers from 1"),
        ({"A": "1, 2\n3, 4\n"}, "DS_A.txt, line 2: .* graphs 1 and 2"),
        ({"A": None}, "must hold one file of edges"),
        ({"graph_indicator": None}, "no file .*DS_graph_indicator.txt"),
        ({"graph_indicator": ""}, "DS_graph_indicator.txt is empty"),
        ({"graph_indicator": "1\n0\n"}, "indicator.txt, line 2: graphs are counted"),
        ({"graph_indicator": "1\n1.5\n"}, "indicator.txt, line 2: one whole number"),
        ({"graph_indicator": "1\n1\n1\n2\n2\n4\n"}, "line 6: .* graph 4, but"),
        ({"graph_indicator": "1\n1\n1\n3\n3\n3\n"}, "graph 2 has no nodes"),
        ({"graph_labels": "1\n?\n1\n"}, "graph_labels.txt, line 2: a label"),
        ({"graph_labels": "1\n1, 2\n1\n"}, "graph_labels.txt, line 2: a label"),
        ({"graph_labels": ""}, "graph_labels.txt is empty"),
        ({"node_labels": "0\n1\n"}, "node_labels.txt must have one line .* 6 nodes"),
        (
            {"node_attributes": "0, 1\n1\n" + 4 * "0, 1\n"},
            "node_attributes.txt, line 2: as many",
        ),
        (
            {"node_attributes": "0, 1\n1, nan\n" + 4 * "0, 1\n"},
            "attributes.txt, line 2: as many",
        ),
        (
            {"node_attributes": "0, 1\n1, inf\n" + 4 * "0, 1\n"},
            "attributes.txt, line 2: as many",
        ),
    ],
)
def test_bad_folders(folder, changed, words):
    with pytest.raises((ValueError, OSError), match=words):
        read_tu(folder(**changed))


def test_bad_places(folder, tmp_path):
    with pytest.raises(NotADirectoryError, match="is not a folder"):
        read_tu(tmp_path / "nothing")
    (folder() / "OTHER_A.txt").write_text("")
    with pytest.raises(FileNotFoundError, match="got DS_A.txt, OTHER_A.txt"):
        read_tu(tmp_path)
    own = tmp_path / f"{tmp_path.name}_A.txt"
    for name, text in FILES.items():
        (tmp_path / f"{tmp_path.name}_{name}.txt").write_text(text)
    assert own.is_file() and len(read_tu(tmp_path)[0]) == 3


def test_a_real_folder(data_home, tmp_path):
    """Files written from the arrays of a known set give the same graphs."""
    path = f"{data_home}/graphs/MUTAG.npz"
    try:
        data = np.load(path)
    except FileNotFoundError:
        pytest.skip(f"needs {path}")
    for name, key in (
        ("A", "A"),
        ("graph_indicator", "graph_indicator"),
        ("graph_labels", "y"),
        ("node_labels", "node_labels"),
    ):
        file = tmp_path / f"MUTAG_{name}.txt"
        np.savetxt(file, data[key], fmt="%d", delimiter=", ")
    graphs, y = read_tu(tmp_path)
    assert y.tolist() == data["y"].tolist() and len(graphs) == 188
    assert sum(graph["n_nodes"] for graph in graphs) == len(data["node_labels"])
    assert 2 * sum(len(graph["edges"]) for graph in graphs) == len(data["A"])
