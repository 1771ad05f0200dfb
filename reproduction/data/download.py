"""Downloads from the public homes, converted to the stored format."""

import bz2
import errno
import gzip
import io
import os
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from reproduction.data import tables
from reproduction.data.entries import Dataset, Part
from reproduction.data.local import DATA_VARIABLE, folder, inspect_file
from reproduction.data.originals import parse
from reproduction.data.registry import info

TIMEOUT_SECONDS = 60
"""Seconds without an answer after which a server counts as out of reach."""

MAX_UNPACKED_BYTES = 2**28
"""Bytes of an original once it is unpacked; the largest takes a few percent of them."""
UNPACKING_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    KeyError,
    EOFError,
    OSError,
    ValueError,
)
"""Exceptions that unpacking a damaged file may raise."""

GZIP_LEVEL = 6
"""Level of the gzip command; level 9 saves four percent in five times the time."""


def fetch(
    name: str,
    data_home: str | os.PathLike[str] | None = None,
    *,
    base_url: str | None = None,
    registry: Mapping[str, Dataset] | None = None,
) -> tuple[Path, ...]:
    """Download a data set from its public home into the local data folder.

    Files that are already there and right are kept, and nothing is downloaded if all
    are. A file appears in the folder under its name only when it is complete and has
    the expected counts; a failed run does not change the folder.

    Parameters
    ----------
    name : str
        One of :func:`reproduction.data.names`.
    data_home : path-like, optional
        Folder to fill, created if need be. By default ``$KREINLEARN_DATA``; if that
        is not set, ``kreinlearn`` in the user's cache.
    base_url : str, optional
        Address of a mirror with the same paths as the public home.
    registry : mapping from str to Dataset, optional
        Another registry to look into.

    Returns
    -------
    tuple of Path
        The stored files of the data set: ``NAME.csv.gz`` and, if it is split,
        those of its parts.

    Raises
    ------
    ValueError
        If the name is unknown, or if the download is damaged, has another checksum
        than its publisher gives, or has other counts than expected.
    OSError
        If the home cannot be reached, refuses, breaks off, or the folder cannot be
        written.

    Warns
    -----
    UserWarning
        If the counts are right but some number differs from the table that this
        package was tested with; the publisher may have corrected the file.

    See Also
    --------
    load : Read what has been fetched.
    """
    entry = info(name, registry)
    home = folder(data_home)
    paths = {part: home / entry.file(part) for part in entry.keys()}
    wanted = [
        part for part in entry.keys() if inspect_file(entry, part, home)[0] != "ok"
    ]
    if not wanted:
        return tuple(paths.values())
    address = (base_url or entry.home).rstrip("/") + "/"
    is_new = not home.exists()
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=home) as scratch:
            # All parts are complete before the first one takes its name.
            source = _Source(entry, address, Path(scratch))
            packed: dict[Part, bytes] = {}
            for part in wanted:
                table = entry.table(part)
                if table not in packed:
                    packed[table] = _convert(entry, table, source)
                (source.scratch / paths[part].name).write_bytes(packed[table])
            for part in wanted:
                os.replace(source.scratch / paths[part].name, paths[part])
    except OSError as error:
        raise OSError(_explain_failure(entry, address, home, error)) from error
    finally:
        if is_new:  # succeeds only if nothing was stored
            with suppress(OSError):
                home.rmdir()
    return tuple(paths.values())


