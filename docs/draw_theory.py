"""Draw the figures of the page on theory, and print the numbers that it quotes.

    python docs/draw_theory.py

Everything is generated, takes seconds, and is the same on every run. The figures go to
``docs/images/theory-*.svg``.
"""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import expit

from kreinlearn import KreinLogisticRegression
from kreinlearn.datasets import make_monks
from kreinlearn.kernels import gram
from kreinlearn.spectrum import describe

IMAGE_FOLDER = Path(__file__).parent / "images"
BLUE, ORANGE, GREEN, SKY = "#0072b2", "#d55e00", "#009e73", "#56b4e9"


def main() -> None:
    """Draw all figures."""
    mpl.rcParams |= {"svg.hashsalt": "theory", "font.size": 10}
    K, K_test, y, y_test = load_monks()
    draw_space(K)
    draw_objective(K, y)
    draw_dual()
    draw_certificate(K, y)
    draw_bifurcation()
    draw_norms()
    draw_published(K, K_test, y, y_test)


def load_monks():
    """Return TL1 matrices of the first MONK's rule, 124 samples to learn from."""
    X, y = make_monks(1)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:124], order[124:]
    return gram(X[train]), gram(X[test], X[train]), y[train], y[test]


def save(figure, name):
    """Write a figure that is the same on every run."""
    figure.savefig(IMAGE_FOLDER / f"theory-{name}.svg", metadata={"Date": None})
    plt.close(figure)


def risk(K, y, a, lam):
    """Return the printed objective F, without an intercept."""
    f = K @ a
    return float(np.logaddexp(0, -y * f).mean() + lam / 2 * a @ f)


def draw_space(K):
    """Draw eigenvalues of a similarity, and level lines of a squared length."""
    report = describe(K)
    print(f"monks-1, TL1: {report}")
    values = np.linalg.eigvalsh(K)[::-1]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    colors = np.where(values < 0, ORANGE, BLUE)
    left.bar(np.arange(len(values)), values, width=1.0, color=colors)
    left.axhline(0, color="black", linewidth=0.6)
    left.set_yscale("symlog", linthresh=0.1)
    left.set(xlabel="index", ylabel="eigenvalue", title="TL1 similarity, 124 samples")
    side = np.linspace(-2, 2, 200)
    u, v = np.meshgrid(side, side)
    lines = right.contour(u, v, u**2 - v**2, [-3, -2, -1, 0, 1, 2, 3], cmap="cividis")
    right.clabel(lines, fontsize=8)
    right.set(
        xlabel="positive direction",
        ylabel="negative direction",
        title="squared length in a Krein space",
        aspect="equal",
    )
    save(figure, "space")


def draw_objective(K, y):
    """Draw F along the eigenvectors of the smallest and of the largest eigenvalue."""
    _, vectors = np.linalg.eigh(K)
    figure, axis = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
    t = np.linspace(-12, 12, 241)
    for lam, style in ((0.1, "-"), (0.5, "--")):
        heights = [risk(K, y, step * vectors[:, 0], lam) for step in t]
        label = f"negative eigenvalue, lam = {lam}"
        axis.plot(t, heights, style, color=ORANGE, label=label)
    heights = [risk(K, y, step * vectors[:, -1], 0.1) for step in t]
    axis.plot(t, heights, color=BLUE, label="largest eigenvalue, lam = 0.1")
    axis.axhline(np.log(2), color="gray", linestyle=":", label="log 2")
    axis.set(xlabel="t", ylabel="F(t v)", ylim=(-20, 12))
    axis.legend(fontsize="small")
    save(figure, "objective")
    for step in (0, 10, 100, 1000):
        print(f"F({step} v) = {risk(K, y, step * vectors[:, 0], 0.1):.6g}")


def dual(K, y, p, lam):
    """Return n lam J at dual probabilities p, which may have further axes."""
    a = y[:, None] * p / (len(y) * lam)
    quadratic = np.einsum("ik,ij,jk->k", a, K, a) / 2
    entropy = (p * np.log(p) + (1 - p) * np.log1p(-p)).sum(axis=0)
    return len(y) * lam * quadratic + entropy


