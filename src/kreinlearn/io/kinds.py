"""What a file holds: by the ending of its name, by its content, or as it is said."""

import os
from pathlib import Path
from typing import Literal, get_args

from kreinlearn._files import check_regular
from kreinlearn._validation import check_choice
from kreinlearn.io.fasta import FASTA
from kreinlearn.io.graphs import EDGES
from kreinlearn.io.headers import AS_SEEN, Marks
from kreinlearn.io.named import is_named_square
from kreinlearn.io.table import SampleKind

Matrices = Literal["table", "matrix", "pairs", "blast", "phylip", "condensed"]
Samples = Literal["fasta", "ts", "ucr", "tu"]
Format = Matrices | Samples
FORMATS: tuple[Format, ...] = (*get_args(Matrices), *get_args(Samples))
"""What can be said of a file. LIBSVM text and Parquet are tables."""
SPARSE = (".libsvm", ".svm", ".svmlight")
GRAMS = (".npz", ".npy")
SPOKEN: dict[str, Format] = {
    ".m8": "blast",
    ".phylip": "phylip",
    ".phy": "phylip",
    ".ts": "ts",
}
SPOKEN |= dict.fromkeys(FASTA, "fasta")
"""Endings that stand for one format of text that is no table."""
SAMPLES: dict[Format, SampleKind] = {
    "fasta": "sequences",
    "ts": "series",
    "ucr": "series",
    "tu": "graphs",
}
"""Formats of samples that are no rows of a table, and what they hold."""
COMPRESSED = (".csv", ".tsv", *SPARSE, *SPOKEN)
"""Endings that may be followed by .gz."""
TABLES = (".csv", ".tsv", ".parquet", *SPARSE)


def kind_of(
    path: str | os.PathLike[str],
    said: str | None = None,
    *,
    header: bool | None = None,
    target: str | None = None,
    marks: Marks = AS_SEEN,
) -> tuple[Path, Format, str]:
    """Return where a file is, what it holds, and the ending of its name.

    A table in csv or tsv is a matrix if its first line and its first column hold the
    same names, which nobody has to be asked about; a list of pairs looks like a table
    with three columns and has to be called one, and so have lines of the UCR archive.
    A folder holds graphs.

    Parameters
    ----------
    path : path-like
        The file.
    said : str, optional
        What it is said to hold; one of `FORMATS`.
    header : bool, optional
        Whether the first line is said to hold names.
    target : str, optional
        The column of labels, if one was named: matrices have none.
    marks : Marks
        What separates cells and decimals, if that was said.

    Returns
    -------
    place : Path
        The file, which exists.
    kind : str
        One of `FORMATS`; "matrix" for npz and npy, unless "condensed" was said.
    ending : str
        Such as ".csv", without .gz.
    """
    if (place := Path(path)).is_dir() and said in (None, "tu"):
        check_folder(place)
        return place, "tu", ""
    place, ending, is_compressed = located(path)
    if said is not None and (said != "table" or ending in GRAMS):
        return place, _agreed(path, said, ending), ending
    if said is None and ending in SPOKEN:
        return place, SPOKEN[ending], ending
    if said is None and ending in GRAMS and not is_compressed:
        return place, "matrix", ending
    if ending not in TABLES or (is_compressed and ending not in COMPRESSED):
        raise ValueError(
            f"The name of {path} must end with .csv, .tsv, .libsvm, .svm, .svmlight, "
            ".m8, .phylip, .fasta or .ts (each also with .gz), .parquet, .npz or .npy, "
            "to tell what is in it; or say what it is by format (--format on the "
            "command line)."
        )
    is_open = said is None and target is None and header is not False
    if is_open and ending in (".csv", ".tsv") and is_named_square(place, marks):
        return place, "matrix", ending
    return place, "table", ending


def check_marks(
    path: str | os.PathLike[str], kind: Format, ending: str, marks: Marks
) -> None:
    """Raise if marks were named for what is no text in cells.

    Parameters
    ----------
    path : path-like
        The file, for the message.
    kind, ending : str
        As `kind_of` returns them.
    marks : Marks
        What was said.
    """
    in_cells = kind in ("table", "matrix", "pairs")
    if marks != AS_SEEN and (not in_cells or ending in (*GRAMS, *SPARSE, ".parquet")):
        raise ValueError(
            f"{path} is no text with cells in columns, as csv and tsv are: leave out "
            "--sep and --decimal."
        )


def _agreed(path: str | os.PathLike[str], said: str, ending: str) -> Format:
    """Return what a file is said to hold, or raise if its name contradicts."""
    check_choice("format", said, FORMATS)
    allowed: tuple[Format, ...] = ("matrix", "pairs", "blast", "phylip")
    allowed += ("fasta", "ts", "ucr")
    if ending in GRAMS:
        allowed = ("matrix", "condensed")
    elif ending in (".parquet", *SPARSE):
        allowed = ("table",)
    for kind in allowed:
        if kind == said:
            return kind
    if said == "tu":
        raise NotADirectoryError(
            f"{path} is a file, and the format tu is a folder with files such as "
            "MUTAG_A.txt; give the folder."
        )
    raise ValueError(
        f"The format of {path} must be {' or '.join(allowed)}, as its name ends with "
        f"{ending or 'nothing that we know'}, got {said}; rename the file, or say "
        "another format."
    )


def located(path: str | os.PathLike[str]) -> tuple[Path, str, bool]:
    """Return the path of a file that exists, its ending, and whether .gz follows."""
    place = Path(path)
    if place.is_dir():
        raise IsADirectoryError(f"{path} is a folder; a file with data was expected.")
    if not place.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    check_regular(path)
    endings = [ending.lower() for ending in place.suffixes]
    is_compressed = endings[-1:] == [".gz"]
    ending = "".join(endings[-2:-1] if is_compressed else endings[-1:])
    return place, ending, is_compressed


def check_folder(place: Path) -> None:
    """Raise unless a folder looks like one of graphs."""
    if not any(place.glob(f"*{EDGES}")):
        raise IsADirectoryError(
            f"{place} is a folder without a file of edges such as MUTAG_A.txt; a file "
            "with data, or a folder of graphs of the TU collection, was expected."
        )
