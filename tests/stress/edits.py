"""Edited models in files: rejected, or with the same predictions to the last bit.

Every edit has correct checksums of the archive; none has a new digest. A digest is not
a signature: anyone can compute a new one, or remove it.
"""

import io
import itertools
import json
import random
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from tests.stress import Batch, Kind, Settings
from tests.stress.mutations import EXTREME, rezipped

BATCH = 100
STAMP = "kreinlearn.json"


@dataclass(frozen=True)
class Saved:
    """A model as a file, samples, and what it predicts for them."""

    content: bytes
    samples: Any
    predicted: bytes


def _predicted(model: Any, samples: Any) -> bytes:
    scores = np.asarray(model.decision_function(samples))
    return scores.tobytes() + repr(model.predict(samples).tolist()).encode()


@cache
def models() -> list[Saved]:
    """Return one saved model of each kind."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import kreinlearn as kl

    rng = np.random.default_rng(0)
    X = rng.uniform(size=(30, 3))
    two = np.where(X[:, 0] > np.median(X[:, 0]), "yes", "no")
    three = np.digitize(X[:, 1], [0.3, 0.6])
    K = np.maximum(2.0 - np.abs(X[:, None] - X).sum(axis=2), 0.0)
    fitted = [
        (kl.KreinLogisticRegression("tl1", lam=0.01), X, two),
        (kl.KreinLogisticRegression("precomputed", lam=0.01), K, three),
        (kl.KreinLogisticRegressionCV(kernel="tl1", lams=[0.1, 0.01], cv=2), X, two),
        (kl.LandmarkLogisticRegression("rbf", n_landmarks=8, lam=0.01), X, three),
        (kl.KreinSVC(), X, two),
        (make_pipeline(StandardScaler(), kl.DCASVC()), X, two),
    ]
    found = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, (model, samples, y) in enumerate(fitted):
            path = Path(folder, f"{number}.krein")
            kl.save(model.fit(samples, y), path, notes={"columns": ["a", "b", "c"]})
            predicted = _predicted(model, samples)
            found.append(Saved(path.read_bytes(), samples, predicted))
    return found


def read_members(content: bytes) -> dict[str, bytes]:
    """Return what an archive holds, by name."""
    with ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: dict[str, bytes]) -> bytes:
    """Return an archive."""
    made = io.BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        for name, inner in members.items():
            archive.writestr(name, inner)
    return made.getvalue()


def edited(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """Return a saved model with another member, field, order or byte inside."""
    way = rng.random()
    if way < 0.6:
        return rezipped(rng, content)
    members = read_members(content)
    names = sorted(members.keys() - {STAMP})
    one, two = rng.choice(names), rng.choice(names)
    if way < 0.7:  # two members change places
        members[one], members[two] = members[two], members[one]
    elif way < 0.8:  # a member of another model
        theirs = read_members(other)
        members[one] = rng.choice([theirs[name] for name in sorted(theirs)])
    elif way < 0.9:  # one number of an array
        arrays = [name for name in names if name.endswith(".npy")] or names
        one = rng.choice(arrays)
        inner = bytearray(members[one])
        place = rng.randrange(len(inner) * 3 // 4, len(inner))
        inner[place] ^= 1 << rng.randrange(8)
        members[one] = bytes(inner)
    else:  # one entry of the stamp
        stamped = json.loads(members[STAMP])
        entry = rng.choice(sorted(stamped.keys() - {"digest"}))
        given = [0, 1, 2, True, "", None, [], {}, "9.9.9", {"columns": ["a"]}]
        given += [text.decode(errors="replace") for text in EXTREME[:20]]
        stamped[entry] = rng.choice(given)
        members[STAMP] = json.dumps(stamped).encode()
    return zipped(members)


def fault(rng: random.Random, path: Path) -> str:
    """Edit a model, load it, and return what is wrong with that, or nothing."""
    from kreinlearn import load

    saved, other = rng.choice(models()), rng.choice(models())
    path.write_bytes(edited(rng, saved.content, other.content))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = load(path)
            found = _predicted(model, saved.samples)
    except (ValueError, MemoryError) as error:
        said = str(error)
        is_sentence = said.endswith(".") and "\n" not in said and str(path) in said
        return "" if is_sentence else f"not one sentence with the file: {said[:200]!r}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]!r}"
    return "" if found == saved.predicted else "predicts something else"


def _batches(settings: Settings) -> Iterator[Batch]:
    with tempfile.TemporaryDirectory(prefix="stress-") as folder:
        path = Path(folder, "m.krein")
        for begin in itertools.count(0, BATCH):
            batch = Batch(BATCH)
            for number in range(begin, begin + BATCH):
                if wrong := fault(random.Random(f"{settings.seed} {number}"), path):
                    batch.failed.append(f"case {number}: {wrong}")
                    settings.keep.mkdir(parents=True, exist_ok=True)
                    kept = f"edits-{settings.seed}-{number}.krein"
                    (settings.keep / kept).write_bytes(path.read_bytes())
            yield batch


KINDS: dict[str, Kind] = {"edited-models": _batches}
