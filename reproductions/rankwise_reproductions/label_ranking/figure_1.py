"""Figure 1 of Fotakis, Kalavasis and Psaroudaki: trees and forests that learn from noisy rankings."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from rankwise.metrics import kendall_tau_score
from rankwise_reproductions.drawing import GREY, SERIES, tidy
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
from rankwise_reproductions.label_ranking.common import (
    FEATURES,
    LEARNERS,
    TEST_ROWS,
    gaussian_noise,
    learned,
    share_changed,
    sorted_positions,
    sparse_scores,
)
from rankwise_reproductions.outcome import number

DESIGNS = ("as distributed", "as described")
#: Gaussian noise of at most 1/4 does not change many more rankings than this
MOST_CHANGED = 0.9
#: why trees do not interpolate the data as described
MANY_FEATURES = (
    "the place of a label depends on the ten features of every score, up to fifty in all; in the distributed files all "
    "scores depend on the same five"
)
#: what "interpolates", "close to 1" and "about 1" mean here: above these
INTERPOLATES, CLOSE, ABOUT = 0.97, 0.9, 0.9
#: levels of noise below this alpha and from it on are reported separately
HALF = 0.5
_SIZES: dict[Scale, dict[str, dict[str, int]]] = {
    "full": {"SFN": {"rows": 9000, "trees": 50}, "LFN": {"rows": 9000, "trees": 50}},
    "quick": {"SFN": {"rows": 1000, "trees": 20}, "LFN": {"rows": 500, "trees": 10}},
    "check": {"SFN": {"rows": 500, "trees": 10}},
}
_LEVELS: dict[Scale, list[float]] = {
    "full": np.linspace(0, MOST_CHANGED, 50).round(4).tolist(),
    "quick": np.linspace(0, MOST_CHANGED, 20).round(4).tolist(),
    "check": [0.0, HALF, MOST_CHANGED],
}
_SEEDS: dict[Scale, dict[str, int]] = {
    "full": {"SFN": 5, "LFN": 5},
    "quick": {"SFN": 2, "LFN": 1},
    "check": {"SFN": 3},
}


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    return [
        {"family": family, "design": design, "level": level, "seed": seed, **sizes}
        for (family, sizes), design, level in product(_SIZES[scale].items(), DESIGNS, _LEVELS[scale])
        for seed in range(_SEEDS[scale][family])
    ]


def _compute(cell: Cell, inputs: Inputs) -> Values:
    # The same features and scores at every level.
    rng = np.random.default_rng([cell["seed"], FEATURES[cell["family"]], DESIGNS.index(cell["design"])])
    X, scores = sparse_scores(cell["rows"] + TEST_ROWS, cell["family"], cell["design"], rng)
    truth, observed = sorted_positions(scores), gaussian_noise(scores, cell["level"], rng)
    return {
        "alpha": share_changed(truth, observed),
        "beta": float(kendall_tau_score(truth, observed)),
        **learned(X, observed, truth, cell["trees"], cell["seed"]),
    }


def _tau(learner: str) -> str:
    return f"{learner}, positions"


def _ranges(results: Results) -> dict[str, Results]:
    """The cells with noise below alpha = .5, and from there on, where there are any."""
    low = [one for one in results if 0 < one[0]["level"] < HALF]
    high = [one for one in results if one[0]["level"] >= HALF]
    return {name: Results(cells) for name, cells in (("alpha below .5", low), ("alpha from .5 on", high)) if cells}


def _half(results: Results) -> Results:
    """The cells of the level nearest to alpha = .5."""
    return results.select(level=min(results.settings("level"), key=lambda level: abs(level - HALF)))


def _by_level(results: Results, name: str) -> FloatArray:
    """Means over seeds at each level."""
    return np.array([results.select(level=level).mean(name) for level in results.settings("level")])


def _groups(results: Results, design: str) -> dict[str, Results]:
    """The cells of a design by family."""
    return {family: results.select(family=family, design=design) for family in results.settings("family")}


def _ratio(results: Results) -> Results:
    """The full tree's tau by beta."""
    return Results([(cell, {"ratio": values[_tau("full tree")] / values["beta"]}) for cell, values in results])


def _gain(results: Results, learner: str) -> Results:
    """What a learner has more than the full tree."""
    return Results([(cell, {"gain": one[_tau(learner)] - one[_tau("full tree")]}) for cell, one in results])


