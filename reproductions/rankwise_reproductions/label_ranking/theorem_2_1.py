"""Theorem 2.1 of Fotakis, Kalavasis and Psaroudaki: how many noiseless rankings labelwise trees need."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from rankwise.datasets import RankingOracle
from rankwise.distances import spearman_distance
from rankwise.label_ranking import LabelwiseRanker
from rankwise.trees import LeastSquaresTree
from rankwise_reproductions.drawing import SERIES, tidy
from rankwise_reproductions.experiment import (
    Cell,
    Claim,
    Comparison,
    Experiment,
    FloatArray,
    Inputs,
    Results,
    Scale,
    Values,
)
from rankwise_reproductions.label_ranking.common import at_most, rows_needed, slope

N_LABELS = 5
TEST_ROWS = 1000
#: sizes of training sets, in steps of the square root of 2
SIZES = tuple(round(16 * 2 ** (step / 2)) for step in range(17))
MOST_ROWS = 4096
#: Spearman distance that is to be reached; the mean of random rankings of five labels is 20
TARGET = 0.5
#: Spearman distance that counts as none, in what is said of depth
SMALL = 0.1
GROWTHS = {"level": "Level-Splits", "best": "Breiman"}
#: features and informative ones that the curves against n show, and that the others vary one by one
FEATURES, INFORMATIVE = 100, 3
#: what exponents of d and of 2 may be above those of the theorem
POWER_TOLERANCE, DOUBLINGS_TOLERANCE = 0.06, 0.1
#: what a power of d says of a logarithm
CANNOT_TELL = "over this range of d the test cannot tell log d from a small power of d"
_MANY_FEATURES: dict[Scale, tuple[int, ...]] = {
    "full": (10, 30, 100, 300, 1000),
    "quick": (10, 30, 100, 300, 1000),
    "check": (10, 300),
}
_MANY_INFORMATIVE: dict[Scale, tuple[int, ...]] = {
    "full": (2, 3, 4, 5, 6, 7),
    "quick": (2, 3, 4, 5, 6),
    "check": (2, 4),
}
_SEEDS: dict[Scale, int] = {"full": 8, "quick": 8, "check": 5}
#: of the curve against d, which is the flatter one
_FEATURE_SEEDS: dict[Scale, int] = {"full": 24, "quick": 8, "check": 5}


def sparse_tree_depth(
    n: int, d: int, r: int, *, C: float = 1.0, delta: float = 0.01, growth: str = "level", independent: bool = False
) -> int:
    r"""How deep the theorems let trees grow (2.1, A.3 and A.4).

    With n rows of d binary features of which r matter to each label, a constant C of submodularity (Level-Splits) or of
    diminishing returns (Breiman) and an accepted probability of failure delta, a tree has
    :math:`t = (n / \log(d/\delta))^{Cr/(Cr+2)}` leaves (:math:`Cr + 3` for Breiman), so :math:`\log_2 t` levels,
    rounded up. If the features are independent, r levels are enough.

    Examples
    --------
    >>> sparse_tree_depth(10_000, 100, 10)
    9
    """
    if not 0 < delta < 1:
        raise ValueError(f"delta is {delta}, but a probability of failure lies between 0 and 1")
    if C <= 0:
        raise ValueError(f"C is {C}, but must be positive")
    if growth not in GROWTHS:
        raise ValueError(f"growth is {growth!r}; choose 'level' or 'best'")
    if independent:
        return r
    power = C * r / (C * r + (2 if growth == "level" else 3))
    return max(1, int(np.ceil(power * np.log2(n / np.log(d / delta)))))


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    shapes = dict.fromkeys(
        [(d, INFORMATIVE) for d in _MANY_FEATURES[scale]] + [(FEATURES, r) for r in _MANY_INFORMATIVE[scale]]
    )
    shared = [
        {"scores": "same features", "d": d, "r": r, "growth": growth, "depth": r, "seed": seed}
        | {"smallest": SIZES[0], "largest": 2 ** (r + 4)}
        for (d, r), growth in product(shapes, GROWTHS)
        for seed in range(_FEATURE_SEEDS[scale] if r == INFORMATIVE else _SEEDS[scale])
    ]
    # Two features for each score, so that ten matter to the place of each label.
    own = [
        {"scores": "own features", "d": 50, "r": 2, "growth": "level", "depth": depth, "seed": seed}
        | {"smallest": MOST_ROWS, "largest": MOST_ROWS}
        for depth, seed in product((2, 2 * N_LABELS), range(max(4, _SEEDS[scale] // 10)))
    ]
    return shared + own


def _compute(cell: Cell, inputs: Inputs) -> Values:
    rng = np.random.default_rng([cell["seed"], cell["d"], cell["r"]])
    X, oracle = _sparse(cell["largest"] + TEST_ROWS, cell["d"], cell["r"], cell["scores"] == "own features", rng)
    y = oracle.ranking(X)
    tree = LeastSquaresTree(growth=cell["growth"], max_depth=cell["depth"])
    regrets = []
    for n in _sizes(cell):
        ranker = LabelwiseRanker(tree, random_state=0).fit(X[:n], y[:n])
        regrets.append(float(np.mean(spearman_distance(y[-TEST_ROWS:], ranker.predict(X[-TEST_ROWS:])))))
    return {"regret": regrets}


def _sparse(n: int, d: int, r: int, own: bool, rng: np.random.Generator) -> tuple[FloatArray, RankingOracle]:
    """Independent binary features, and scores linear in r of them: the same for all labels, or each its own."""
    X = rng.integers(0, 2, (n, d)).astype(float)
    features = rng.choice(d, (N_LABELS, r) if own else r, replace=False)
    weights = np.zeros((d, N_LABELS))
    # Row j, column i is the feature of the j-th weight of label i.
    rows = features.T if own else np.repeat(features[:, None], N_LABELS, axis=1)
    weights[rows, np.arange(N_LABELS)] = rng.uniform(-1, 1, (r, N_LABELS))
    offsets = rng.uniform(-1, 1, N_LABELS)
    return X, RankingOracle(lambda rows: rows @ weights + offsets, features=d)


def _sizes(cell: Cell) -> list[int]:
    return [n for n in SIZES if cell["smallest"] <= n <= cell["largest"]]


def _needed(results: Results) -> FloatArray:
    """Of each cell the base-2 logarithm of the rows from which on the regret stays below the target."""
    return np.array([rows_needed(_sizes(cell), values["regret"], TARGET) for cell, values in results])


def _by(results: Results, name: str, growth: str) -> dict[int, FloatArray]:
    """What the trees need, by number of features or of informative ones, the other being fixed."""
    fixed = {"r": INFORMATIVE} if name == "d" else {"d": FEATURES}
    one = results.select(scores="same features", growth=growth, **fixed)
    return {value: _needed(one.select(**{name: value})) for value in sorted(one.settings(name))}


def _final(results: Results, **settings: Any) -> tuple[float, float]:
    """Mean regret with the most rows, and its standard error."""
    last = np.array([values["regret"][-1] for _, values in results.select(**settings)])
    return float(last.mean()), float(last.std(ddof=1) / np.sqrt(len(last)))


def _compare(results: Results) -> list[Comparison]:
    rows = []
    for growth, title in GROWTHS.items():
        by_d, by_r = _by(results, "d", growth), _by(results, "r", growth)
        power, error = slope(by_d, np.log2(list(by_d)))
        published = float(np.polyfit(np.log2(list(by_d)), np.log2(np.log(list(by_d))), 1)[0])
        rows.append(
            Comparison(
                f"{title}: rows needed, power of d",
                f"at most {published:.2f}, that of log d",
                power,
                error,
                verdict=at_most(published, power, error, POWER_TOLERANCE),
                reason=f"tolerance {POWER_TOLERANCE:g}; {CANNOT_TELL}",
            )
        )
        doublings, error = slope(by_r, np.array(list(by_r), dtype=float))
        rows.append(
            Comparison(
                f"{title}: rows needed, doublings for each further informative feature",
                "at most 1 (case b)",
                doublings,
                error,
                verdict=at_most(1.0, doublings, error, DOUBLINGS_TOLERANCE),
                reason=f"tolerance {DOUBLINGS_TOLERANCE:g}",
            )
        )
    for depth, said in ((2, "depth r is enough"), (2 * N_LABELS, None)):
        regret, error = _final(results, scores="own features", depth=depth)
        rows.append(
            Comparison(
                f"two features of its own for each score, {MOST_ROWS} rows, depth {depth}: regret",
                said,
                regret,
                error,
                verdict="not in the paper" if said is None else "agrees" if regret < SMALL else "differs",
                reason="as deep as k r"
                if said is None
                else ""
                if regret < SMALL
                else "the place of a label depends on the features of all scores, k r in all",
            )
        )
    return rows


def _claims(results: Results) -> list[Claim]:
    final = {title: _final(results, scores="same features", growth=growth) for growth, title in GROWTHS.items()}
    powers, factors = {}, {}
    for growth, title in GROWTHS.items():
        by_d, by_r = _by(results, "d", growth), _by(results, "r", growth)
        powers[title] = slope(by_d, np.log2(list(by_d)))
        factors[title] = slope(by_r, np.array(list(by_r), dtype=float))
    most = max(results.select(d=FEATURES).settings("r"))
    level, breiman = (_by(results, "r", growth)[most] for growth in GROWTHS)
    excess = breiman - level
    shallow, deep = (_final(results, scores="own features", depth=depth) for depth in (2, 2 * N_LABELS))
    return [
        Claim(
            "The regret of labelwise trees goes to 0 with n, for Level-Splits and Breiman",
            max(regret for regret, _ in final.values()) < 0.3,
            ", ".join(
                f"{title} {regret:.3f} ± {error:.3f} at the most rows" for title, (regret, error) in final.items()
            ),
        ),
        Claim(
            "The rows needed grow far more slowly than the number of features d, less than its square root (as log d "
            "does, and small powers of d)",
            all(power < 0.45 for power, _ in powers.values()),
            "; ".join(f"{title}: d to the power {power:.2f} ± {error:.2f}" for title, (power, error) in powers.items())
            + f"; {CANNOT_TELL}",
        ),
        Claim(
            "They grow geometrically with the number of informative features, up to about twofold with each",
            all(1.25 < 2**more < 3 for more, _ in factors.values()),
            "; ".join(
                f"{title}: times {2**more:.2f} (log2: {more:.2f} ± {error:.2f})"
                for title, (more, error) in factors.items()
            ),
        ),
        Claim(
            "Breiman's trees need no fewer rows than Level-Splits",
            float(excess.mean()) > -0.1,
            f"at r = {most}: times {2 ** excess.mean():.2f} (log2: {excess.mean():.2f} ± "
            f"{excess.std(ddof=1) / np.sqrt(len(excess)):.2f})",
            of="rankwise",
        ),
        Claim(
            "Trees of depth r are enough if each label has its own features (theorem A.4, case b)",
            shallow[0] < SMALL,
            f"regret with {MOST_ROWS} rows: depth 2 {shallow[0]:.3f} ± {shallow[1]:.3f}",
            known="the place of a label depends on the features of all scores, k r in all",
        ),
        Claim(
            "Trees of depth k r are enough if each label has its own features",
            deep[0] < SMALL,
            f"regret with {MOST_ROWS} rows: depth 10 {deep[0]:.3f} ± {deep[1]:.3f}",
            of="rankwise",
        ),
    ]


def _draw_curves(results: Results, figure: Any) -> None:
    figure.set_size_inches(9, 3.2)
    axes = figure.subplots(1, 3)
    for (color, marker), (growth, title) in zip(SERIES, GROWTHS.items(), strict=False):
        for r, style in zip((2, 4, 6), ("-", "--", ":"), strict=True):
            one = results.select(scores="same features", growth=growth, d=FEATURES, r=r)
            if len(one):
                sizes, mean = _sizes(next(iter(one))[0]), one.values("regret").mean(axis=0)
                axes[0].plot(sizes, mean, color=color, ls=style, marker=marker, ms=3, label=f"{title}, r = {r}")
        for ax, name in ((axes[1], "d"), (axes[2], "r")):
            needed = _by(results, name, growth)
            means = np.array([values.mean() for values in needed.values()])
            errors = np.array([values.std(ddof=1) / np.sqrt(len(values)) for values in needed.values()])
            bars = [2**means - 2 ** (means - errors), 2 ** (means + errors) - 2**means]
            ax.errorbar(list(needed), 2**means, bars, color=color, marker=marker, ms=4, lw=1, label=title)
    axes[0].set_xscale("log", base=2)
    axes[1].set_xscale("log")
    for ax in axes[1:]:
        ax.set_yscale("log", base=2)
    tidy(axes[0], x="training rows n (d = 100)", y="mean Spearman distance to the truth")
    tidy(axes[1], x="features d (r = 3)", y=f"rows until the distance is below {TARGET:g}")
    tidy(axes[2], x="informative features r (d = 100)")
    axes[0].legend(fontsize=7, frameon=False)
    axes[1].legend(fontsize=7, frameon=False)


EXPERIMENTS = (
    Experiment(
        id="label-ranking/theorem-2.1",
        title="Theorem 2.1: rows that Level-Splits and Breiman's trees need, against d and r",
        about=(
            "The paper proves that labelwise trees reach an expected Spearman distance of epsilon to the noiseless "
            "rankings of r-sparse scores from about log(d) (C r / epsilon)^(C r + 2) rows, or log(d) 2^r / "
            "epsilon^2 where features are independent and trees have depth r (theorem A.4, case b). It has no "
            "experiment on that. We draw independent binary features and five scores linear in r of them, the same "
            "for all labels, grow trees of depth r on more and more rows, and note from how many rows on the "
            f"distance stays below {TARGET:g}.\n\n"
            "The proof takes the place of a label for r-sparse since its score is. But the place depends on all "
            "scores: where each has r features of its own, on k r. The last cells show what that does to trees of "
            "depth r."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        pictures={"rows": _draw_curves},
    ),
)
