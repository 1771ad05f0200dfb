"""Shape of a registry entry: stored tables, published files, and their layout."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Format:
    """How a published file is written.

    Parameters
    ----------
    kind : {"delimited", "arff", "libsvm"}, default="delimited"
        One sample per line in all three. A first line that holds no numbers, and the
        head of an arff file, are skipped.
    delimiter : str or None, default=","
        What separates the fields; None is any white space. Not used by libsvm.
    label : int or None, default=-1
        Position of the label among the fields; None if labels have their own file.
    drop : tuple of int, default=()
        Positions of further fields that are not features.
    positive, negative : str, default="1" and "0"
        How the labels +1 and -1 are written; numbers without sign or decimals.
    missing : str or None, default=None
        How a missing value is written; it is read as 0.
    """

    kind: Literal["delimited", "arff", "libsvm"] = "delimited"
    delimiter: str | None = ","
    label: int | None = -1
    drop: tuple[int, ...] = ()
    positive: str = "1"
    negative: str = "0"
    missing: str | None = None


@dataclass(frozen=True)
class Part:
    """What one stored table must hold, and the published files it is made from.

    Parameters
    ----------
    n_samples, n_positive : int
        Number of rows, and how many of them have the label +1.
    original : tuple of str
        Published file, followed by the file of its labels if they are separate.
    md5 : str, default=""
        Checksum of the published file, where its publisher gives one.
    sha256 : str, default=""
        Checksum of the *uncompressed* table, or an empty string if unknown. The
        compressed bytes depend on the library that packed them.
    """

    n_samples: int
    n_positive: int
    original: tuple[str, ...]
    md5: str = ""
    sha256: str = ""


@dataclass(frozen=True)
class Dataset:
    """One entry of the registry.

    Parameters
    ----------
    name : str
        Name in the paper.
    title : str
        Name at its public home.
    n_features : int
        Number of columns of the stored table.
    parts : mapping from str to Part
        Either ``"all"`` alone, or ``"train"`` and ``"test"``.
    layout : Format
        How the published file is written.
    home : str
        Address of the public home.
    archive : str, default=""
        Zip file below ``home``; empty if the files are published one by one.
    note : str, default=""
        What a user should know before comparing with the paper.
    paper_part : str, default="all"
        The part that the paper uses and ``NAME.csv.gz`` holds.
    stem : str, default=""
        File name of the parts, if it is not ``name``.
    """

    name: str
    title: str
    n_features: int
    parts: Mapping[str, Part]
    layout: Format
    home: str
    archive: str = ""
    note: str = ""
    paper_part: str = "all"
    stem: str = ""

    def table(self, part: str | None) -> Part:
        """Return what the table of a part must hold; None is the paper's part."""
        return self.parts[self.paper_part if part is None else part]

    def file(self, part: str | None) -> str:
        """Return the name of the stored file of a part."""
        if part is None or part == "all":
            return f"{self.name}.csv.gz"
        return f"{self.stem or self.name}.{part}.csv.gz"

    def keys(self) -> tuple[str | None, ...]:
        """Return the parts that are stored as files, the paper's first."""
        return (None, *(part for part in self.parts if part != "all"))

    @property
    def source(self) -> str:
        """Address of the published file or files."""
        if self.archive:
            return self.home + self.archive
        files = [name for table in self.parts.values() for name in table.original]
        return ", ".join(self.home + name for name in files)
