"""Saved models: fitted estimators in a file. Loading a file runs no code from it.

A file is a zip archive in the format of skops (numbers as ``.npy``, the rest as JSON)
with one more member, ``kreinlearn.json``: the versions that wrote it, notes, and a
digest of the content. The digest detects accidents. Anyone who can modify the file can
recompute the digest, so trust a file no more than its source.
"""

import hashlib
import inspect
import io
import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from importlib.metadata import version
from numbers import Real
from types import ModuleType
from typing import Any, BinaryIO, TypeAlias
from zipfile import ZIP_DEFLATED, ZipFile

import sklearn
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils.validation import check_is_fitted

from kreinlearn import _skops
from kreinlearn._files import PathName, check_free, first_line, replace
from kreinlearn._memory import check_bytes

__all__ = ["load", "save", "stamp"]

Model: TypeAlias = Any
"""An estimator, a pipeline or a search; scikit-learn has no types."""
Stamp: TypeAlias = dict[str, Any]
"""Format, versions by name of the package, notes and digest."""
FORMAT_VERSION = 2
"""Raised by one if older versions could not read new files, or would skip a check that
they need; files of format 1 have no digest."""
STAMP_MEMBER = "kreinlearn.json"
"""Member of the archive that identifies our files."""
STAMPED_PACKAGES = ("kreinlearn", "scikit-learn", "numpy", "skops")
"""Packages whose versions are written."""
MODEL_ENDING = ".krein"
MODEL_FIRST = " The model comes first in `krein predict MODEL DATA`."
"""Hint for files that are not named as models are."""
DIGEST_CHUNK = 2**20
"""Bytes of a member that are read at once for its digest."""
TRUSTED_SETTINGS = (
    "numpy.dtype",
    "sklearn.compose._column_transformer._RemainderColsList",  # before 1.8
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.metrics._scorer._MultimetricScorer",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.metrics._scorer._Scorer",
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
)
"""Types that searches and transformers of scikit-learn hold besides estimators."""


def save(
    model: Model,
    path: PathName,
    *,
    overwrite: bool = False,
    notes: Mapping[str, object] | None = None,
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
        something that could not be loaded elsewhere, such as a lambda. The content is
        loaded once before the file is written.
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
    for value in _list_parameters(model):
        _check_importable(value)
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
            f"{first_line(error)}"
        ) from error
    versions = {name: version(name) for name in STAMPED_PACKAGES}
    stamped = {"format": FORMAT_VERSION, **versions, "notes": json.loads(noted)}
    with ZipFile(content, "a", ZIP_DEFLATED) as members:
        stamped["digest"] = compute_digest(members, stamped)
        members.writestr(STAMP_MEMBER, json.dumps(stamped, indent=2))
    _read_back(model, target, content)
    replace(target, content.getvalue())
    if target.is_file() and target.read_bytes() != content.getvalue():
        raise OSError(
            f"{target} does not hold what was written to it: save the model elsewhere."
        )


def load(path: PathName, *, trusted: Iterable[str] = ()) -> Model:
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


def load_stamped(path: PathName, trusted: Iterable[str] = ()) -> tuple[Model, Stamp]:
    """Return the model in a file and its stamp; the file is opened once."""
    if isinstance(trusted, str):
        raise TypeError(f"'trusted' must be a list of names, got {trusted!r}.")
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
        return _read_model(path, file, trusted), found


