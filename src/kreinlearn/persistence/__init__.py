"""Saved models: fitted estimators in a file, which runs no code when it is loaded.

A file is a zip archive as skops writes it (numbers as ``.npy``, the rest as JSON), with
one member more, ``kreinlearn.json``, that says which versions wrote it, and a digest of
all that the file holds. The digest tells accidents; whoever wants to deceive can make
another one, so a file is to be trusted no more than the place it came from.
"""

import hashlib
import io
import json
import os
import warnings
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from types import ModuleType
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile

import sklearn
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils.validation import check_is_fitted

from kreinlearn import _skops
from kreinlearn._files import check_free, replace
from kreinlearn._memory import check_bytes
from kreinlearn.persistence.contents import check_importable, parts, trusted_names

__all__ = ["load", "save", "stamp"]

FORMAT = 2
"""Raised by one whenever older versions could not read what is written, or would read
it without a check that it needs; files of format 1 have no digest."""
STAMP = "kreinlearn.json"
"""Member of the archive that tells our files from others."""
PACKAGES = ("kreinlearn", "scikit-learn", "numpy", "skops")
"""Those whose versions are written."""
CHUNK = 2**20
"""Bytes of a member that are read at once for its digest."""


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    notes: Mapping[str, Any] | None = None,
) -> None:
    """Write a fitted model to a file.

    Parameters
    ----------
    model : estimator
        Fitted: one of kreinlearn, or a pipeline or search around one.
    path : path-like
        The file; ``.krein`` is the usual ending.
    overwrite : bool, default=False
        Whether to replace a file that exists.
    notes : dict, default=None
        Anything to keep with the model that JSON can express.

    Raises
    ------
    ValueError
        If the model is not fitted (scikit-learn's ``NotFittedError``), or holds
        something that could not be loaded elsewhere, such as a lambda. What is written
        is loaded again first: there is no file that could not be.
    OSError
        If the file exists, or cannot be written, or holds something else afterwards.

    See Also
    --------
    kreinlearn.load : Reads the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kreinlearn
    >>> from kreinlearn.datasets import make_monks
    >>> X, y = make_monks(3)
    >>> model = kreinlearn.DCASVC(C=0.1).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kreinlearn.save(model, Path(folder) / "monks.krein")
    ...     same = kreinlearn.load(Path(folder) / "monks.krein")
    >>> bool((same.decision_function(X) == model.decision_function(X)).all())
    True
    """
    target = check_free(path, overwrite)
    if not hasattr(type(model), "fit"):
        raise TypeError(f"'model' must be a fitted estimator, got {model!r:.80}.")
    check_is_fitted(model)
    for value in parts(model):
        check_importable(value)
    try:
        noted = json.dumps({} if notes is None else dict(notes))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"'notes' must be a dict that JSON can express: {error}."
        ) from None

    content = io.BytesIO()
    try:
        _skops.dump(model, content, ZIP_DEFLATED)
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(
            f"This {type(model).__name__} holds something that cannot be saved: "
            f"{_first_line(error)}"
        ) from error
    versions = {name: version(name) for name in PACKAGES}
    stamped = {"format": FORMAT, **versions, "notes": json.loads(noted)}
    with ZipFile(content, "a", ZIP_DEFLATED) as members:
        stamped["digest"] = digest_of(members, stamped)
        members.writestr(STAMP, json.dumps(stamped, indent=2))
    _read_back(model, target, content)
    replace(target, content.getvalue())
    if target.is_file() and target.read_bytes() != content.getvalue():
        raise OSError(
            f"{target} does not hold what was written to it: save the model elsewhere."
        )


def load(path: str | os.PathLike[str], *, trusted: Iterable[str] = ()) -> Any:
    """Read a model from a file; nothing in the file is run.

    Parameters
    ----------
    path : path-like
        A file that `save` wrote.
    trusted : sequence of str, default=()
        Full names, such as "my_module.my_kernel", of types and functions that may be
        loaded, apart from those of kreinlearn and the estimators of scikit-learn. Their
        modules are imported, which runs what is in them: name only what you know.

    Returns
    -------
    estimator
        It predicts what the saved one did, to the last bit on the same machine.

    Raises
    ------
    ValueError
        If the file is damaged, was changed after it was saved, is of another kind, was
        written by a newer kreinlearn, or holds a type that is not trusted.
    MemoryError
        If what the file holds does not fit in memory.

    Warns
    -----
    UserWarning
        If another version of scikit-learn wrote the file.

    See Also
    --------
    kreinlearn.save : Writes the file.

    Examples
    --------
    >>> import kreinlearn
    >>> kreinlearn.load(kreinlearn.__file__)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: ... is not a model that kreinlearn.save wrote, or it is damaged ...
    """
    return load_stamped(path, trusted)[0]


def load_stamped(
    path: str | os.PathLike[str], trusted: Iterable[str] = ()
) -> tuple[Any, dict[str, Any]]:
    """Return the model in a file and its stamp; the file is opened once."""
    if isinstance(trusted, str):
        raise TypeError(f"'trusted' must be a list of names, got {trusted!r}.")
    allowed = list(trusted)
    with _open_model(path) as file:
        found = _read_stamp(path, file)
        _check_digest(path, file, found)
        if found["scikit-learn"] != sklearn.__version__:
            warnings.warn(
                f"{path} was written with scikit-learn {found['scikit-learn']}, and "
                f"this is {sklearn.__version__}: compare some predictions, or fit and "
                "save the model again.",
                stacklevel=3,
            )
        return _read_model(path, file, allowed), found


