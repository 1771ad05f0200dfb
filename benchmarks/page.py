"""Write ``docs/speed.md`` and its plots from records.

    python -m benchmarks --out records
    python benchmarks/page.py records [--docs docs]

Every number on the page comes from a record; for repeated measurements, from the last
one. Sections without records are unchanged. ``notes.md``, next to this file, is written
by hand and copied to the page.
"""

import argparse
import json
from pathlib import Path

from common import OURS, fit_exponent, select_larger_half

FOLDER = Path(__file__).parent
KEY_FIELDS = ("bench", "work", "library", "n", "m", "dtype", "columns")
SECTION_TITLES = {
    "fit": "One fit of a given matrix",
    "cv": "The grid of a cross-validation",
    "search": "The default search, from samples to a model",
    "load": "Beside busy processes",
    "blocked": "Without a stored matrix",
}
SECTION_TEXTS = {
    "fit": "`fit` for a given K, with lam and C chosen by cross-validation "
    "(`benchmarks/chosen.json`). Accuracy is measured on the other half.",
    "cv": "Seven values of lam and five folds: 35 problems with one matrix. SVC has "
    "seven values of C. Separate fits also check whether their solution is unique. "
    "TorchKM also fits all samples, and its accuracy comes from its own scores.",
    "search": "The default search: three kernels, sixteen settings, two norms, "
    "chosen and averaged by cross-validation, then fitted. `GridSearchCV` tries 35 "
    "pairs of C and gamma in two processes. For the last three sets, similarities are "
    "given (max - d), and it tries ten C. Accuracy is that of the other half.\n\n"
    "![Seconds against log-loss, one panel per data set](images/speed-search.svg)\n\n"
    "Down and to the left is better. Support vector machines have no probabilities, "
    "only a time, the dotted line.",
    "load": "The default search on a machine that others use: *ours* is its time "
    "alone, and *ratio* how much longer the others take. BLAS has one thread up to "
    "8,000 samples, while folds run in threads. Without that limit, threads of BLAS "
    "wait for each other.",
    "blocked": "K is computed again in every product. *tiles* computes its entries "
    "and discards them, and *tiles, half* those on and above the diagonal, because a "
    "product can use each entry twice. Our products are faster than that, because "
    "their entries stay in registers of the processor.",
}
FULL_SEARCH = "search='full'"
"""Our exhaustive search, which is in the records and the plot, not in the table."""
TIME_UNITS = ((1.0, "s", 1), (1e-3, "ms", 1e3), (0.0, "µs", 1e6))
LINE_COLORS = (
    "#0072b2",
    "#56b4e9",
    "#009e73",
    "#d55e00",
    "#cc79a7",
    "#000000",
    "#e69f00",
)
"""Colors of Okabe and Ito, which are safe for color-blind readers."""


# -- records ---------------------------------------------------------------------------


