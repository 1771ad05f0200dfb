"""What the race costs: `search="auto"` against `search="full"`, on data not seen.

    KREINLEARN_DATA=... python benchmarks/search_kinds.py [--halves N] [--jobs N]
        [--only NAME ...]

The fifteen small tables of the paper, on random halves, and matrices of `cases`, on
five folds: distances with all forms, similarities as they are. Prints log-loss,
accuracy and seconds of both kinds for each of them, and the means.
"""

import time
import warnings

import numpy as np
from cases import CACHE, MATRICES, matrix
from common import options_of, say, start
from joblib import Parallel, delayed
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits

from kreinlearn import KreinLogisticRegressionCV
from kreinlearn.kernels.threads import one_thread
from reproduction.data import load

TABLES = (
    *("monks1", "monks2", "monks3", "parkinsons", "sonar", "SPECT", "transfusion"),
    *("haberman", "breast-cancer", "heart", "australian", "fertility", "diabetic"),
    *("ionosphere", "climate"),
)
KINDS = ("auto", "full")


def main(argv=None):
    options = options_of(
        __doc__,
        argv,
        halves={"type": int, "default": 3, "help": "random halves of each table"},
        jobs={"type": int, "default": 2, "help": "processes"},
        only={"nargs": "+", "default": (*TABLES, *MATRICES), "metavar": "NAME"},
    )
    names = options.only[:1] if options.quick else options.only
    found = {}
    for name in names:
        splits = list(splits_of(name, 1 if options.quick else options.halves))
        if not splits:
            say(f"{name}: no data")
            continue
        work = (delayed(outcome)(*each) for each in splits)
        found[name] = np.mean(Parallel(options.jobs)(work), axis=0)
        print(row(name, found[name]), flush=True)
    for title, own in (("tables", TABLES), ("matrices", MATRICES)):
        some = [each for name, each in found.items() if name in own]
        if some:
            print(row(f"mean of {len(some)} {title}", np.mean(some, axis=0)))
    print(row(f"mean of all {len(found)}", np.mean(list(found.values()), axis=0)))


def splits_of(name, halves):
    """Yield the kernel, and samples and labels for training and for testing."""
    if name in TABLES:
        data = load(name)
        cut = StratifiedShuffleSplit(halves, train_size=0.5, random_state=1)
        for train, test in cut.split(data.data, data.target):
            scaler = MinMaxScaler().fit(data.data[train])
            X, X_test = map(scaler.transform, (data.data[train], data.data[test]))
            yield None, X, data.target[train], X_test, data.target[test]
        return
    given = matrix(name, CACHE)
    if given is None:
        return
    kernel = "distance" if given.is_distance else "precomputed"
    for train, test in StratifiedKFold(5, shuffle=True, random_state=1).split(
        given.values, given.y
    ):
        some = (given.values[np.ix_(rows, train)] for rows in (train, test))
        X, X_test = some
        yield kernel, X, given.y[train], X_test, given.y[test]


def outcome(kernel, X, y, X_test, y_test):
    """Return log-loss, accuracy and seconds, (2, 3), of both kinds."""
    found = []
    with warnings.catch_warnings(), threadpool_limits(1), one_thread():
        warnings.simplefilter("ignore")
        for kind in KINDS:
            own = {} if kernel is None else {"kernel": kernel}
            begun = time.process_time()
            model = KreinLogisticRegressionCV(search=kind, **own).fit(X, y)
            seconds = time.process_time() - begun
            proba = model.predict_proba(X_test)
            loss = log_loss(y_test, proba, labels=model.classes_)
            found.append((loss, model.score(X_test, y_test), seconds))
    return found


def row(name, found):
    """Return a line of the table."""
    each = [f"{found[k][m]:.4f}" for m in (0, 1) for k in (0, 1)]
    seconds = [f"{found[k][2]:.1f}" for k in (0, 1)]
    return " | ".join([f"{name:22}", *each, *seconds])


if __name__ == "__main__":
    print("data | log-loss auto, full | accuracy auto, full | seconds auto, full")
    start(main)