def stamp(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a file says of itself, without loading the model.

    Parameters
    ----------
    path : path-like
        A file that `save` wrote.

    Returns
    -------
    dict
        "format", versions by name of the package, "notes" and, since format 2,
        "digest".
    """
    with _open_model(path) as file:
        return _read_stamp(path, file)


def _open_model(path: str | os.PathLike[str]) -> BinaryIO:
    """Return the open file, or raise with one sentence."""
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise IsADirectoryError(f"{path} is a folder, not a saved model.") from None
    except OSError as error:
        raise type(error)(f"{path} could not be read: {error.strerror}.") from None


def _read_stamp(path: str | os.PathLike[str], file: BinaryIO) -> dict[str, Any]:
    """Return the stamp of a file that this version can read, or raise."""
    try:
        with ZipFile(file) as members:
            found = json.loads(members.read(STAMP))
            needed = sum(member.file_size for member in members.infolist())
        number = found["format"]
        complete = type(number) is int and isinstance(found["notes"], dict)
        if number == FORMAT:
            complete = complete and isinstance(found.get("digest"), str)
        if not complete or not all(isinstance(found[name], str) for name in PACKAGES):
            raise ValueError("its stamp is incomplete")
        if number < 1:
            raise ValueError(f"there is no format {number}")
    except Exception as error:
        raise ValueError(
            f"{path} is not a model that kreinlearn.save wrote, or it is damaged "
            f"({_first_line(error)})."
        ) from None
    if number > FORMAT:
        raise ValueError(
            f"{path} was written by the newer kreinlearn {found['kreinlearn']}, and "
            f"this is {version('kreinlearn')}: upgrade kreinlearn to load it."
        )
    check_bytes(needed, f"The model in {path} takes", "Load it where there are more.")
    return dict(found)


def digest_of(members: ZipFile, stamped: Mapping[str, Any]) -> str:
    """Return the digest of a stamp and of all other members of an archive."""
    entries = {name: stamped[name] for name in stamped if name != "digest"}
    digest = hashlib.sha256(json.dumps(entries, sort_keys=True).encode())
    for name in sorted(members.namelist()):
        if name == STAMP:
            continue
        digest.update(f"\n{name}\n{members.getinfo(name).file_size}\n".encode())
        with members.open(name) as member:
            while chunk := member.read(CHUNK):
                digest.update(chunk)
    return f"sha256:{digest.hexdigest()}"


def _check_digest(
    path: str | os.PathLike[str], file: BinaryIO, found: Mapping[str, Any]
) -> None:
    """Raise unless the file holds what its digest was made of, if it has one."""
    if "digest" not in found:  # format 1
        return
    try:
        with ZipFile(file) as members:
            digest = digest_of(members, found)
    except Exception as error:
        raise ValueError(f"{path} is damaged ({_first_line(error)}).") from None
    if digest != found["digest"]:
        raise ValueError(
            f"{path} was changed after it was saved, for its content does not match "
            "its digest: take another copy, or fit and save the model again."
        )


def _read_back(model: Any, path: os.PathLike[str], content: io.BytesIO) -> None:
    """Raise unless a file with this content would be loaded again."""
    try:
        _check_digest(path, content, _read_stamp(path, content))
        _read_model(
            path, content, _skops.find_untrusted_types(content, trusted_names())
        )
    except MemoryError:  # a model that is saved but not looked at is better than none
        return
    except Exception as error:
        raise ValueError(
            f"This {type(model).__name__} was not saved, for it could not be loaded "
            f"again: {_first_line(error)}."
        ) from error


def _read_model(
    path: str | os.PathLike[str], file: BinaryIO, trusted: list[str]
) -> Any:
    """Return the model, or raise before anything is made of a type not trusted."""
    from kreinlearn.estimators.loaded import check_loaded

    trusted = [*trusted_names(), *trusted]
    try:
        with warnings.catch_warnings():  # load has warned, once
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            model = _skops.load(file, trusted)
        if not hasattr(type(model), "fit"):
            raise ValueError(f"it holds no estimator but {type(model).__name__}")
        check_loaded(model)
        return model
    except _skops.UntrustedTypes as error:
        unknown = error.names
    except Exception as error:
        missing = isinstance(getattr(error, "obj", None), ModuleType)
        if missing or isinstance(error, ImportError):
            what = "needs what cannot be imported here"
        else:
            what = "is damaged"
        raise ValueError(f"{path} {what} ({_first_line(error)}).") from None
    more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
    raise ValueError(
        f"{path} holds {', '.join(unknown[:3])}{more}, not known to be harmless; if "
        f"you trust the file and know what these are, pass trusted={unknown[:3]!r}"
        f"{more} to kreinlearn.load."
    )


def _first_line(error: BaseException) -> str:
    """Return an error's first line without its stop, or else its name."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")