def draw_dual():
    """Draw the dual of two samples on its box, with the path of Newton's method."""
    K, y, lam = np.array([[1.5, 1.8], [1.8, 0.6]]), np.array([1.0, 1.0]), 0.2
    print(f"two samples: eigenvalues {np.linalg.eigvalsh(K)}, lam {lam}")
    side = np.linspace(1e-3, 1 - 1e-3, 60)
    u, v = np.meshgrid(side, side)
    heights = dual(K, y, np.stack([u.ravel(), v.ravel()]), lam).reshape(u.shape)
    p = np.array([0.85, 0.7])
    path = [p]
    for _ in range(20):
        gradient = y * (K @ (y * p)) / (2 * lam) + np.log(p) - np.log1p(-p)
        hessian = K * np.outer(y, y) / (2 * lam) + np.diag(1 / (p * (1 - p)))
        floor = max(0.0, 1e-2 - np.linalg.eigvalsh(hessian)[0])
        step = -np.linalg.solve(hessian + floor * np.eye(2), gradient)
        room = (np.where(step > 0, 1 - p, p) / np.maximum(np.abs(step), 1e-300)).min()
        length, value = min(1.0, 0.9 * room), dual(K, y, p[:, None], lam)
        while dual(K, y, (p + length * step)[:, None], lam) > value + 1e-12:
            length /= 2
        p = p + length * step
        path.append(p)
    residual = np.abs(p - expit(-y * (K @ (y * p)) / (2 * lam))).max()
    print(f"path ends at {p.round(4)}, residual {residual:.1e}")
    figure, axis = plt.subplots(figsize=(5, 4), layout="constrained")
    image = axis.contourf(u, v, heights, 14, cmap="cividis")
    axis.plot(*np.array(path).T, "o-", color="white", markeredgecolor="black")
    axis.set(xlabel="p of the first sample", ylabel="p of the second", aspect="equal")
    figure.colorbar(image, ax=axis, label="dual, times n lam")
    save(figure, "dual")


def draw_certificate(K, y):
    """Draw the residual after each Newton step, for several lam."""
    figure, axis = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
    colors = (BLUE, SKY, GREEN, ORANGE)
    for lam, color, marker in zip((1, 0.1, 1e-2, 1e-3), colors, "os^v", strict=True):
        model = KreinLogisticRegression(
            "precomputed", lam=lam, tol=1e-10, fit_intercept=False
        ).fit(K, y)
        rows = [row["residual"] for row in model.history_]
        label = f"lam = {lam:g}, {model.regime_}"
        axis.semilogy(rows, marker + "-", color=color, label=label, markersize=4)
        print(f"lam {lam:g}: {model.n_iter_} steps, residual {model.residual_:.1e}")
    axis.set(xlabel="Newton step, those at larger lam included", ylabel="residual")
    axis.legend(fontsize="small")
    save(figure, "certificate")


def draw_bifurcation():
    """Draw the stationary points of two samples that are alike but for their labels."""
    # K = -[[1, 1], [1, 1]] / 2 has mu_min = -1, so the threshold is 1 / 8.
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    ratios = 1 - np.linspace(0.9, 0.01, 120) ** 2

    def gap(d, ratio):
        return np.tanh(2 * d / ratio) / 2 - d

    upper = np.array([brentq(gap, 1e-9, 0.5, args=(ratio,)) for ratio in ratios])
    left.plot(ratios, 0.5 + upper, color=BLUE)
    left.plot(ratios, 0.5 - upper, color=BLUE, label="minima of the dual")
    left.plot([0.2, 1], [0.5, 0.5], "--", color=ORANGE, label="saddle point")
    left.plot([1, 2], [0.5, 0.5], color=BLUE)
    left.axvspan(1, 2, color=GREEN, alpha=0.15, label="proven unique")
    left.set(xlabel="lam / threshold", ylabel="p of the first sample", ylim=(0, 1))
    left.legend(fontsize="small")
    p = np.linspace(1e-3, 1 - 1e-3, 300)
    K, y = -np.ones((2, 2)) / 2, np.array([1.0, -1.0])
    lines = ((1.6, "-", GREEN), (1.0, "-.", SKY), (0.7, "--", ORANGE))
    for ratio, style, color in lines:
        heights = dual(K, y, np.stack([p, 1 - p]), ratio / 8)
        right.plot(p, heights, style, color=color, label=f"lam = {ratio} x threshold")
    right.set(xlabel="p of the first sample, 1 - p of the second", ylabel="dual")
    right.legend(fontsize="small")
    save(figure, "bifurcation")
    print(f"mu_min {np.linalg.eigvalsh(K)[0]}, threshold {describe(K)['lam_unique']}")


