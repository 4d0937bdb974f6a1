"""Examples, lemmas and remarks of Luo and Li, worked by the code of the library."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from scipy.interpolate import BarycentricInterpolator
from scipy.stats import pearsonr, uniform

from rankwise.screening import (
    concordant_divergence,
    oracle_partition,
    preference_probability,
    preimages,
    principal_decision_ratio,
    refined_intervals,
    split_losses,
    swap_gains,
)
from rankwise_reproductions.drawing import BLUE, GREEN, GREY, ORANGE, tidy
from rankwise_reproductions.experiment import Cell, Claim, Comparison, Experiment, Inputs, Results, Scale, Values

#: Example 3, page 10: panel (a), and panel (b), where the second point has moved
X, Y = np.array([0.1, 0.3, 0.5, 0.6, 0.9]), np.array([5, 2.1, 1, 2, 4])
X_B, Y_B = np.array([0.1, 0.25, 0.5, 0.6, 0.9]), np.array([5, 3.9, 1, 2, 4])
PANELS = {"a": (X, Y), "b": (X_B, Y_B)}
#: Example 7: borders of the intervals of its table, a threshold inside each, and the probabilities printed there
BORDERS = (0, 1, 1.2, 1.7, 2.2)
THRESHOLDS, PUBLISHED_PREFERENCES = (-0.5, 0.5, 1.1, 1.5, 1.9, 2.5), (0, 1, 0, 0.5, 0.5, 0)
#: Figure 3: the two splits of each panel, as its text describes them, and the printed numbers of pre-images of the
#: first and of the second transform on [0, 1/2] and [1/2, 1]
FIGURE_3: dict[str, tuple[tuple[float, float], tuple[tuple[int, int], tuple[int, int]]]] = {
    "a": ((2.5, -0.5), ((0, 0), (0, 0))),
    "b": ((1.5, -0.5), ((1, 0), (0, 0))),
    "c": ((1.9, -0.5), ((1, 0), (0, 0))),
    "d": ((2.5, 0.5), ((0, 0), (1, 1))),
    "e": ((1.5, 0.5), ((1, 0), (1, 1))),
    "f": ((1.4, 0.5), ((1, 0), (1, 1))),
}
#: not an example of the paper: five values, one of them far away
FAR = np.array([0.0, 1, 2, 3, 100])


def _line(x: Any) -> Any:
    return x + 1.2


def _arch(x: Any) -> Any:
    return 4 * x - 4 * x**2


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    return [{"place": place} for place in _PLACES]


def _compute(cell: Cell, inputs: Inputs) -> Values:
    return _PLACES[cell["place"]]()


def _example_2() -> Values:
    return {"upper": (oracle_partition(Y, 2).upper + 1).tolist()}


def _example_3(panel: str = "a") -> Values:
    x, y = PANELS[panel]
    bend = (x - 0.5) ** 2
    found = oracle_partition(y)
    return {
        "oracle": float(found.loss),
        "sizes": [len(found.lower), len(found.upper)],
        "one and four": float(oracle_partition(y, 1).loss),
        "x": float(split_losses(x, y).loss.min()),
        "x^2": float(split_losses(x**2, y).loss.min()),
        "(x - 1/2)^2": float(split_losses(bend, y).loss.min()),
        "log ratio": principal_decision_ratio(bend, x, y),
    }


def _example_5() -> Values:
    """An interpolator of responses that have nothing to do with x is split like the oracle, and T0 is 0."""
    rng = np.random.default_rng(0)
    off = zero = tried = 0
    for n in range(5, 13):
        for _ in range(10):
            x, y = np.sort(rng.random(n)), rng.standard_normal(n)
            z = BarycentricInterpolator(x, y)(x)
            tried += 1
            off += int(not np.isclose(split_losses(z, y).loss.min(), oracle_partition(y).loss))
            zero += bool(concordant_divergence(z, y) < 1e-9)
    new = rng.random(200)
    n = 12
    x, y = np.sort(rng.random(n)), rng.standard_normal(n)
    elsewhere = concordant_divergence(BarycentricInterpolator(x, y)(new), rng.standard_normal(200), normalize=True)
    return {"tried": tried, "not the oracle": off, "T0 is 0": zero, "T0 / G on new rows": float(elsewhere)}


def _figure_2() -> Values:
    """Losses of all partitions into two and three of the values of both panels."""
    found: Values = {}
    for panel, (_, y) in PANELS.items():
        pairs = list(combinations(range(5), 2))
        losses = [_loss(y, pair) for pair in pairs]
        found[panel] = losses
        found[f"best of {panel}"] = [place + 1 for place in pairs[int(np.argmin(losses))]]
    return found


def _figure_3() -> Values:
    ends = refined_intervals(_line, _arch, 0, 1)
    counts = {
        panel: [
            np.isfinite(preimages(f, c, ends)).astype(int).tolist() for f, c in zip((_line, _arch), cuts, strict=True)
        ]
        for panel, (cuts, _) in FIGURE_3.items()
    }
    preferences = {
        panel: float(preference_probability(_line, _arch, FIGURE_3[panel][0], uniform()))
        for panel in ("a", "b", "c", "d")
    }
    return {"ends": ends.round(6).tolist(), "pre-images": counts, "preferences": preferences}


def _example_7() -> Values:
    return {"preferences": [float(preference_probability(_line, _arch, c, uniform())) for c in THRESHOLDS]}


def _lemma_15() -> Values:
    """All triples of random values in which two pairs are reversed: swapping the wider one gains more."""
    rng = np.random.default_rng(0)
    wrong = tried = 0
    for _ in range(150):
        n = int(rng.integers(4, 9))
        y = np.sort(rng.standard_normal(n))
        for gamma in range(n - 2):
            left = np.arange(n) <= gamma + 2
            left[gamma] = False  # beta and alpha are the two values above it, so that no other pair is reversed
            if left.all() or left.sum() < 2:
                continue
            gains = swap_gains(y, left)
            column = int(np.flatnonzero(np.flatnonzero(~left) == gamma)[0])
            tried += 1
            wrong += int(gains[-1, column] <= gains[-2, column])
    return {"tried": tried, "wrong": wrong}


def _propositions_7_8() -> Values:
    """Random rows and splits: a split never loses more than the node, and an empty one loses as much."""
    rng = np.random.default_rng(0)
    worse = unequal = tried = 0
    for _ in range(300):
        z, y = rng.random(8), rng.standard_normal(8)
        cut = float(rng.uniform(-0.2, 1.2))
        ratio = principal_decision_ratio(z, z, y, thresholds=(cut, -1.0))
        empty = cut < z.min() or cut >= z.max()
        tried += 1
        worse += bool(ratio < -1e-9)
        unequal += int(empty and abs(ratio) > 1e-9)
    return {"tried": tried, "worse": worse, "unequal": unequal}


def _lemma_1() -> Values:
    """Partitions of random values by size; Lemma 1 says which is the best."""
    rng = np.random.default_rng(0)
    wrong = tried = 0
    for n in range(3, 7):
        for _ in range(20):
            y = rng.standard_normal(n)
            for size in range(1, n):
                tried += 1
                best = min(_loss(y, chosen) for chosen in combinations(range(n), size))
                wrong += not np.isclose(best, oracle_partition(y, size).loss)
    return {"tried": tried, "wrong": wrong}


def _remark_2() -> Values:
    smallest = np.arange(5) < 2
    loss = float(split_losses(~smallest, FAR).loss[0])
    return {
        "loss": loss,
        "after a swap": loss - float(swap_gains(FAR, smallest)[0, 2]),
        "best": float(oracle_partition(FAR, 2).loss),
    }


def _remark_16() -> Values:
    normal = np.random.default_rng(0).standard_normal(100_000)
    square = normal**2
    return {
        "left": float(pearsonr(square, square).statistic),
        "right": float(abs(pearsonr(square, normal).statistic * pearsonr(normal, square).statistic)),
    }


def _section_5() -> Values:
    far_y, far_x = Y.copy(), X.copy()
    far_y[0], far_x[-1] = 500, 90
    return {
        name: float(concordant_divergence(x, y))
        for name, x, y in (("as it is", X, Y), ("outlier in y", X, far_y), ("outlier in x", far_x, Y))
    }


_PLACES: dict[str, Callable[[], Values]] = {
    "Example 2": _example_2,
    "Example 3": _example_3,
    "Example 3 (b)": lambda: _example_3("b"),
    "Example 5": _example_5,
    "Example 7": _example_7,
    "Figure 2": _figure_2,
    "Figure 3": _figure_3,
    "Lemma 1": _lemma_1,
    "Lemma 15": _lemma_15,
    "Propositions 7 and 8": _propositions_7_8,
    "Remark 2": _remark_2,
    "Remark 16": _remark_16,
    "Section 5": _section_5,
}


def _loss(y: Any, chosen: tuple[int, ...]) -> float:
    """Sum of squares within two parts."""
    inside = np.isin(np.arange(len(y)), chosen)
    return float(sum(((part - part.mean()) ** 2).sum() for part in (y[inside], y[~inside])))


def _of(results: Results, place: str) -> Values:
    ((_, found),) = results.select(place=place)
    return found


def _compare(results: Results) -> list[Comparison]:
    split, swap, factor, far = (_of(results, place) for place in ("Example 3", "Remark 2", "Remark 16", "Section 5"))
    upper = "{" + ", ".join(f"y{i}" for i in sorted(_of(results, "Example 2")["upper"], reverse=True)) + "}"
    square, bend = (abs(split[name] - split["oracle"]) < 1e-9 for name in ("x^2", "(x - 1/2)^2"))
    oracle = f"that of the oracle partition, {split['oracle']:.2f}"
    rows = [
        Comparison(
            "Example 2: the part of P** with the two largest of five values",
            "{y5, y2}",
            upper,
            None,
            "agrees" if upper == "{y5, y2}" else "differs",
            "y1 is larger than y2: a misprint",
        ),
        Comparison(
            "Example 3: smallest loss of a split on x^2",
            oracle,
            split["x^2"],
            None,
            "agrees" if square else "differs",
            f"all x are positive, where x^2 is monotone, so that its loss is that of x, {split['x']:.4f}",
        ),
        Comparison(
            "Example 3: smallest loss of a split on (x - 1/2)^2",
            oracle,
            split["(x - 1/2)^2"],
            None,
            "agrees after a correction" if bend else "differs",
            "(x - 1/2)^2 instead of x^2",
        ),
        *_figure_rows(results),
    ]
    for threshold, published, ours in zip(
        THRESHOLDS, PUBLISHED_PREFERENCES, _of(results, "Example 7")["preferences"], strict=True
    ):
        agrees = abs(published - ours) < 1e-6
        rows.append(
            Comparison(
                f"Example 7: p of x + 1.2 over 4x - 4x^2 at C = {threshold}",
                published,
                ours,
                None,
                "agrees" if agrees else "agrees after a correction" if abs(published + ours) < 1e-6 else "differs",
                ""
                if agrees
                else "equation 14 gives the opposite sign, and the text below calls this value the minimum",
            )
        )
    rows += [
        Comparison(
            "Remark 2: is P* = {0, 1} of (0, 1, 2, 3, 100) a local minimum under swaps?",
            "yes, both P* and P** are",
            f"loss {swap['loss']:.1f}, and {swap['after a swap']:.2f} after a swap of 0 and 100",
            None,
            "differs" if swap["after a swap"] < swap["loss"] - 1e-9 else "agrees",
            f"one of the two is the global minimum, here P** with {swap['best']:.1f}; the other need not be a local "
            f"one",
        ),
        Comparison(
            "Remark 16: rho(theta(x), y) = rho(theta(x), x) rho(x, y), for normal x and y = theta(x) = x^2",
            "holds for every transformation",
            f"{factor['left']:.0f} on the left, {factor['right']:.3f} on the right",
            None,
            "differs" if abs(factor["left"] - factor["right"]) > 0.05 else "agrees",
            "it holds where theta(x) and y depend on each other through x in a linear way",
        ),
        Comparison(
            "Section 5: T0 of example 3 when the 5 of y becomes 500",
            "robust against outliers",
            f"{far['as it is']:.2f} becomes {far['outlier in y']:.2f}",
            None,
            "differs" if far["outlier in y"] > 2 * far["as it is"] else "agrees",
            f"T0 is linear in y; it is robust in the feature, where an x of 90 instead of 0.9 leaves "
            f"{far['outlier in x']:.2f}",
        ),
    ]
    return rows


def _figure_rows(results: Results) -> list[Comparison]:
    """Figure 2, with the sizes of example 3, and the pre-images of figure 3."""
    rows = []
    printed = {"a": ("{y1, y5}", "3 and 2"), "b": ("{y3, y4}", "2 and 3")}
    for panel, (pair, sizes) in printed.items():
        figure = _of(results, "Figure 2")[f"best of {panel}"]
        ours = "{" + ", ".join(f"y{place}" for place in figure) + "}"
        rows.append(
            Comparison(
                f"Figure 2 ({panel}): the part of two in the best partition into two and three",
                pair,
                ours,
                None,
                "agrees" if ours == pair else "differs",
                "" if ours == pair else "all ten partitions were tried",
            )
        )
        case = _of(results, "Example 3" if panel == "a" else "Example 3 (b)")
        text = " and ".join(map(str, case["sizes"]))
        rows.append(
            Comparison(
                f"Example 3 ({panel}): sizes of the smaller and the larger values in the best partition of any sizes",
                sizes,
                text,
                None,
                "agrees" if text == sizes else "differs",
                f"loss {case['oracle']:.2f}; with sizes 1 and 4 at best {case['one and four']:.4f}",
            )
        )
    for panel, (cuts, printed_counts) in FIGURE_3.items():
        counts = _of(results, "Figure 3")["pre-images"][panel]
        ours, wanted = (
            "; ".join(f"theta{number} {first} {second}" for number, (first, second) in enumerate(table, start=1))
            for table in (counts, printed_counts)
        )
        rows.append(
            Comparison(
                f"Figure 3 ({panel}): pre-images of C1 = {cuts[0]} and C2 = {cuts[1]} on [0, 1/2] and [1/2, 1]",
                wanted,
                ours,
                None,
                "agrees" if ours == wanted else "differs",
                ""
                if ours == wanted
                else "the text puts C1 of panel (c) into [1.7, 2.2), which x + 1.2 takes on [1/2, 1]",
            )
        )
    return rows


def _claims(results: Results) -> list[Claim]:
    split, lemma, far = (_of(results, place) for place in ("Example 3", "Lemma 1", "Section 5"))
    second, swap, factor = (_of(results, place) for place in ("Example 3 (b)", "Remark 2", "Remark 16"))
    wide, parts, inter = (_of(results, place) for place in ("Lemma 15", "Propositions 7 and 8", "Example 5"))
    figure, upper = _of(results, "Figure 3"), _of(results, "Example 2")["upper"]
    preferences = _of(results, "Example 7")["preferences"]
    return [
        Claim(
            "Example 2: the two largest of the five values are y5 and y2",
            sorted(upper) == [2, 5],
            f"y{upper[0]} and y{upper[1]}",
            known="a misprint for y1",
        ),
        Claim(
            "Example 3: z = x^2 attains the oracle partition",
            abs(split["x^2"] - split["oracle"]) < 1e-9,
            f"loss {split['x^2']:.4f}, the oracle's is {split['oracle']:.2f}",
            known="all x are positive, where x^2 is monotone; (x - 1/2)^2 attains it",
        ),
        Claim(
            "Example 3: the best sizes are 2 and 3 in both panels, in place of 1 and 4",
            split["sizes"] == [3, 2] and second["sizes"] == [2, 3],
            f"losses {split['oracle']:.2f} and {second['oracle']:.2f}, with sizes 1 and 4 at best "
            f"{split['one and four']:.2f} and {second['one and four']:.2f}",
        ),
        Claim(
            "Example 5: an interpolator of the responses is split as the oracle, whatever they are",
            inter["not the oracle"] == 0 and inter["T0 is 0"] == inter["tried"],
            f"{inter['tried']} samples of 5 to 12 random responses; on new rows T0 / G of one of them is "
            f"{inter['T0 / G on new rows']:.2f}",
        ),
        Claim(
            "Example 7: for 0 < C < 1 the preference of the first feature is 1",
            abs(preferences[1] - 1) < 1e-6,
            f"{preferences[1]:.2f} by equation 14",
            known="the sign: the text below the table calls this value the minimum",
        ),
        Claim(
            "Figure 3: in panel (c) the pre-images of theta1 are 1 and 0",
            figure["pre-images"]["c"][0] == [1, 0],
            f"{figure['pre-images']['c'][0][0]} and {figure['pre-images']['c'][0][1]}",
            known="a misprint: x + 1.2 takes values of [1.7, 2.2) on [1/2, 1]",
        ),
        Claim(
            "Example 6: C1 and C2 decide which transform is preferred: none in (a), the first in (b) and (c), the "
            "second in (d)",
            list(figure["preferences"].values()) == [0, 0.5, 0.5, -1],
            ", ".join(f"({panel}) {value:.1f}" for panel, value in figure["preferences"].items()),
        ),
        Claim(
            "Propositions 7 and 8: a split never loses more than the node, and as much if it leaves a side empty",
            parts["worse"] == 0 and parts["unequal"] == 0,
            f"{parts['tried']} random splits of 8 rows",
        ),
        Claim(
            "Lemma 15: of two reversed pairs with one value in common, swapping the wider one gains more",
            wide["wrong"] == 0,
            f"{wide['tried']} pairs in samples of 4 to 8 random values",
        ),
        Claim(
            "Remark 2: both P* and P** are local minima",
            swap["after a swap"] >= swap["loss"] - 1e-9,
            f"{{0, 1}} of (0, 1, 2, 3, 100) has loss {swap['loss']:.1f}, and {swap['after a swap']:.2f} after a swap "
            "of 0 and 100",
            known="one of the two is the global minimum, and the other need not be a local one",
        ),
        Claim(
            "Remark 16: rho(theta(x), y) = rho(theta(x), x) rho(x, y) for any transformation",
            abs(factor["left"] - factor["right"]) < 0.05,
            f"{factor['left']:.0f} and {factor['right']:.3f} for normal x and y = theta(x) = x^2",
            known="it holds where theta(x) and y depend on each other through x in a linear way",
        ),
        Claim(
            "Section 5: T0 is robust against outliers",
            far["outlier in y"] < 2 * far["as it is"],
            f"{far['as it is']:.2f} becomes {far['outlier in y']:.2f} when a 5 of y becomes 500",
            known="T0 is linear in y; it is robust in the feature, of which it uses the ranks",
        ),
        Claim(
            "Example 3: some transformation of x splits as well as the oracle partition, and x does not",
            abs(split["(x - 1/2)^2"] - split["oracle"]) < 1e-9 and split["x"] > split["oracle"] + 1,
            f"oracle {split['oracle']:.2f}, (x - 1/2)^2 {split['(x - 1/2)^2']:.2f}, x {split['x']:.4f}; log of the "
            f"principal decision ratio {split['log ratio']:.4f}, in panel (b) {second['log ratio']:.4f}",
            of="rankwise",
        ),
        Claim(
            "Lemma 1: the best partition into parts of given sizes has the smallest or the largest values in one part",
            lemma["wrong"] == 0,
            f"all partitions of {lemma['tried']} random samples and sizes, of 3 to 6 values",
        ),
        Claim(
            "Example 7: the preference of the first feature is smallest for 0 < C < 1, and largest for 1.2 < C < 2.2",
            np.allclose(preferences, (0, -1, 0, 0.5, 0.5, 0), atol=1e-6),
            ", ".join(f"{value:.2f} (C = {c})" for c, value in zip(THRESHOLDS, preferences, strict=True)),
        ),
        Claim(
            "T0 does not change when outliers of the feature keep their rank",
            abs(far["as it is"] - far["outlier in x"]) < 1e-9,
            f"{far['as it is']:.2f} and {far['outlier in x']:.2f}",
            of="rankwise",
        ),
    ]


def _draw_splits(results: Results, figure: Any) -> None:
    figure.set_size_inches(8, 3.2)
    left, right = figure.subplots(1, 2)
    for name, z, color, marker in (("x", X, ORANGE, "^"), ("(x - 1/2)^2", (X - 0.5) ** 2, BLUE, "o")):
        found = split_losses(z, Y)
        left.plot(found.n_left, found.loss, color=color, marker=marker, label=f"split on {name}")
    sizes = range(1, len(Y))
    left.plot(sizes, [oracle_partition(Y, size).loss for size in sizes], "s:", color=GREEN, label="oracle partition")
    left.set_xticks(list(sizes))
    left.legend(fontsize=8, frameon=False)
    left.set_title("Example 3", fontsize=9)
    tidy(left, x="values on one side", y="sum of squares within")
    edges = [-1, *BORDERS, 3]
    right.stairs(PUBLISHED_PREFERENCES, edges, color=ORANGE, label="printed", lw=3, baseline=None)
    right.stairs(
        _of(results, "Example 7")["preferences"], edges, color=BLUE, label="equation 14", lw=1.5, baseline=None
    )
    right.legend(fontsize=8, frameon=False)
    right.set_title("Example 7", fontsize=9)
    tidy(right, x="threshold C", y="preference p of x + 1.2")


def _draw_partitions(results: Results, figure: Any) -> None:
    """Figure 2 of the paper: the points, the oracle partition, and the losses of all parts of two."""
    figure.set_size_inches(8.5, 5)
    for row, (panel, (x, y)) in zip(figure.subplots(2, 3), PANELS.items(), strict=True):
        found = oracle_partition(y)
        row[0].plot(x, y, "o", color="0.2", ms=5)
        for part, color in ((found.lower, BLUE), (found.upper, ORANGE)):
            row[1].plot(x[part], y[part], "o", color=color, ms=5)
            row[1].hlines(y[part].mean(), 0, 1, color=color, lw=1)
            row[1].vlines(x[part], y[part].mean(), y[part], color=color, ls=":", lw=1)
        losses = np.full((5, 5), np.nan)
        places = np.argsort(np.argsort(y))
        for (i, j), loss in zip(combinations(range(5), 2), _of(results, "Figure 2")[panel], strict=True):
            losses[places[i], places[j]] = losses[places[j], places[i]] = loss
        image = row[2].imshow(losses, origin="lower", cmap="viridis_r")
        for (i, j), loss in np.ndenumerate(losses):
            if np.isfinite(loss):
                row[2].text(j, i, f"{loss:.1f}", ha="center", va="center", fontsize=6, color="white")
        row[2].set_xticks(range(5), [f"y({i})" for i in range(1, 6)], fontsize=7)
        row[2].set_yticks(range(5), [f"y({i})" for i in range(1, 6)], fontsize=7)
        image.set_clim(0, 12)
        for ax, title in zip(row[:2], ("the data", "oracle partition"), strict=True):
            ax.set(xlim=(0, 1), ylim=(0.5, 5.5))
            ax.set_title(f"({panel}) {title}", fontsize=8)
            tidy(ax, x="x", y="y")
        row[2].set_title(f"({panel}) loss by the part of two", fontsize=8)


def _draw_preimages(results: Results, figure: Any) -> None:
    """Figure 3 of the paper, with x + 1.2, as its text has it."""
    figure.set_size_inches(8.5, 4.6)
    grid = np.linspace(0, 1, 201)
    found = _of(results, "Figure 3")
    for ax, (panel, (cuts, _)) in zip(figure.subplots(2, 3).flat, FIGURE_3.items(), strict=True):
        for f, cut, color, name in ((_line, cuts[0], BLUE, "theta1"), (_arch, cuts[1], ORANGE, "theta2")):
            ax.plot(grid, f(grid), color=color, lw=1.5, label=name)
            ax.axhline(cut, color=color, ls=":", lw=1)
            places = preimages(f, cut, found["ends"])
            ax.plot(places, np.where(np.isfinite(places), cut, np.nan), "o", color=color, ms=4)
        ax.axvline(0.5, color=GREY, ls="--", lw=1)
        ax.set_ylim(-0.8, 2.8)
        counts = found["pre-images"][panel]
        ax.set_title(
            f"({panel}) theta1 {counts[0][0]} {counts[0][1]}, theta2 {counts[1][0]} {counts[1][1]}", fontsize=8
        )
        tidy(ax, x="x" if panel in "def" else None)
        if panel == "a":
            ax.legend(fontsize=7, frameon=False, loc="center right")
    figure.suptitle("Pre-images of C1 and C2 (dotted) on [0, 1/2] and [1/2, 1]", fontsize=9)


EXPERIMENTS = (
    Experiment(
        id="tree-ranking/examples",
        title="Examples, Figures 2 and 3, Lemmas 1 and 15: worked by the library",
        about=(
            "Small examples of the paper: partitions of five values, splits on a transformed feature, the "
            "preference of one feature over another as a function of the threshold, and statements with a "
            "counterexample. Where the text and its own formulas part, we follow the formulas. Seconds at every "
            "scale."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        any_scale=True,
        pictures={"splits": _draw_splits, "partitions": _draw_partitions, "preimages": _draw_preimages},
    ),
)
