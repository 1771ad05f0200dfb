"""Saved models: fitted estimators in a file, which runs no code when it is loaded.

A file is a zip archive as skops writes it (numbers as ``.npy``, the rest as JSON), with
one member more, ``kreinlearn.json``, that says which versions wrote it.
"""

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
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile

import sklearn
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils.validation import check_is_fitted

from kreinlearn import _skops
from kreinlearn._files import check_free, replace
from kreinlearn._memory import check_bytes

__all__ = ["load", "save", "stamp"]

FORMAT = 1
"""Raised by one whenever older versions could not read what is written."""
STAMP = "kreinlearn.json"
"""Member of the archive that tells our files from others."""
PACKAGES = ("kreinlearn", "scikit-learn", "numpy", "skops")
"""Those whose versions are written."""
SPLITTERS = (
    "GroupKFold",
    "GroupShuffleSplit",
    "KFold",
    "LeaveOneGroupOut",
    "LeaveOneOut",
    "PredefinedSplit",
    "RepeatedKFold",
    "RepeatedStratifiedKFold",
    "ShuffleSplit",
    "StratifiedGroupKFold",
    "StratifiedKFold",
    "StratifiedShuffleSplit",
    "TimeSeriesSplit",
)
"""Ways to cross-validate: settings only, of ``sklearn.model_selection``."""
SETTINGS = (
    "numpy.dtype",
    "sklearn.compose._column_transformer._RemainderColsList",  # before 1.8
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.metrics._scorer._MultimetricScorer",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.metrics._scorer._Scorer",
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
)
"""What searches and transformers of scikit-learn hold in addition to estimators."""


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
        something that could not be loaded elsewhere, such as a lambda.
    OSError
        If the file exists, or cannot be written.

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
    for value in _parts(model):
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
            f"{_first_line(error)}"
        ) from error
    versions = {name: version(name) for name in PACKAGES}
    stamped = {"format": FORMAT, **versions, "notes": json.loads(noted)}
    with ZipFile(content, "a", ZIP_DEFLATED) as members:
        members.writestr(STAMP, json.dumps(stamped, indent=2))
    replace(target, content.getvalue())


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
        If the file is damaged, of another kind, written by a newer kreinlearn, or
        holds a type that is not trusted.
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
        "format", versions by name of the package, and "notes".
    """
    with _open_model(path) as file:
        return _read_stamp(path, file)


def _parts(value: Any) -> Iterator[Any]:
    """Yield every parameter of a model, those inside others too."""
    yield value
    if isinstance(value, Mapping):
        inside: Iterable[Any] = value.values()
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
        yield from _parts(each)


def _check_importable(value: Any) -> None:
    """Raise unless the function, or the type of the object, has a name elsewhere."""
    from kreinlearn.kernels import Kernel

    if isinstance(value, Kernel):
        raise ValueError(
            f"The record of kernel {value.name!r} is not saved with a model: fit it "
            f"with kernel={value.name!r}, the name, which means the same."
        )
    named = (
        value if inspect.isroutine(value) or isinstance(value, type) else type(value)
    )
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


def _trusted() -> list[str]:
    """Return the full names of what our files may hold, apart from skops's own list."""
    import sklearn.metrics
    import sklearn.model_selection

    from kreinlearn import estimators, solvers
    from kreinlearn.features import RegionCovariance
    from kreinlearn.kernels import KERNELS

    ours = [getattr(estimators, name) for name in estimators.__all__]
    ours += [solvers.CCCP, solvers.DualNewton, solvers.GradientDescent, solvers.SGD]
    ours += [RegionCovariance, *(kernel.function for kernel in KERNELS.values())]
    ours += [getattr(sklearn.model_selection, name) for name in SPLITTERS]
    # Functions of two arrays of numbers, which scorers name.
    ours += [
        getattr(sklearn.metrics, name)
        for name in sklearn.metrics.__all__
        if name.endswith(("_score", "_loss"))
    ]
    return [*SETTINGS, *(f"{each.__module__}.{each.__name__}" for each in ours)]


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
        complete = isinstance(number, int) and isinstance(found["notes"], dict)
        if not complete or not all(isinstance(found[name], str) for name in PACKAGES):
            raise ValueError("its stamp is incomplete")
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


def _read_model(
    path: str | os.PathLike[str], file: BinaryIO, trusted: list[str]
) -> Any:
    """Return the model, or raise before anything is made of a type not trusted."""
    trusted = [*_trusted(), *trusted]
    try:
        with warnings.catch_warnings():  # load has warned, once
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            model = _skops.load(file, trusted)
        if not hasattr(type(model), "fit"):
            raise ValueError(f"it holds no estimator but {type(model).__name__}")
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