def stamp(path: PathName) -> Stamp:
    """Return the stamp of a file, without loading the model.

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


def _open_model(path: PathName) -> BinaryIO:
    """Return the open file, or raise."""
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise IsADirectoryError(f"{path} is a folder, not a saved model.") from None
    except OSError as error:
        raise type(error)(f"{path} could not be read: {error.strerror}.") from None


def _read_stamp(path: PathName, file: BinaryIO) -> Stamp:
    """Return the stamp of a file that this version can read, or raise."""
    try:
        with ZipFile(file) as members:
            found = json.loads(members.read(STAMP_MEMBER))
            needed = sum(member.file_size for member in members.infolist())
        number = found["format"]
        texts = [found[name] for name in STAMPED_PACKAGES]
        texts += [found.get("digest")] if number == FORMAT_VERSION else []
        is_complete = type(number) is int and isinstance(found["notes"], dict)
        if not is_complete or not all(isinstance(each, str) for each in texts):
            raise ValueError("its stamp is incomplete")
        if number < 1:
            raise ValueError(f"there is no format {number}")
    except Exception as error:
        is_other = not os.fspath(path).endswith(MODEL_ENDING)
        raise ValueError(
            f"{path} is not a model that kreinlearn.save wrote, or it is damaged "
            f"({first_line(error)}).{MODEL_FIRST * is_other}"
        ) from None
    if number > FORMAT_VERSION:
        raise ValueError(
            f"{path} was written by the newer kreinlearn {found['kreinlearn']}, and "
            f"this is {version('kreinlearn')}: upgrade kreinlearn to load it."
        )
    check_bytes(needed, f"The model in {path} takes", "Load it where there are more.")
    return dict(found)


def compute_digest(members: ZipFile, stamped: Mapping[str, object]) -> str:
    """Return the digest of a stamp and of all other members of an archive."""
    entries = {name: stamped[name] for name in stamped if name != "digest"}
    digest = hashlib.sha256(json.dumps(entries, sort_keys=True).encode())
    for name in sorted(members.namelist()):
        if name == STAMP_MEMBER:
            continue
        digest.update(f"\n{name}\n{members.getinfo(name).file_size}\n".encode())
        with members.open(name) as member:
            while chunk := member.read(DIGEST_CHUNK):
                digest.update(chunk)
    return f"sha256:{digest.hexdigest()}"


def _check_digest(path: PathName, file: BinaryIO, found: Mapping[str, object]) -> None:
    """Raise unless the content of the file matches its digest, if it has one."""
    if "digest" not in found:  # format 1
        return
    try:
        with ZipFile(file) as members:
            digest = compute_digest(members, found)
    except Exception as error:
        raise ValueError(f"{path} is damaged ({first_line(error)}).") from None
    if digest != found["digest"]:
        raise ValueError(
            f"{path} was changed after it was saved, for its content does not match "
            "its digest: take another copy, or fit and save the model again."
        )


def _read_back(model: Model, path: os.PathLike[str], content: io.BytesIO) -> None:
    """Raise unless a file with this content would be loaded again."""
    try:
        _check_digest(path, content, _read_stamp(path, content))
        _read_model(path, content, _skops.find_untrusted_types(content, list_trusted()))
    except MemoryError:  # an unchecked file is better than none
        return
    except Exception as error:
        raise ValueError(
            f"This {type(model).__name__} was not saved, for it could not be loaded "
            f"again: {first_line(error)}."
        ) from error


def _read_model(path: PathName, file: BinaryIO, trusted: Iterable[str]) -> Model:
    """Return the model, or raise before an object of an untrusted type is created."""
    try:
        with warnings.catch_warnings():  # load has warned, once
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            model = _skops.load(file, [*list_trusted(), *trusted])
        if not hasattr(type(model), "fit"):
            raise ValueError(f"it holds a {type(model).__name__}, not an estimator")
        return model
    except _skops.UntrustedTypes as error:
        unknown = error.args[0]
    except Exception as error:
        is_missing = isinstance(getattr(error, "obj", None), ModuleType)
        is_missing |= isinstance(error, ImportError)
        what = "needs what cannot be imported here" if is_missing else "is damaged"
        raise ValueError(f"{path} {what} ({first_line(error)}).") from None
    more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
    raise ValueError(
        f"{path} holds {', '.join(unknown[:3])}{more}, not known to be harmless; if "
        f"you trust the file and know what these are, pass trusted={unknown[:3]!r}"
        f"{more} to kreinlearn.load."
    )


def _list_parameters(value: object) -> Iterator[object]:
    """Yield every parameter of a model, nested ones too."""
    yield value
    if isinstance(value, Mapping):
        inside: Iterable[object] = value.values()
        for key in value:
            # JSON has string keys only, and bool("False") is True.
            if isinstance(key, bool) or not isinstance(key, str | Real):
                raise ValueError(
                    "A saved model's dicts, such as class_weight, must have keys that "
                    f"are strings or numbers, got {key!r} of type "
                    f"{type(key).__name__}; use such labels, or 'balanced'."
                )
    elif isinstance(value, list | tuple | set):
        inside = value
    elif isinstance(value, partial):
        inside = (value.func, *value.args, *value.keywords.values())
    elif hasattr(value, "get_params") and not isinstance(value, type):
        inside = value.get_params(deep=False).values()
    else:
        return
    for each in inside:
        yield from _list_parameters(each)


def _check_importable(value: Model) -> None:
    """Raise unless the function, or the type of the object, can be imported."""
    from kreinlearn.kernels import Kernel

    if isinstance(value, Kernel):
        raise ValueError(
            f"The record of kernel {value.name!r} is not saved with a model: fit it "
            f"with kernel={value.name!r}, the name, which means the same."
        )
    is_named = inspect.isroutine(value) or isinstance(value, type)
    named = value if is_named else type(value)
    module, name = getattr(named, "__module__", None), named.__name__
    if module is None or inspect.ismethod(named):  # ufuncs have no module
        return
    found = getattr(sys.modules.get(module), name, None)
    if module == "__main__" or (found is not named and module != "builtins"):
        qualified = getattr(named, "__qualname__", name)
        raise ValueError(
            f"{module}.{qualified} could not be loaded elsewhere, since it is a "
            "lambda, local, or of a script or notebook: use one of a module that can "
            "be imported."
        )


def list_trusted() -> list[str]:
    """Return the full names of types that files may hold besides those of skops."""
    import sklearn.metrics
    import sklearn.model_selection

    from kreinlearn import estimators, solvers
    from kreinlearn.features import RegionCovariance
    from kreinlearn.kernels import KERNELS

    ours = [getattr(estimators, name) for name in estimators.__all__]
    ours += [solvers.CCCP, solvers.DualNewton, solvers.GradientDescent, solvers.SGD]
    ours += [RegionCovariance, *(kernel.function for kernel in KERNELS.values())]
    # Splitters hold settings only; scores are functions of two arrays of numbers.
    ends = ("Fold", "Out", "Split", "_score", "_loss")
    for module in (sklearn.model_selection, sklearn.metrics):
        ours += [getattr(module, x) for x in module.__all__ if x.endswith(ends)]
    return [*TRUSTED_SETTINGS, *(f"{each.__module__}.{each.__name__}" for each in ours)]
