"""Every elastic distance once more, as the table of its definition in plain Python.

Each function takes two series as lists of times, each a list of channels, and all its
parameters. Nothing is shared with the package.
"""

import math

INF = math.inf


def table(n, m, cell, above, before, is_inside, outside=INF):
    """Fill a table cell by cell; row 0 and column 0 are what comes before."""
    D = [[outside] * (m + 1) for _ in range(n + 1)]
    for j in range(m + 1):
        D[0][j] = above[j]
    for i in range(1, n + 1):
        D[i][0] = before[i]
        for j in range(1, m + 1):
            if is_inside(i - 1, j - 1):
                D[i][j] = cell(i - 1, j - 1, D[i - 1][j - 1], D[i - 1][j], D[i][j - 1])
    return D[n][m]


def count_window(n, m, window):
    """Return which cells are inside a window, as a function."""
    if window is None:
        return lambda i, j: True
    short, long = min(n, m), max(n, m)
    reach = int(window * short)

    def is_inside(i, j):
        a, b = (i, j) if n <= m else (j, i)
        return abs(a - (b + 1) * short // (long + 1)) <= reach

    return is_inside


def alone(size):
    """Return a border that nothing can start from but its corner."""
    return [0.0] + [INF] * size


def dtw(x, y, *, window=None):
    def cell(i, j, *three):
        return math.dist(x[i], y[j]) ** 2 + min(three)

    n, m = len(x), len(y)
    inside = count_window(n, m, window)
    return math.sqrt(table(n, m, cell, alone(m), alone(n), inside))


def wdtw(x, y, *, g):
    n, m = len(x), len(y)
    longer = max(n, m)

    def cell(i, j, *three):
        weight = 1 / (1 + math.exp(-g * (abs(i - j) - longer / 2)))
        return weight * math.dist(x[i], y[j]) ** 2 + min(three)

    inside = count_window(n, m, None)
    return math.sqrt(table(n, m, cell, alone(m), alone(n), inside))


def adtw(x, y, *, penalty, window=None):
    def cell(i, j, diagonal, up, left):
        return math.dist(x[i], y[j]) ** 2 + min(diagonal, up + penalty, left + penalty)

    n, m = len(x), len(y)
    inside = count_window(n, m, window)
    return math.sqrt(table(n, m, cell, alone(m), alone(n), inside))


def slopes(x):
    """Return the slopes of a series at all times but the first and the last."""
    return [
        [((b - a) + (c - a) / 2) / 2 for a, b, c in zip(*three, strict=True)]
        for three in zip(x, x[1:], x[2:], strict=False)
    ]


def erp(x, y, *, g, window=None):
    nothing = [g] * len(x[0])
    skip_x = [math.dist(value, nothing) for value in x]
    skip_y = [math.dist(value, nothing) for value in y]

    def cell(i, j, diagonal, up, left):
        match = diagonal + math.dist(x[i], y[j])
        return min(match, up + skip_x[i], left + skip_y[j])

    n, m = len(x), len(y)
    above = [sum(skip_y[:j]) for j in range(m + 1)]
    before = [sum(skip_x[:i]) for i in range(n + 1)]
    return table(n, m, cell, above, before, count_window(n, m, window))


def lcss(x, y, *, epsilon, window=None):
    def cell(i, j, diagonal, up, left):
        return max(diagonal + (math.dist(x[i], y[j]) <= epsilon), up, left)

    n, m = len(x), len(y)
    inside = count_window(n, m, window)
    found = table(n, m, cell, [0] * (m + 1), [0] * (n + 1), inside, 0)
    return 1 - found / min(n, m)


def msm(x, y, *, c):
    return sum(
        _msm([value[k] for value in x], [value[k] for value in y], c)
        for k in range(len(x[0]))
    )


def _msm(x, y, c):
    def price(new, p, q):
        if p <= new <= q or q <= new <= p:
            return c
        return c + min(abs(new - p), abs(new - q))

    def cell(i, j, diagonal, up, left):
        ways = [diagonal + abs(x[i] - y[j])]
        if i > 0:
            ways.append(up + price(x[i], x[i - 1], y[j]))
        if j > 0:
            ways.append(left + price(y[j], x[i], y[j - 1]))
        return min(ways)

    n, m = len(x), len(y)
    return table(n, m, cell, alone(m), alone(n), count_window(n, m, None))


def twe(x, y, *, nu, lmbda):
    zero = [0.0] * len(x[0])

    def step(series, i):
        return math.dist(series[i], series[i - 1] if i else zero)

    def cell(i, j, diagonal, up, left):
        previous = math.dist(x[i - 1] if i else zero, y[j - 1] if j else zero)
        match = math.dist(x[i], y[j]) + previous + 2 * nu * abs(i - j)
        return min(
            diagonal + match,
            up + step(x, i) + nu + lmbda,
            left + step(y, j) + nu + lmbda,
        )

    n, m = len(x), len(y)
    return table(n, m, cell, alone(m), alone(n), count_window(n, m, None))
