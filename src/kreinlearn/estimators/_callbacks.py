"""Callbacks of scikit-learn, such as progress bars, where it has them (from 1.9 on).

An estimator tells its callbacks when a fit begins and ends; a search tells them of its
race, of each setting that it tries, and of the final fits. Older versions have no
callbacks, and estimators no ``set_callbacks``.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before 1.9
    with_callbacks = None

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Supports nothing."""


Fit = TypeVar("Fit", bound=Callable[..., Any])
Item = TypeVar("Item")


def tells_callbacks(n_tasks: int = 0) -> Callable[[Fit], Fit]:
    """Decorate a method ``fit`` such that callbacks hear of its begin and its end.

    Parameters
    ----------
    n_tasks : int
        Parts that it tells of by itself, at most.

    Returns
    -------
    callable
        The decorator; without callbacks, it leaves the method as it is.
    """

    def decorate(fit: Fit) -> Fit:
        if with_callbacks is None:
            return fit

        @with_callbacks
        @wraps(fit)
        def told(self: Any, X: Any, y: Any = None, *args: Any, **given: Any) -> Any:
            task = self._init_callback_context(max_subtasks=n_tasks)
            weights = args[0] if args else given.get("sample_weight")
            about: dict[str, Any] = {"estimator": self, "X": X, "y": y}
            if weights is not None:
                about["metadata"] = {"sample_weight": weights}
            task.call_on_fit_task_begin(**about)
            fit(self, X, y, *args, **given)
            # Nothing has to be added to a copy for it to predict.
            task.call_on_fit_task_end(**about, reconstruction_attributes=dict)
            return self

        return told

    return decorate


@contextmanager
def subtask(estimator: Any, name: str, n_tasks: int = 0) -> Iterator[Any]:
    """Tell the callbacks of an estimator of one part of its fit; give its context."""
    fit = getattr(estimator, "_callback_fit_ctx", None)
    if fit is None:
        yield None
        return
    task = fit.subcontext(name, max_subtasks=n_tasks)
    task.call_on_fit_task_begin(estimator=estimator)
    yield task
    task.call_on_fit_task_end(estimator=estimator)


def counted(
    estimator: Any, name: str, items: Iterable[Item], n_items: int
) -> Iterator[Item]:
    """Yield items, and tell the callbacks of an estimator as each of them is there."""
    with subtask(estimator, name, n_items) as task:
        for item in items:
            if task is not None:
                one = task.subcontext(f"{name} of one setting")
                one.call_on_fit_task_begin(estimator=estimator)
                one.call_on_fit_task_end(estimator=estimator)
            yield item