class _Source:
    """The published files of one data set, each downloaded once.

    Parameters
    ----------
    entry : Dataset
        What to download.
    address : str
        Address of the home or of a mirror, ending in a slash.
    scratch : Path
        Folder for the downloads.
    """

    def __init__(self, entry: Dataset, address: str, scratch: Path) -> None:
        self.entry = entry
        self.address = address
        self.scratch = scratch
        self.contents: dict[str, bytes] = {}

    def text(self, file: str, md5: str) -> str:
        """Return the text of a published file."""
        archive = self.entry.archive
        content = self._download(archive or file, "" if archive else md5)
        try:
            if archive:
                content = _unzip_file(content, file)
            elif file.endswith(".bz2"):
                unpack = bz2.BZ2Decompressor()
                content = unpack.decompress(content, MAX_UNPACKED_BYTES)
                if not unpack.eof:
                    raise EOFError
        except UNPACKING_ERRORS as error:
            raise self.make_error(f"{archive or file} cannot be unpacked") from error
        return content.decode("utf-8", errors="replace")

    def make_error(self, what: str) -> ValueError:
        """Return the error for a damaged or changed download."""
        return ValueError(
            f"The download of {self.entry.name!r} from {self.address} is damaged or "
            f"has changed: {what}; try again later, or put "
            f"{self.entry.file(None)} into the data folder by hand."
        )

    def _download(self, file: str, md5: str) -> bytes:
        if file not in self.contents:
            # The downloader of pooch is called directly: its caching front end would
            # print log lines, and keep the originals. Without streaming, since a
            # streamed answer is not closed after an error; the files are small.
            try:
                import pooch
            except ImportError:
                raise ImportError(
                    "Downloads need the package pooch: python -m pip install -e "
                    "'.[reproduction]'."
                ) from None

            path = self.scratch / "original"
            get = pooch.HTTPDownloader(timeout=TIMEOUT_SECONDS, stream=False)
            get(self.address + file, str(path), None)
            found = pooch.file_hash(str(path), alg="md5")
            if md5 and found != md5:
                raise self.make_error(f"expected md5 {md5} for {file}, got {found}")
            self.contents[file] = path.read_bytes()
        return self.contents[file]


def _unzip_file(archive: bytes, file: str) -> bytes:
    """Return a file of a zip archive, in whichever of its folders it is."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        for inside in opened.namelist():
            if PurePosixPath(inside).name.lower() == file.lower():
                if opened.getinfo(inside).file_size > MAX_UNPACKED_BYTES:
                    raise ValueError(f"more than {MAX_UNPACKED_BYTES:,} bytes")
                return opened.read(inside)
    raise KeyError(file)


def _convert(entry: Dataset, table: Part, source: _Source) -> bytes:
    """Return one table in the stored format."""
    texts = [source.text(file, table.md5) for file in table.original]
    try:
        X, y = parse(texts[0], entry.layout, entry.n_features, *texts[1:])
    except ValueError as error:
        raise source.make_error(f"{table.original[0]}, {error}") from error
    difference = tables.describe_mismatch(X, y, table, entry.n_features)
    if difference:
        raise source.make_error(f"{table.original[0]}, {difference}")
    text = tables.to_text(X, y)
    if table.sha256 and tables.digest(text) != table.sha256:
        warnings.warn(
            f"The numbers of {entry.name!r} in {table.original[0]} differ from those "
            "this package was tested with (the counts agree); `python -m reproduction "
            "data check` will report 'wrong checksum'.",
            stacklevel=3,
        )
    return gzip.compress(text, GZIP_LEVEL, mtime=0)


def _explain_failure(entry: Dataset, address: str, home: Path, error: OSError) -> str:
    """Return what went wrong and what to do, in one sentence."""
    # Errors of the network, from the requests library, carry no errno.
    if error.errno is None:
        status = getattr(getattr(error, "response", None), "status_code", None)
        kind = type(error).__name__
        if status is not None:
            reason = f"the server answered with HTTP status {status}"
        elif "Timeout" in kind:
            reason = f"no answer within {TIMEOUT_SECONDS} seconds"
        elif kind == "ChunkedEncodingError":
            reason = "the transfer broke off before its end"
        else:
            reason = f"no connection, {kind}"
        return (
            f"{entry.name!r} could not be downloaded from {address} ({reason}); check "
            f"the connection, try again later, or put {entry.file(None)} into {home} "
            "by hand."
        )
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    remedy = "free some space" if is_full else "make the folder writable"
    return (
        f"{entry.name!r} could not be stored in {home} ({error.strerror}); {remedy}, "
        f"or set {DATA_VARIABLE} to another folder."
    )