def _compare(results: Results) -> list[Comparison]:
    rows = []
    for design in DESIGNS:
        reason = MANY_FEATURES if design == "as described" else _why(results)
        for family, one in _groups(results, design).items():
            where, clean = f"{family} {design}", one.select(level=0.0)
            for learner in ("full tree", "honest forest"):
                name = f"{where}: {learner} without noise"
                rows.append(_judged(name, "interpolates", clean, _tau(learner), INTERPOLATES, reason))
            for there, part in _ranges(one).items():
                name = f"{where}: full tree, tau by beta, {there}"
                rows.append(_judged(name, "about 1", _ratio(part), "ratio", ABOUT, reason, everywhere=True))
            for learner in ("shallow tree", "honest forest"):
                taus = _by_level(one, _tau(learner))
                share = float(np.mean(taus > CLOSE))
                rows.append(
                    Comparison(
                        f"{where}: {learner}, share of noise levels with tau above {CLOSE:g}",
                        "close to 1 for most alpha",
                        share,
                        verdict="agrees" if share > 0.5 else "differs",
                        reason=f"mean tau {taus.mean():.3f}, lowest {taus.min():.3f}"
                        + ("" if share > 0.5 else f"; {reason}"),
                    )
                )
                for there, part in _ranges(one).items():
                    name = f"{where}: {learner}, {there}"
                    rows.append(_judged(name, "close to 1 for most alpha", part, _tau(learner), CLOSE, reason))
    return rows


def _why(results: Results) -> str:
    most = _SIZES["full"]["SFN"]["rows"]
    return (
        f"fewer training rows than the paper's {most}" if max(results.settings("rows")) < most else "reason not known"
    )


def _judged(
    quantity: str, published: str, found: Results, name: str, least: float, reason: str, *, everywhere: bool = False
) -> Comparison:
    """A mean over levels of noise, which agrees where it, or the lowest of them, is above `least`."""
    ours, by_level = found.mean(name), _by_level(found, name)
    agrees = (by_level.min() if everywhere else ours) > least
    lowest = [f"lowest of {len(by_level)} levels {by_level.min():.3f}"] if len(by_level) > 1 else []
    return Comparison(
        quantity,
        published,
        ours,
        found.error(name),
        verdict="agrees" if agrees else "differs",
        reason="; ".join(lowest + ([] if agrees else [f"not above {least:g}: {reason}"])),
    )


def _claims(results: Results) -> list[Claim]:
    easy, hard = _groups(results, "as distributed"), _groups(results, "as described")
    clean = {family: [one.select(level=0.0).mean(_tau(name)) for name in LEARNERS] for family, one in easy.items()}
    left = {family: [one.select(level=0.0).mean(_tau(name)) for name in LEARNERS] for family, one in hard.items()}
    ratios = {
        f"{family}, {there}": _by_level(_ratio(part), "ratio")
        for family, one in easy.items()
        for there, part in _ranges(one).items()
    }
    claims = [
        Claim(
            "Without noise trees and forests interpolate the rankings (data as distributed)",
            min(min(taus) for taus in clean.values()) > INTERPOLATES,
            _listed(clean),
        ),
        Claim(
            "With ten features of its own for each score they do not (corrects the text)",
            max(max(taus) for taus in left.values()) < 0.95,
            _listed(left),
        ),
        Claim(
            "Fully grown trees fit the noise: tau is below beta at every level, by less than a quarter of it (data as "
            "distributed)",
            all(ratio.min() > 0.75 and ratio.max() < 1 for ratio in ratios.values()),
            "tau by beta: "
            + "; ".join(
                f"{where}: mean {ratio.mean():.3f}, lowest {ratio.min():.3f}" for where, ratio in ratios.items()
            ),
        ),
    ]
    for learner in ("honest forest", "shallow tree"):
        gains = {
            f"{family} {design}": _gain(_half(one), learner)
            for design, groups in zip(DESIGNS, (easy, hard), strict=True)
            for family, one in groups.items()
        }
        claims.append(
            Claim(
                f"At alpha = .5 (nearest level: {_half(results).settings('level')[0]:g}) the {learner} is above the "
                "full tree",
                all(gain.mean("gain") > 0.03 for gain in gains.values()),
                ", ".join(f"{name}: {number(gain.mean('gain'), gain.error('gain'))}" for name, gain in gains.items()),
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
            "draw five new data sets. Taus are on positions; the published code takes them on lists of labels (see "
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
