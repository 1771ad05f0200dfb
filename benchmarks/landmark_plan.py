"""The cost model of landmarks, and what it says of more rows and more machines.

A fit is a number of passes over n rows with M landmarks, and of Newton matrices. All
seconds of work are those of the two threads that they were measured with.
"""

UNITS = ("single", "double", "products", "curvature", "matrices", "fits")
"""What seconds are explained by: see ``landmark_costs.py``."""
COSTS = {
    "single": "similarity in single precision, computed",
    "double": "similarity in double precision, computed",
    "products": "similarity, multiplied in a pass (scores and gradient)",
    "curvature": "row and entry of a second derivative (M² of them)",
    "matrices": "M³ of a Newton matrix: change of coordinates, factorization",
    "fits": "fit, whatever its size",
}
N_CHUNKS = 24
PROCESS_MB, FEATURES = 315, 22
SHARE_ROWS, ROWS_PER_NUMBER = 4096, 20
THREADS, WORKER_GB, CHUNK_ROWS = 8, 32, 500_000
"""Of a worker that is foretold: threads, memory, and rows of a partition."""
KEPT_SHARE = 0.25
SIZES = (10**6, 10**7, 10**8, 10**9)
WORKERS = (1, 10, 100, 1000)


def foretold(seconds, row):
    """Return the seconds of work that counts amount to."""
    return sum(seconds[unit] * row[unit] for unit in UNITS)


def tasks(row, n_chunks=N_CHUNKS):
    """Return the tasks of a fit: a chunk in each pass, and groups of the share."""
    return row["passes"] * n_chunks + row["newton_matrices"] + groups(row)


def groups(row):
    """Return how often rows of a group were summed to second derivatives."""
    return row["curvature"] / (SHARE_ROWS * (row["landmarks"] + 1) ** 2)


def sums_mb(row, n_workers=2, n_chunks=N_CHUNKS):
    """Return the megabytes of coefficients and sums that pass from one to another."""
    M = row["landmarks"] + 1
    moved = row["passes"] * (n_workers + n_chunks) * M
    return 8e-6 * (moved + (row["newton_matrices"] + groups(row)) * M * M)


def sent_mb(seconds, row, n_workers=2, n_chunks=N_CHUNKS):
    """Return the megabytes on the wire."""
    sums = sums_mb(row, n_workers, n_chunks)
    return seconds["sums"] * sums + seconds["message"] * tasks(row, n_chunks)


def worker_mb(n, M, n_chunk=None, is_kept=True):
    """Return the largest memory of a worker with n of the rows."""
    chunk = n if n_chunk is None else n_chunk
    kept = 4 * n * M if is_kept and 8 * n * M > 2**27 else 8 * n * M * is_kept
    work = 8 * M * (2 * SHARE_ROWS + 4 * M) + 3 * 8 * FEATURES * chunk
    return PROCESS_MB + (kept + work) / 1e6


