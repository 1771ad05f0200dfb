"""The cost model of landmarks, extrapolated to more rows and more machines.

A fit consists of passes over n rows with M landmarks, and of Newton matrices. All
seconds of work refer to the two threads of the measurement.
"""

WORK_UNITS = ("single", "double", "products", "curvature", "matrices", "fits")
"""Units of work, see ``landmark_costs.py``."""
UNIT_LABELS = {
    "single": "similarity in single precision, computed",
    "double": "similarity in double precision, computed",
    "products": "similarity, multiplied in a pass (scores and gradient)",
    "curvature": "row and entry of a second derivative (M² of them)",
    "matrices": "M³ of a Newton matrix: change of coordinates, factorization",
    "fits": "fit, whatever its size",
}
N_CHUNKS = 24
PROCESS_MB, N_FEATURES = 315, 22
GROUP_ROWS, ROWS_PER_NUMBER = 4096, 20
THREADS, WORKER_GB, CHUNK_ROWS = 8, 32, 500_000
"""Planned workers: threads, memory, and rows of a partition."""
KEPT_FRACTION = 0.25
PLANNED_ROWS = (10**6, 10**7, 10**8, 10**9)
PLANNED_WORKERS = (1, 10, 100, 1000)


def predict_seconds(seconds, row):
    """Return the predicted seconds of the work counted in a row."""
    return sum(seconds[unit] * row[unit] for unit in WORK_UNITS)


def count_tasks(row, n_chunks=N_CHUNKS):
    """Return the number of tasks: one per chunk and pass, matrix, and group of rows."""
    return row["passes"] * n_chunks + row["newton_matrices"] + count_groups(row)


def count_groups(row):
    """Return the number of groups of rows summed to second derivatives."""
    return row["curvature"] / (GROUP_ROWS * (row["landmarks"] + 1) ** 2)


def compute_sums_mb(row, n_workers=2, n_chunks=N_CHUNKS):
    """Return the megabytes of coefficients and sums sent between processes."""
    M = row["landmarks"] + 1
    moved = row["passes"] * (n_workers + n_chunks) * M
    return 8e-6 * (moved + (row["newton_matrices"] + count_groups(row)) * M * M)


def predict_sent_mb(seconds, row, n_workers=2, n_chunks=N_CHUNKS):
    """Return the predicted megabytes sent over the network."""
    sums = compute_sums_mb(row, n_workers, n_chunks)
    return seconds["sums"] * sums + seconds["message"] * count_tasks(row, n_chunks)


def predict_worker_mb(n, M, n_chunk=None, is_kept=True):
    """Return the predicted peak memory of a worker with n rows, in MB."""
    chunk = n if n_chunk is None else n_chunk
    kept = 4 * n * M if is_kept and 8 * n * M > 2**27 else 8 * n * M * is_kept
    work = 8 * M * (2 * GROUP_ROWS + 4 * M) + 3 * 8 * N_FEATURES * chunk
    return PROCESS_MB + (kept + work) / 1e6


def format_duration(seconds):
    """Return a time as text in a suitable unit."""
    for size, unit in ((3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms")):
        if seconds >= 2 * size or (unit == "ms" and seconds >= size):
            return f"{seconds / size:,.3g} {unit}"
    return f"{1e9 * seconds:,.3g} ns"


def format_tables(rows, seconds):
    """Return the tables of the page, in Markdown."""
    out = ["Time of one unit of work, on two threads:", ""]
    out += ["| one | takes |", "| --- | --- |"]
    out += [f"| {UNIT_LABELS[u]} | {format_duration(seconds[u])} |" for u in WORK_UNITS]
    if "task" in seconds:
        out += [
            f"| task of a cluster | {format_duration(seconds['task'])} |",
            "",
            f"On workers the same work takes {seconds['factor']:.2f} times as long.",
        ]
    out += ["", "Measured, and predicted from the rows marked *fitted*:", ""]
    out += [
        "| where | rows | landmarks | similarities | passes | seconds | predicted | |"
    ]
    out += ["| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for r in rows:
        kept = "kept" if r["kept"] else "computed in each pass"
        where = "two workers" if r["where"] == "workers" else "one process"
        ratio = r["foretold"] / r["seconds"]
        quality = "fitted" if r["role"] == "learned" else f"**{ratio:.2f}**"
        out.append(
            f"| {where} | {r['n']:,} | {r['landmarks']:,} | {kept} | {r['passes']} | "
            f"{r['seconds']:.2f} | {r['foretold']:.2f} | {quality} |"
        )
    remote = [r for r in rows if r["where"] == "workers"]
    if remote:
        out += [
            "",
            "| rows | landmarks | sent, MB | predicted | worker, MB | predicted |",
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
        out += ["", *format_extrapolation(rows, seconds)]
    return "\n".join(out) + "\n"


def format_extrapolation(rows, seconds):
    """Return the table of more rows and more workers."""
    like = max(rows, key=lambda row: (row["landmarks"], row["n"]))
    M, passes, matrices = like["landmarks"], like["passes"], like["newton_matrices"]
    out = [
        f"With M = {M:,}, {N_FEATURES} features, {passes} passes and {matrices} Newton "
        f"matrices, as measured with {like['n']:,} rows; workers of {THREADS} threads "
        f"as fast as these and {WORKER_GB} GB, partitions of {CHUNK_ROWS:,} rows:",
        "",
        "| rows | workers | similarities | takes | of them scheduling | on the wire | "
        "a worker holds |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for n in PLANNED_ROWS:
        for workers in PLANNED_WORKERS:
            hours = format_planned_run(seconds, n, M, workers, passes, matrices)
            if hours is not None:
                out.append(hours)
    return out


def format_planned_run(seconds, n, M, workers, passes, matrices):
    """Return a line of the table, or None if there are more workers than partitions."""
    n_chunks = max(workers, n // CHUNK_ROWS)
    if workers * CHUNK_ROWS > 2 * n:
        return None
    row = {"landmarks": M, "passes": passes, "newton_matrices": matrices}
    row["curvature"] = matrices * ROWS_PER_NUMBER * M**3
    n_subsample = ROWS_PER_NUMBER * M
    room = KEPT_FRACTION * (1e9 * WORKER_GB - 1e6 * PROCESS_MB) * workers
    kept = min(1.0, room / (4 * n * M))
    speed = workers * THREADS / 2 / seconds["factor"]
    computed = n * M * (seconds["single"] * (1 + (1 - kept) * (passes - 3)))
    computed += n * M * 2 * seconds["double"] + n_subsample * M * seconds["double"]
    work = computed + n * M * passes * seconds["products"]
    at_once = max(1.0, min(speed, n_subsample / GROUP_ROWS))
    curved = row["curvature"] * seconds["curvature"] / at_once
    driver = matrices * M**3 * seconds["matrices"] + seconds["fits"]
    scheduling = seconds["task"] * count_tasks(row, n_chunks)
    total = work / speed + curved + driver + scheduling
    stored = "kept" if kept == 1.0 else f"{kept:.0%} kept"
    sent = predict_sent_mb(seconds, row, workers, n_chunks) / 1e3
    held = predict_worker_mb(
        n * kept / workers, M, THREADS * min(CHUNK_ROWS, n / workers)
    )
    return (
        f"| {n:,} | {workers:,} | {stored} | {format_duration(total)} | "
        f"{scheduling / total:.0%} | {sent:,.2f} GB | {held / 1e3:,.1f} GB |"
    )
