"""Theorem 3 of Clémençon, Korba and Sibony: the excess risk of the median of a sample falls exponentially."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.aggregation import Mallows, kemeny_batch, noise_margin, sample_mallows
from rankwise.aggregation.statistics import median_risk_bound
from rankwise.embeddings import pairwise_from_vectors
from rankwise_reproductions.drawing import SERIES, tidy
from rankwise_reproductions.experiment import Cell, Claim, Comparison, Experiment, Inputs, Results, Scale, Values

N_ITEMS = 5
#: dispersions of the Mallows model, with the sizes of samples: about 0.5 to 5 over the rate of the theorem
SIZES = {0.25: (65, 129, 259, 387, 515, 645), 0.5: (17, 33, 65, 97, 129, 161), 1.0: (5, 9, 17, 25, 33, 41)}
#: two items with margin 0.2 and three rankings, where the bound is smaller than any excess but 0
COUNTEREXAMPLE = {"n_items": 2, "theta": float(np.log(7 / 3)), "n_rankings": 3}

_SAMPLES = 2000


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    repeats = {"full": 20, "quick": 8, "check": 4}[scale]
    laws = list(SIZES) if scale != "check" else [0.5, 1.0]
    wanted = [{"n_items": N_ITEMS, "theta": theta, "n_rankings": size} for theta in laws for size in SIZES[theta]]
    return [{**one, "seed": seed} for one in [*wanted, COUNTEREXAMPLE] for seed in range(repeats)]


def _compute(cell: Cell, inputs: Inputs) -> Values:
    k, theta, size = cell["n_items"], cell["theta"], cell["n_rankings"]
    center = np.arange(k, 0, -1.0)  # even pairs fall in the order of the items: against the truth, the worst choice
    law = Mallows(center=center, theta=theta).pairwise_probabilities()
    rng = np.random.default_rng([k, size, cell["seed"], round(1000 * theta)])
    draws = sample_mallows(center, theta, _SAMPLES * size, rng).reshape(_SAMPLES, size, k)
    first, second = np.triu_indices(k, 1)
    shares = np.stack([np.mean(draws[..., i] < draws[..., j], axis=1) for i, j in zip(first, second, strict=True)])
    medians = kemeny_batch(pairwise_from_vectors(shares.T))
    wrong = (medians[:, first] < medians[:, second]) != (law[first, second] > 0.5)
    excess = wrong @ np.abs(2 * law[first, second] - 1)
    margin = noise_margin(law)
    return {
        "excess": float(excess.mean()),
        "wrong": float(np.mean(excess > 0)),
        "margin": margin,
        "bound": median_risk_bound(k, margin, size),
    }


def _compare(results: Results) -> list[Comparison]:
    rows = []
    many = results.select(n_items=N_ITEMS)
    for theta in many.settings("theta"):
        for size in many.select(theta=theta).settings("n_rankings"):
            found = many.select(theta=theta, n_rankings=size)
            rows.append(
                Comparison(
                    f"{N_ITEMS} items, theta {theta:g}, N = {size}: mean excess risk",
                    f"at most {found.mean('bound'):.4g}",
                    found.mean("excess"),
                    found.error("excess"),
                    "agrees" if found.mean("excess") <= found.mean("bound") else "differs",
                    "" if found.mean("excess") <= found.mean("bound") else "above the bound",
                )
            )
        slope, error = _slope(many.select(theta=theta))
        rows.append(
            Comparison(
                f"{N_ITEMS} items, theta {theta:g}: rate of the fall, in units of the theorem's",
                "at least 1",
                slope,
                error,
                "agrees" if slope >= 1 else "differs",
                "" if slope >= 1 else "slower than the theorem says",
            )
        )
    small = results.select(**COUNTEREXAMPLE)
    bound = small.mean("bound")
    rows += [
        Comparison(
            "2 items, margin 0.2, N = 3: share of samples whose excess is above the bound",
            "at most delta, for every delta in (0, 1): 0",
            small.mean("wrong"),
            small.error("wrong"),
            "differs" if small.mean("wrong") > 0.01 else "agrees",
            f"the bound, {bound:.3f}, is below the only excess there can be, 0.4",
        ),
        Comparison(
            "2 items, margin 0.2, N = 3: mean excess risk",
            f"at most {bound:.4g}",
            small.mean("excess"),
            small.error("excess"),
            "agrees after a correction" if small.mean("excess") <= bound else "differs",
            "the theorem is one on the expectation (Proposition 14 of Korba, Clémençon, Sibony 2017)",
        ),
    ]
    return rows


def _slope(results: Results) -> tuple[float, float]:
    """How much faster than the theorem's rate the excess falls with N, and the standard error."""
    sizes = results.settings("n_rankings")[1:]  # the smallest samples are not yet far down
    rate = -np.log(1 - 4 * results.mean("margin") ** 2) / 2
    means = np.array([results.select(n_rankings=size).mean("excess") for size in sizes])
    errors = np.array([results.select(n_rankings=size).error("excess") for size in sizes])
    centered = np.array(sizes) - np.mean(sizes)
    weights = -centered / (centered @ centered) / rate
    return float(weights @ np.log(means)), float(np.sqrt(np.sum((weights * errors / means) ** 2)))


