"""Figure 1 of Fotakis, Kalavasis and Psaroudaki: trees and forests that learn from noisy rankings."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from rankwise.datasets._common import sorted_positions
from rankwise.label_ranking import kendall_gap, ranking_inconsistency
from rankwise.plots._style import GREY, SERIES, tidy
from rankwise.reproductions._label_ranking import (
    FEATURES,
    LEARNERS,
    TEST_ROWS,
    gaussian_noise,
    learned,
    sparse_scores,
)
from rankwise.reproductions.experiment import Cell, Claim, Comparison, Experiment, Inputs, Results, Scale, Values

DESIGNS = ("as distributed", "as described")
#: Gaussian noise of at most 1/4 does not change many more rankings than this
MOST_CHANGED = 0.9
#: why trees do not interpolate the data as described
MANY_FEATURES = (
    "the place of a label depends on the ten features of every score, up to fifty in all; in the distributed files all "
    "scores depend on the same five"
)
#: how near to a wanted alpha a level must be to speak for it
NEAR = 0.06
_SIZES: dict[Scale, dict[str, dict[str, int]]] = {
    "full": {"SFN": {"rows": 9000, "trees": 50}, "LFN": {"rows": 9000, "trees": 50}},
    "quick": {"SFN": {"rows": 1000, "trees": 20}, "LFN": {"rows": 500, "trees": 10}},
    "check": {"SFN": {"rows": 500, "trees": 10}},
}
_LEVELS: dict[Scale, int] = {"full": 50, "quick": 20, "check": 3}
_SEEDS: dict[Scale, dict[str, int]] = {
    "full": {"SFN": 5, "LFN": 5},
    "quick": {"SFN": 2, "LFN": 1},
    "check": {"SFN": 3},
}


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    levels = np.linspace(0, MOST_CHANGED, _LEVELS[scale]).round(4).tolist()
    return [
        {"family": family, "design": design, "level": level, "seed": seed, **sizes}
        for (family, sizes), design, level in product(_SIZES[scale].items(), DESIGNS, levels)
        for seed in range(_SEEDS[scale][family])
    ]


def _compute(cell: Cell, inputs: Inputs) -> Values:
    # The same features and scores at every level.
    rng = np.random.default_rng([cell["seed"], FEATURES[cell["family"]], DESIGNS.index(cell["design"])])
    X, scores = sparse_scores(cell["rows"] + TEST_ROWS, cell["family"], cell["design"], rng)
    truth, observed = sorted_positions(scores), gaussian_noise(scores, cell["level"], rng)
    return {
        "alpha": ranking_inconsistency(truth, observed),
        "beta": kendall_gap(truth, observed),
        **learned(X, observed, truth, cell["trees"], cell["seed"]),
    }


def _tau(learner: str) -> str:
    return f"{learner}, positions"


def _near(results: Results, alpha: float) -> Results:
    """The cells whose noise changes about this share of the rankings."""
    return Results([(cell, values) for cell, values in results if abs(cell["level"] - alpha) <= NEAR])


def _groups(results: Results, design: str) -> dict[str, Results]:
    """The cells of a design by family."""
    return {family: results.select(family=family, design=design) for family in results.settings("family")}


def _ratio(results: Results) -> Results:
    """The full tree's tau by beta, where there is noise."""
    noisy = [(cell, values) for cell, values in results if values["alpha"] > 0]
    return Results([(cell, {"ratio": values[_tau("full tree")] / values["beta"]}) for cell, values in noisy])


def _gain(results: Results, learner: str) -> Results:
    """What a learner has more than the full tree."""
    return Results([(cell, {"gain": one[_tau(learner)] - one[_tau("full tree")]}) for cell, one in results])


def _compare(results: Results) -> list[Comparison]:
    rows = []
    for design, reason in zip(DESIGNS, ("fewer rows than the paper's", MANY_FEATURES), strict=True):
        for family, one in _groups(results, design).items():
            clean, half, ratio = one.select(level=0.0), _near(one, 0.45), _ratio(one)
            for quantity, published, found, name, least in (
                ("full tree without noise", "interpolates", clean, _tau("full tree"), 0.97),
                ("honest forest without noise", "interpolates", clean, _tau("honest forest"), 0.97),
                ("full tree, tau by beta", "about 1", ratio, "ratio", 0.8),
                ("shallow tree, alpha .4 to .5", "close to 1", half, _tau("shallow tree"), 0.9),
                ("honest forest, alpha .4 to .5", "close to 1", half, _tau("honest forest"), 0.9),
            ):
                ours = found.mean(name)
                agrees = ours > least
                rows.append(
                    Comparison(
                        f"{family} {design}: {quantity}",
                        published,
                        ours,
                        found.error(name),
                        verdict="agrees" if agrees else "differs",
                        reason="" if agrees else reason,
                    )
                )
    return rows