def draw_norms():
    """Draw scores along a positive and a negative direction, with both norms."""
    rng = np.random.default_rng(0)
    n = 120
    space, time = rng.standard_normal((2, n, 1))
    K = space @ space.T - time @ time.T
    figure, axes = plt.subplots(
        1, 2, figsize=(9, 3.6), sharey=True, layout="constrained"
    )
    y = np.where(time[:, 0] + space[:, 0] > 0, 1, -1)
    for axis, norm in zip(axes, ("krein", "hilbert"), strict=True):
        model = KreinLogisticRegression("precomputed", lam=0.1, norm=norm).fit(K, y)
        f = model.decision_function(K)
        print(f"norm {norm}: training accuracy {model.score(K, y):.3f}")
        for label, marker in ((1, "^"), (-1, "o")):
            mine = y == label
            points = axis.scatter(
                space[mine],
                time[mine],
                c=f[mine],
                marker=marker,
                cmap="PuOr",
                vmin=-4,
                vmax=4,
                s=26,
                edgecolors="black",
                linewidths=0.5,
                label=f"label {label:+d}",
            )
        axis.axline((0, 0), slope=-1, color="gray", linewidth=0.8)
        axis.set(xlabel="positive coordinate", title=f'norm="{norm}"')
    axes[0].set_ylabel("negative coordinate")
    figure.colorbar(points, ax=axes, label="score f")
    axes[0].legend(fontsize="small")
    save(figure, "norms")


def draw_published(K, K_test, y, y_test):
    """Draw what the concave-convex procedure does when it is run to accuracy."""
    lam, n = 0.1, len(y)
    values, vectors = np.linalg.eigh(K)
    shift = 1.1 * abs(values[0])
    plus, minus = np.maximum(values, 0) + shift, np.maximum(-values, 0) + shift

    def surrogate(z, tangent):
        f = vectors @ (values * z)
        value = np.logaddexp(0, -y * f).mean() + lam / 2 * plus @ z**2 - tangent @ z
        slope = vectors.T @ (-y * expit(-y * f) / n)
        return value, values * slope + lam * plus * z - tangent

    z, rows = np.zeros(n), []
    for step in range(1, 15):
        tangent = lam * minus * z
        options = {"maxiter": 5000}
        z = minimize(surrogate, z, (tangent,), "L-BFGS-B", jac=True, options=options).x
        a = vectors @ z
        rows.append((risk(K, y, a, lam), np.mean(np.sign(K_test @ a) == y_test)))
        print(f"outer step {step}: F = {rows[-1][0]:.4g}, accuracy {rows[-1][1]:.3f}")
    exact = KreinLogisticRegression("precomputed", lam=lam, fit_intercept=False)
    accuracy = exact.fit(K, y).score(K_test, y_test)
    print(f"stationary point: accuracy {accuracy:.3f}")
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    steps = np.arange(1, len(rows) + 1)
    left.plot(steps, [row[0] for row in rows], "o-", color=ORANGE)
    left.axhline(0, color="gray", linewidth=0.8)
    left.set_yscale("symlog", linthresh=1)
    left.set(xlabel="outer step", ylabel="F")
    right.plot(steps, [row[1] for row in rows], "s-", color=ORANGE, label="procedure")
    right.axhline(accuracy, color=GREEN, linestyle="--", label="stationary point")
    right.set(xlabel="outer step", ylabel="accuracy on other samples")
    right.legend()
    save(figure, "published")


if __name__ == "__main__":
    main()