def _claims(results: Results) -> list[Claim]:
    many = results.select(n_items=N_ITEMS)
    laws = many.settings("theta")
    cells = [many.select(theta=t, n_rankings=n) for t in laws for n in many.select(theta=t).settings("n_rankings")]
    closest = max(cells, key=lambda one: one.mean("excess") / one.mean("bound"))
    slopes = {theta: _slope(many.select(theta=theta)) for theta in laws}
    falls = {}
    for theta in laws:
        few, most = (many.select(theta=theta, n_rankings=SIZES[theta][place]) for place in (1, -1))
        falls[theta] = few.mean("excess") / most.mean("excess")
    small = results.select(**COUNTEREXAMPLE)
    return [
        Claim(
            "The expected excess risk of the median of a sample is within the bound of Theorem 3",
            all(one.mean("excess") <= one.mean("bound") for one in cells),
            f"in {len(cells)} cases; the closest comes to {closest.mean('excess') / closest.mean('bound'):.3f} of it",
        ),
        Claim(
            "The excess falls exponentially in N, at least at the rate of the theorem",
            all(slope >= 1 for slope, _ in slopes.values()),
            f"fall of the logarithm over the theorem's: at least {min(slope for slope, _ in slopes.values()):.2f}",
        ),
        Claim(
            "The rate of Theorem 3 is the right one: the fall is not twice as fast",
            all(slope < 2 for slope, _ in slopes.values()),
            "fall of the logarithm over the theorem's: "
            + "; ".join(f"theta {theta:g}: {slope:.2f} +- {error:.2f}" for theta, (slope, error) in slopes.items()),
            of="rankwise",
        ),
        Claim(
            "That is much faster than the rate of one over the square root of N, which holds without a margin",
            all(fall > 10 for fall in falls.values()),
            "five times the rankings divide the excess by "
            + "; ".join(f"{fall:.0f} (theta {theta:g})" for theta, fall in falls.items())
            + "; the square root of five is 2.2",
        ),
        Claim(
            "The bound of Theorem 3 holds with probability at least 1 - delta, for every delta",
            small.mean("wrong") < 0.01,
            f"two items, margin 0.2, three rankings: a share of {small.mean('wrong'):.3f} of the samples exceeds the "
            f"bound {small.mean('bound'):.3f} (exactly 0.216: the wrong majority)",
            known="it is a bound on the expectation, as in the proposition that the paper takes it from",
        ),
    ]


def _draw(results: Results, figure: Any) -> None:
    ax = figure.subplots()
    many = results.select(n_items=N_ITEMS)
    for theta, (color, marker) in zip(many.settings("theta"), SERIES, strict=False):
        sizes = np.array(many.select(theta=theta).settings("n_rankings"))
        found = [many.select(theta=theta, n_rankings=int(size)) for size in sizes]
        rate = -np.log(1 - 4 * found[0].mean("margin") ** 2) / 2
        means, errors = [one.mean("excess") for one in found], [one.error("excess") for one in found]
        label = f"theta {theta:g} (margin {found[0].mean('margin'):.3f})"
        ax.errorbar(rate * sizes, means, errors, marker=marker, color=color, label=label)
    steps = np.array([0.5, 5.0])
    ax.plot(steps, N_ITEMS**2 * (N_ITEMS - 1) ** 2 / 8 * np.exp(-steps), "k--", label="bound of Theorem 3")
    ax.set_yscale("log")
    ax.grid(alpha=0.3)
    tidy(ax, x="number of rankings times the theorem's rate", y="mean excess risk of the median")
    ax.legend(fontsize=8, frameon=False)


EXPERIMENTS = (
    Experiment(
        id="ranking-median/theorem-3",
        title="Theorem 3: the excess risk of the median of a sample falls exponentially",
        about=(
            "Rankings are drawn from a Mallows model, whose noise margin h is known; the median of N of them is "
            "compared with the true one. The theorem bounds the excess of its risk by a constant times (1 - 4 h^2) to "
            "the power N/2. Pairs that the sample leaves even are ordered against the truth: the worst of the choices "
            "that the theorem allows.\n\n"
            "The theorem is printed with the words 'with probability at least 1 - delta for all delta', though its "
            "bound does not depend on delta. An excess is 0 or at least 2 h, so a bound below 2 h would make the "
            "median of every sample the true one. Two items and three rankings show that this is not so; what holds is "
            "the bound on the expectation, as in the proposition that the paper takes it from. Full scale: 40,000 "
            "samples for each point, a few minutes."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        pictures={"rate": _draw},
    ),
)