def duration(seconds):
    """Return a time in the unit that suits it."""
    for size, unit in ((3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms")):
        if seconds >= 2 * size or (unit == "ms" and seconds >= size):
            return f"{seconds / size:,.3g} {unit}"
    return f"{1e9 * seconds:,.3g} ns"


def tables(rows, seconds):
    """Return the tables of the page, in Markdown."""
    out = ["Time of one unit of work, on two threads:", ""]
    out += ["| one | takes |", "| --- | --- |"]
    out += [f"| {COSTS[u]} | {duration(seconds[u])} |" for u in UNITS]
    if "task" in seconds:
        out += [
            f"| task of a cluster | {duration(seconds['task'])} |",
            "",
            f"On workers the same work takes {seconds['factor']:.2f} times as long.",
        ]
    out += ["", "Measured, and foretold from the rows marked *learned*:", ""]
    out += [
        "| where | rows | landmarks | similarities | passes | seconds | foretold | |"
    ]
    out += ["| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for r in rows:
        kept = "kept" if r["kept"] else "computed in each pass"
        where = "two workers" if r["where"] == "workers" else "one process"
        ratio = r["foretold"] / r["seconds"]
        said = "learned" if r["role"] == "learned" else f"**{ratio:.2f}**"
        out.append(
            f"| {where} | {r['n']:,} | {r['landmarks']:,} | {kept} | {r['passes']} | "
            f"{r['seconds']:.2f} | {r['foretold']:.2f} | {said} |"
        )
    remote = [r for r in rows if r["where"] == "workers"]
    if remote:
        out += [
            "",
            "| rows | landmarks | sent, MB | foretold | worker, MB | foretold |",
        ]
        out += ["| --- | --- | --- | --- | --- | --- |"]
    for r in remote:
        is_checked = r["role"] == "checked"
        mark = "**" if is_checked else ""
        out.append(
            f"| {r['n']:,} | {r['landmarks']:,} | {r['sent_mb']:.0f} | "
            f"{mark}{r['sent_foretold_mb']:.0f}{mark} | {r['peak_mb']:.0f} | "
            f"{mark}{r['peak_foretold_mb']:.0f}{mark} |"
        )
    if remote:
        out += ["", *extrapolated(rows, seconds)]
    return "\n".join(out) + "\n"


def extrapolated(rows, seconds):
    """Return the table of more rows and more workers."""
    like = max(rows, key=lambda row: (row["landmarks"], row["n"]))
    M, passes, matrices = like["landmarks"], like["passes"], like["newton_matrices"]
    out = [
        f"With M = {M:,}, {FEATURES} features, {passes} passes and {matrices} Newton "
        f"matrices, as measured with {like['n']:,} rows; workers of {THREADS} threads "
        f"as fast as these and {WORKER_GB} GB, partitions of {CHUNK_ROWS:,} rows:",
        "",
        "| rows | workers | similarities | takes | of them scheduling | on the wire | "
        "a worker holds |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for n in SIZES:
        for workers in WORKERS:
            hours = run_of(seconds, n, M, workers, passes, matrices)
            if hours is not None:
                out.append(hours)
    return out


def run_of(seconds, n, M, workers, passes, matrices):
    """Return a line of the table, or None if there are more workers than partitions."""
    n_chunks = max(workers, n // CHUNK_ROWS)
    if workers * CHUNK_ROWS > 2 * n:
        return None
    row = {"landmarks": M, "passes": passes, "newton_matrices": matrices}
    row["curvature"] = matrices * ROWS_PER_NUMBER * M**3
    share = ROWS_PER_NUMBER * M
    room = KEPT_SHARE * (1e9 * WORKER_GB - 1e6 * PROCESS_MB) * workers
    kept = min(1.0, room / (4 * n * M))
    speed = workers * THREADS / 2 / seconds["factor"]
    computed = n * M * (seconds["single"] * (1 + (1 - kept) * (passes - 3)))
    computed += n * M * 2 * seconds["double"] + share * M * seconds["double"]
    work = computed + n * M * passes * seconds["products"]
    at_once = max(1.0, min(speed, share / SHARE_ROWS))
    curved = row["curvature"] * seconds["curvature"] / at_once
    driver = matrices * M**3 * seconds["matrices"] + seconds["fits"]
    scheduling = seconds["task"] * tasks(row, n_chunks)
    total = work / speed + curved + driver + scheduling
    said = "kept" if kept == 1.0 else f"{kept:.0%} kept"
    sent = sent_mb(seconds, row, workers, n_chunks) / 1e3
    held = worker_mb(n * kept / workers, M, THREADS * min(CHUNK_ROWS, n / workers))
    return (
        f"| {n:,} | {workers:,} | {said} | {duration(total)} | "
        f"{scheduling / total:.0%} | {sent:,.2f} GB | {held / 1e3:,.1f} GB |"
    )
