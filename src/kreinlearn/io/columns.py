"""What the columns of a table are for: features, labels, names, groups, or nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from kreinlearn.io.values import CellColumn, some_of


@dataclass(frozen=True)
class Roles:
    """What is said of columns that are no features, by name or position.

    Attributes
    ----------
    drop : sequence of str
        Columns that are left out.
    id : str or None
        The column that names the samples.
    group : str or None
        The column that says which samples belong together.
    """

    drop: Sequence[str] = ()
    id: str | None = None
    group: str | None = None

    def __bool__(self) -> bool:
        """Tell whether anything was said."""
        return bool(self.drop) or self.id is not None or self.group is not None


@dataclass(frozen=True)
class Layout:
    """The columns of a table by what they are for.

    Attributes
    ----------
    features : list of str
        What is learned from.
    target : str or None
        The labels.
    id, group : str or None
        Names and groups of the samples.
    apart : dict of str to int
        All columns that are neither features nor labels, and their places from zero.
    """

    features: list[str]
    target: str | None = None
    id: str | None = None
    group: str | None = None
    apart: Mapping[str, int] = field(default_factory=dict)


def layout_of(
    path: str,
    names: Sequence[str],
    roles: Roles,
    target: str | None = None,
    *,
    labels: bool = True,
) -> Layout:
    """Return what each column of a table is for, or raise if that is contradictory.

    Parameters
    ----------
    path : str
        The file, for messages.
    names : sequence of str
        Its columns.
    roles : Roles
        What is said of some of them.
    target : str, optional
        Name or position of the labels; the last column that is not spoken for by
        default.
    labels : bool
        Whether there are labels if ``target`` does not say so.

    Returns
    -------
    Layout
        With names as they stand in the file.

    Examples
    --------
    >>> found = layout_of("a.csv", ["nr", "width", "kind"], Roles(id="nr"))
    >>> found.features, found.target, found.id
    (['width'], 'kind', 'nr')
    """
    said = [("--drop", given) for given in roles.drop]
    said += [("--id", roles.id)] if roles.id is not None else []
    said += [("--group", roles.group)] if roles.group is not None else []
    said += [("--target", target)] if target is not None else []
    found = dict[str, str]()
    for option, given in said:
        name = names[place_of(path, names, given, option)]
        if name in found:
            both = f"{found[name]} and {option}"
            twice = f"twice by {option}" if found[name] == option else f"by {both}"
            raise ValueError(
                f"{path}: column {name!r} is named {twice}; a column is for one "
                "thing: name each once."
            )
        found[name] = option
    of = {option: name for name, option in found.items()}
    apart = {n: names.index(n) for n, option in found.items() if option != "--target"}
    rest = [name for name in names if name not in apart]
    label = of.get("--target", rest[-1] if labels and rest else None)
    return Layout(
        [name for name in rest if name != label],
        label,
        of.get("--id"),
        of.get("--group"),
        apart,
    )


def place_of(
    path: str, names: Sequence[str], given: str | None, option: str = "--target"
) -> int:
    """Return which column is meant, counted from zero.

    Parameters
    ----------
    path : str
        The file, for the message.
    names : sequence of str
        Names of the columns.
    given : str or None
        A name, or a position from 1 or, if negative, from the end; None for the last.
    option : str
        What it was given for, for the message.

    Returns
    -------
    int
        The place.
    """
    if given is None:
        return len(names) - 1
    if given in names:
        return list(names).index(given)
    try:
        position = int(given)
    except ValueError:
        lower = {name.lower(): name for name in names}
        near = get_close_matches(given.lower(), lower, 1)
        hint = f"did you mean {lower[near[0]]!r}? It" if near else "it"
        alone = "; if that is several, --sep says what separates them"
        raise ValueError(
            f"{path} has no column {given!r}; {hint} has {some_of(names, 10)}"
            f"{alone * (len(names) == 1)}."
        ) from None
    if position == 0 or abs(position) > len(names):
        what = {"--target": "the target"}.get(option, f"{option}")
        raise ValueError(
            f"The position of {what} must be from 1 to {len(names)}, or from -1 to "
            f"-{len(names)} to count from the last column of {path}, got {position}."
        )
    return position - 1 if position > 0 else len(names) + position


def sample_names(
    path: str, name: str, cells: CellColumn, lines: Sequence[int], unit: str = "line"
) -> list[str]:
    """Return the names of training samples, or raise if one stands twice.

    Parameters
    ----------
    path, name : str
        File and column, for the message.
    cells : sequence of str or ndarray
        The column.
    lines : sequence of int
        Where each is in the file.
    unit : str
        What samples are counted in.

    Returns
    -------
    list of str
        The cells, as text.
    """
    seen = dict[str, int]()
    words = [str(cell) for cell in cells]
    for line, word in zip(lines, words, strict=True):
        if seen.setdefault(word, line) != line:
            raise ValueError(
                f"{path}: column {name!r} was named by --id, and an id names one "
                f"sample, but {word!r} is in {unit}s {seen[word]} and {line}; if it "
                f"says which rows belong together, use --group {name}."
            )
    return words