def _claims(results: Results) -> list[Claim]:
    easy, hard = _groups(results, "as distributed"), _groups(results, "as described")
    clean = {family: [one.select(level=0.0).mean(_tau(name)) for name in LEARNERS] for family, one in easy.items()}
    left = {family: [one.select(level=0.0).mean(_tau(name)) for name in LEARNERS] for family, one in hard.items()}
    ratios = {family: _ratio(one).mean("ratio") for family, one in easy.items()}
    claims = [
        Claim(
            "Without noise trees and forests interpolate the rankings (data as distributed)",
            min(min(taus) for taus in clean.values()) > 0.97,
            _listed(clean),
        ),
        Claim(
            "With ten features of its own for each score they do not (corrects the text)",
            max(max(taus) for taus in left.values()) < 0.95,
            _listed(left),
        ),
        Claim(
            "Fully grown trees fit the noise: tau by beta is about 1 (data as distributed)",
            all(0.8 < ratio < 1.05 for ratio in ratios.values()),
            ", ".join(f"{family} {ratio:.3f}" for family, ratio in ratios.items()),
        ),
    ]
    for learner in ("honest forest", "shallow tree"):
        gains = {
            f"{family} {design}": _gain(_near(one, 0.45), learner)
            for design, groups in zip(DESIGNS, (easy, hard), strict=True)
            for family, one in groups.items()
        }
        claims.append(
            Claim(
                f"At alpha of about a half the {learner} is above the full tree",
                all(gain.mean("gain") > 0.03 for gain in gains.values()),
                ", ".join(
                    f"{name}: +{gain.mean('gain'):.3f} ± {gain.error('gain'):.3f}" for name, gain in gains.items()
                ),
            )
        )
    return claims


def _listed(taus: dict[str, list[float]]) -> str:
    return "; ".join(
        f"{family}: " + ", ".join(f"{name} {tau:.3f}" for name, tau in zip(LEARNERS, values, strict=True))
        for family, values in taus.items()
    )


def _draw(results: Results, figure: Any, measure: str, label: str) -> None:
    families = results.settings("family")
    figure.set_size_inches(8, 3 * len(families))
    axes = figure.subplots(len(families), len(DESIGNS), sharex=True, sharey=True, squeeze=False)
    for row, family in zip(axes, families, strict=True):
        for ax, design in zip(row, DESIGNS, strict=True):
            one = results.select(family=family, design=design)
            levels = [one.select(level=level) for level in one.settings("level")]
            noise = [level.mean(measure) for level in levels]
            ax.plot(noise, [level.mean("beta") for level in levels], color=GREY, ls="--", label="beta")
            for (color, marker), learner in zip(SERIES, LEARNERS, strict=False):
                taus = [level.mean(_tau(learner)) for level in levels]
                ax.plot(noise, taus, color=color, marker=marker, ms=3.5, lw=1, label=learner)
            ax.set_ylim(0, 1.05)
            ax.set_title(f"{family}, {design}", fontsize=9)
            tidy(ax, x=label if family == families[-1] else None, y="mean Kendall tau" if ax is row[0] else None)
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=4, fontsize=8, frameon=False)


def _draw_alpha(results: Results, figure: Any) -> None:
    _draw(results, figure, "alpha", "alpha: share of rankings that noise has changed")


def _draw_beta(results: Results, figure: Any) -> None:
    _draw(results, figure, "beta", "beta: mean tau of noisy and noiseless rankings")


EXPERIMENTS = (
    Experiment(
        id="label-ranking/figure-1",
        title="Figure 1: shallow trees, full trees and honest forests against the noise of the rankings",
        about=(
            "Scores of five labels depend on a few of 100 (SFN) or 1000 (LFN) binary features; truncated Gaussian "
            "noise is added to them, and regressors of the places, one for each label, learn from the noisy "
            "rankings and are judged on noiseless ones. The paper shows their mean Kendall tau against alpha, the "
            "share of rankings that the noise has changed, and beta, the mean tau of noisy and noiseless rankings.\n\n"
            "There are two readings of the data. As described in the paper, each score has ten informative features "
            "of its own. In the SFN files that we could see, all five scores depend on the same five features. We "
            "run both. Noise is scaled to even steps of alpha. The paper splits one data set by 5 x 10 folds; we "
            "draw five data sets anew. Taus are on positions; the published code takes them on lists of labels (see "
            "tables-4-7), and the cells hold those too. The published code uses ordinary forests; ours are honest, "
            "as in the text. The quick scale has 1000 (LFN 500) training rows and 20 (LFN 10) trees instead of 9000 "
            "and 50; the full one takes about a day on two processors."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        pictures={"alpha": _draw_alpha, "beta": _draw_beta},
    ),
)