def read_records(folder):
    """Return the records of a folder, the last one for each key."""
    found = {}
    for path in sorted(Path(folder).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if "bench" in row:  # other records of the same revision stand beside them
                found[tuple(row.get(name) for name in KEY_FIELDS)] = row
    return list(found.values())


def select_bench(records, bench):
    return [row for row in records if row["bench"] == bench]


# -- numbers as text -------------------------------------------------------------------


def format_seconds(row):
    """Return the time of a row as text, or the kind of failure."""
    median = row.get("median_s")
    if median is not None:
        _, unit, factor = next(each for each in TIME_UNITS if median >= each[0])
        return f"{format_three_digits(median * factor)} {unit}"
    if row.get("status") == "timeout":
        return f"more than {row['limit_s']:g} s"
    return {"memory": "out of memory"}.get(row.get("status"), "failed")


def format_three_digits(value):
    """Return a number with three digits, or two significant digits below one."""
    for least, form in ((100, ".0f"), (10, ".1f"), (1, ".2f")):
        if value >= least:
            return format(value, form)
    return f"{value:.2g}"


def format_markdown(header, body, right=()):
    """Return a table; columns named in ``right`` are right-aligned."""
    rule = ["---:" if name in right else "---" for name in header]
    lines = [header, rule, *body]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


# -- tables ----------------------------------------------------------------------------


def pair_with_peers(rows):
    """Yield (ours, peer) for each work; peer is None without a peer."""
    works = {}
    for row in rows:
        shape = tuple(row.get(name) for name in KEY_FIELDS if name != "library")
        works.setdefault(shape, {})[row["library"]] = row
    for found in works.values():
        ours = found.pop(OURS, None)
        if ours is not None:
            yield from ((ours, peer) for peer in found.values() or [None])


def format_pair(ours, peer, field, form):
    """Return a field of both, as one cell."""
    values = [row.get(field) for row in (ours, peer or {})]
    if values == [None, None]:
        return ""
    texts = ["–" if value is None else format(value, form) for value in values]
    return texts[0] if peer is None else " / ".join(texts)


def format_table(rows):
    """Return one line per work and peer."""
    header = ["work", "n", "m", "type", "ours", "peer", "its time", "ratio"]
    extras = {
        "accuracy": ("accuracy", ".3f"),
        "residual": ("residual", ".0e"),
        "peak_mb": ("peak MB", ".0f"),
    }
    body = []
    for ours, peer in pair_with_peers(rows):
        if peer and peer["library"] == FULL_SEARCH:
            continue
        shape = [ours.get(name) for name in ("n", "m", "dtype")]
        line = [ours["work"], *("" if each is None else each for each in shape)]
        line.append(format_seconds(ours))
        line += [peer["library"], format_seconds(peer)] if peer else ["", ""]
        ratio = peer and peer.get("ours_faster")
        line.append(f"{format_three_digits(ratio)}x" if ratio else "")
        line += [
            format_pair(ours, peer, field, form) for field, (_, form) in extras.items()
        ]
        body.append(line)
    header += [title for title, _ in extras.values()]
    used = [i for i in range(len(header)) if i < 8 or any(line[i] for line in body)]
    chosen = [[line[i] for i in used] for line in body]
    right = {"n", "m", "ours", "its time", "ratio"} | {
        title for title, _ in extras.values()
    }
    return format_markdown([header[i] for i in used], chosen, right)


def describe_records_machine(records):
    """Return the lines about processor, versions and limits."""
    if not records:
        return ["Nothing measured yet."]
    last = records[-1]
    versions = {}
    for row in records:
        versions |= {name: v for name, v in row["versions"].items() if v}
    listed = ", ".join(f"{name} {each}" for name, each in versions.items())
    lines = [
        f"* {last['cpu']}, {last.get('cores', '?')} cores, {last['threads']} threads.",
        f"* {listed[0].upper()}{listed[1:]}.",
    ]
    for row in select_bench(records, "machine"):
        if "gb_per_s" in row:
            lines.append(f"* {row['work'].capitalize()}: {row['gb_per_s']:.1f} GB/s.")
        else:
            matrices = f"{row['dtype']} matrices of order {row['n']}"
            lines.append(f"* Product of {matrices}: {row['gflop_per_s']:.0f} GFlop/s.")
    return lines


# -- growth ----------------------------------------------------------------------------


def select_points(records):
    """Return the measurements of growth, without the slopes."""
    rows = select_bench(records, "scaling")
    return [row for row in rows if not row["work"].startswith("slope")]


def make_label(row):
    """Return the label of the line of a measurement."""
    library, work = row["library"], row["work"]
    return library if work == "fit" else f"{library}, {work}"


def collect_lines(records, field):
    """Return points (n, value) of each line of the plots, by label."""
    found = {}
    for row in select_points(records):
        if row.get(field) is not None:
            found.setdefault(make_label(row), []).append((row["n"], row[field]))
    return {label: sorted(points) for label, points in found.items()}


def compute_exponent(points, chosen=select_larger_half):
    """Return the slope over the chosen points, or None for fewer than two."""
    few = chosen(points)
    return fit_exponent([n for n, _ in few], [value for _, value in few])


def spread_labels(heights, gap):
    """Return positions near the heights, in the same order, at least a gap apart."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    placed = [heights[i] for i in order]
    for _ in range(1000):
        moved = False
        for k in range(len(placed) - 1):
            lack = gap - (placed[k + 1] - placed[k])
            if lack > 1e-9:
                placed[k] -= lack / 2
                placed[k + 1] += lack / 2
                moved = True
        if not moved:
            break
    result = [0.0] * len(heights)
    for i, position in zip(order, placed, strict=True):
        result[i] = position
    return result


def plot_lines(lines, title, path):
    """Draw lines on logarithmic axes, with label and slope at their ends."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator

    with matplotlib.rc_context({"svg.hashsalt": "kreinlearn", "font.size": 9}):
        figure = Figure(figsize=(7.2, 4.2))
        axes = figure.add_axes((0.1, 0.12, 0.54, 0.8))
        axes.set(xscale="log", yscale="log", xlabel="samples n", title=title)
        for (label, points), color in zip(lines.items(), LINE_COLORS, strict=False):
            n, values = zip(*points, strict=True)
            axes.plot(n, values, "o-", color=color, markersize=3.5, label=label)
        sizes = sorted({n for points in lines.values() for n, _ in points})
        axes.set_xticks(sizes, [f"{n:,}" for n in sizes])
        axes.minorticks_off()
        low, high = axes.get_ylim()
        if high < 100 * low:  # too few powers of ten to read values by
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.grid(color="0.9")
        axes.spines[["top", "right"]].set_visible(False)
        label_ends(axes, lines)
        # No date: the same records give the same file.
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def label_ends(axes, lines):
    """Write the labels right of the axes, connected to the ends of their lines."""
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = [to_axes.transform(points[-1]) for points in lines.values()]
    heights = spread_labels([float(y) for _, y in ends], gap=0.06)
    for (label, points), end, height, color in zip(
        lines.items(), ends, heights, LINE_COLORS, strict=False
    ):
        power = compute_exponent(points)
        text = label if power is None else f"{label}: {power:.2f}"
        axes.annotate(
            text,
            end,
            (1.06, height),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=color,
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": color, "lw": 0.5, "ls": ":"},
        )


def draw_searches(records, images):
    """Draw the seconds of each search against its log-loss, a panel per data set."""
    import matplotlib
    from matplotlib.figure import Figure

    works = {}
    for row in select_bench(records, "search"):
        if row.get("median_s") is not None:
            works.setdefault(row["work"].split(", ")[-1], []).append(row)
    if not works:
        return
    images.mkdir(parents=True, exist_ok=True)
    libraries = list(
        dict.fromkeys(row["library"] for each in works.values() for row in each)
    )
    colors = dict(zip(libraries, LINE_COLORS, strict=False))
    lines = -(-len(works) // 4)
    with matplotlib.rc_context({"svg.hashsalt": "kreinlearn", "font.size": 8}):
        figure = Figure(figsize=(7.2, 1.7 * lines + 0.5), layout="constrained")
        panels = figure.subplots(lines, 4, squeeze=False).ravel()
        for axes, (name, found) in zip(panels, works.items(), strict=False):
            axes.set(title=name, xscale="log")
            axes.minorticks_off()
            axes.spines[["top", "right"]].set_visible(False)
            for row in found:
                color, label = colors[row["library"]], row["library"]
                if "log_loss" in row:
                    at = row["median_s"], row["log_loss"]
                    axes.plot(*at, "o", color=color, label=label)
                else:
                    axes.axvline(row["median_s"], color=color, ls=":", label=label)
            axes.margins(0.2)
            axes.set_ylim(0, 1.2 * max(row.get("log_loss", 0) for row in found))
            low, high = axes.get_xlim()
            ticks = [x for x in (0.05, 0.1, 0.2, 0.5, 1, 3, 10) if low < x < high]
            axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
        for axes in panels[len(works) :]:
            axes.set_axis_off()
        figure.supxlabel("seconds")
        figure.supylabel("log-loss on new samples")
        known = dict(zip(*reversed(panels[0].get_legend_handles_labels()), strict=True))
        figure.legend(known.values(), known.keys(), loc="outside upper center", ncols=4)
        path = images / "speed-search.svg"
        figure.savefig(path, metadata={"Date": None})


def format_growth(records, images):
    """Draw the plots and return the lines of the section."""
    times, memory = (collect_lines(records, field) for field in ("median_s", "peak_mb"))
    if not times:
        return []
    images.mkdir(parents=True, exist_ok=True)
    plot_lines(times, "seconds", images / "speed-time.svg")
    plot_lines(memory, "peak memory of the process, MB", images / "speed-memory.svg")
    cells = {(make_label(row), row["n"]): row for row in select_points(records)}
    labels = list(dict.fromkeys(label for label, _ in cells))
    body = [
        [n, *(format_cell(cells.get((label, n))) for label in labels)]
        for n in sorted({n for _, n in cells})
    ]
    for name, chosen in (
        ("slope, larger half", select_larger_half),
        ("slope, all", list),
    ):
        found = [compute_exponent(times.get(label, []), chosen) for label in labels]
        body.append([name, *("" if p is None else f"{p:.2f}" for p in found)])
    return [
        "## Growth",
        "",
        "Fits from samples, including the kernel, and the grid of a cross-validation, "
        "each in its own process. The number after a name is the slope of its line "
        "over the larger half of the sizes: the exponent of n.",
        "",
        "![Seconds against the number of samples](images/speed-time.svg)",
        "",
        "![Peak memory against the number of samples](images/speed-memory.svg)",
        "",
        format_markdown(["n", *labels], body, {"n", *labels}),
        "",
    ]


def format_cell(row):
    return "" if row is None else format_seconds(row)


# -- the page --------------------------------------------------------------------------

INSTRUCTIONS = """\
```bash
# from a checkout; first PyTorch for the CPU, or pip installs the build for GPUs
pip install torch --index-url https://download.pytorch.org/whl/cpu
pip install "kreinlearn[bench]"     # the libraries that we compare with
python -m benchmarks --out records  # or some: python -m benchmarks fit --out records
python benchmarks/page.py records   # writes this page
```

Times are medians of several runs, after one that is not counted. The libraries take
turns, so that a busy moment of the machine affects all of them. A ratio is the peer's
time divided by ours in the same run: above one, we are faster."""


def split_sections(text):
    """Return the lines of each section of a page by its title."""
    found, lines = {}, []
    for line in text.splitlines():
        if line.startswith("## "):
            lines = found.setdefault(line.removeprefix("## "), [])
        lines.append(line)
    return found


def write_page(folder, docs):
    """Write the page and its plots.

    Parameters
    ----------
    folder : path-like
        Records, one ``.jsonl`` file per benchmark.
    docs : path-like
        Folder of the documentation.

    Returns
    -------
    Path
        The page.
    """
    records, docs = read_records(folder), Path(docs)
    page = docs / "speed.md"
    kept = split_sections(page.read_text(encoding="utf-8")) if page.exists() else {}
    parts = ["# Speed", "", "<!-- written by benchmarks/page.py from records -->", ""]
    notes = (FOLDER / "notes.md").read_text().strip()
    parts += ["## Summary", "", notes, ""]
    for bench, title in SECTION_TITLES.items():
        rows = select_bench(records, bench)
        if rows:
            parts += [
                f"## {title}",
                "",
                SECTION_TEXTS[bench],
                "",
                format_table(rows),
                "",
            ]
            if any(row.get("data") == "synthetic" for row in rows):
                parts += [
                    "Some of the data are synthetic, with the shape of the named set.",
                    "",
                ]
        else:
            parts += kept.get(title, [])
    if select_bench(records, "search"):
        draw_searches(records, docs / "images")
    is_kept = "Growth" in kept and not select_points(records)
    parts += kept["Growth"] if is_kept else format_growth(records, docs / "images")
    is_kept = "The machine" in kept and not select_bench(records, "machine")
    parts += (
        kept["The machine"]
        if is_kept
        else ["## The machine", "", *describe_records_machine(records), ""]
    )
    parts += ["## Measure it yourself", "", INSTRUCTIONS, ""]
    docs.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(parts), encoding="utf-8")
    return page


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", help="folder of `python -m benchmarks --out`")
    parser.add_argument("--docs", default=FOLDER.parent / "docs", help="where to write")
    options = parser.parse_args(argv)
    print(write_page(options.records, options.docs))


if __name__ == "__main__":
    main()
