"""What rankings look like before anything is made of them: how many, of what kind, and what their pairs say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.aggregation import dispersion, is_stochastically_transitive, noise_margin, preference_matrix
from rankwise.cli.console import TextTable
from rankwise.cli.sources import Source
from rankwise.data import Rankings
from rankwise.data.positions import has_ties

_MOST_FEATURES = 6


@dataclass(frozen=True)
class Description:
    """What the data set holds."""

    n_rankings: int
    total_weight: float
    n_items: int
    kind: str
    n_distinct: int
    n_with_ties: int
    n_with_unlisted: int
    n_with_missing: int
    n_features: int
    features: list[str]
    notes: list[str]


@dataclass(frozen=True)
class Pairs:
    """How often pairs of items are compared, and what the majorities say.

    Counts are weights of rankings. Shares of rankings that tie a pair count half for either side. Transitivity, margin
    and dispersion are None where some pair is never compared.
    """

    n_pairs: int
    n_compared: int
    fewest_comparisons: float
    mean_comparisons: float
    most_comparisons: float
    share_tied: float
    transitive: bool | None
    strictly_transitive: bool | None
    noise_margin: float | None
    dispersion: float | None
    most_dispersion: float


def describe(source: Source) -> Description:
    """Count what the rankings hold."""
    rankings = source.rankings
    positions = rankings.positions
    return Description(
        n_rankings=len(rankings),
        total_weight=float(rankings.weights.sum()),
        n_items=rankings.n_items,
        kind=rankings.kind,
        n_distinct=len(rankings.group()),
        n_with_ties=int(has_ties(positions).sum()),
        n_with_unlisted=int(np.isposinf(positions).any(axis=1).sum()),
        n_with_missing=int(np.isnan(positions).any(axis=1).sum()),
        n_features=len(source.feature_names),
        features=source.feature_names,
        notes=source.notes,
    )


def describe_pairs(rankings: Rankings) -> Pairs:
    """Count the comparisons of each pair of items, and look at the majorities."""
    matrix = preference_matrix(rankings)
    pair = np.triu_indices(rankings.n_items, 1)
    counts, ties = matrix.counts[pair], matrix.ties[pair]
    all_compared = len(counts) > 0 and bool((counts > 0).all())
    return Pairs(
        n_pairs=len(counts),
        n_compared=int(np.count_nonzero(counts)),
        fewest_comparisons=float(counts.min(initial=np.inf)) if len(counts) else 0.0,
        mean_comparisons=float(counts.mean()) if len(counts) else 0.0,
        most_comparisons=float(counts.max(initial=0.0)),
        share_tied=float(ties.sum() / counts.sum()) if counts.any() else 0.0,
        transitive=is_stochastically_transitive(matrix) if all_compared else None,
        strictly_transitive=is_stochastically_transitive(matrix, strict=True) if all_compared else None,
        noise_margin=noise_margin(matrix) if all_compared else None,
        dispersion=dispersion(matrix) if all_compared else None,
        most_dispersion=len(counts) / 4,
    )


def description_table(data: str, facts: Description) -> TextTable:
    """The description as a table."""
    features = ", ".join(facts.features[:_MOST_FEATURES]) + (", ..." if facts.n_features > _MOST_FEATURES else "")
    weight = "" if facts.total_weight == facts.n_rankings else f" of total weight {facts.total_weight:,.10g}"
    rows = [
        ["rankings", f"{facts.n_rankings:,}{weight} ({facts.n_distinct:,} distinct)"],
        ["items", f"{facts.n_items:,}"],
        ["kind", facts.kind],
        ["with ties", _count(facts.n_with_ties, facts.n_rankings)],
        ["with unlisted items", _count(facts.n_with_unlisted, facts.n_rankings)],
        ["with missing items", _count(facts.n_with_missing, facts.n_rankings)],
        ["features", f"{facts.n_features:,}: {features}" if facts.features else "none"],
    ]
    return TextTable(f"Data: {data}", "; ".join(facts.notes), ["", ""], rows)


def pairs_table(facts: Pairs) -> TextTable:
    """What the pairs say as a table."""
    rows = [
        ["pairs compared", f"{facts.n_compared:,} of {facts.n_pairs:,}"],
        ["comparisons of a pair", _range(facts)],
        ["ties among them", f"{facts.share_tied:.1%}"],
        ["majorities", _transitivity(facts)],
        ["noise margin", _number(facts.noise_margin, "from 0, an even pair, to 0.5, all agree")],
        ["dispersion", _number(facts.dispersion, f"from 0, all rankings alike, to {facts.most_dispersion:g}")],
    ]
    return TextTable("Pairs of items", "", ["", ""], rows)


def _range(facts: Pairs) -> str:
    fewest, mean, most = facts.fewest_comparisons, facts.mean_comparisons, facts.most_comparisons
    return f"{fewest:,.10g}" if fewest == most else f"{fewest:,.10g} to {most:,.10g}, {mean:,.1f} in the mean"


def _transitivity(facts: Pairs) -> str:
    if facts.transitive is None:
        return "not known: some pair is never compared"
    if not facts.transitive:
        return "run in a circle: no ranking follows them all"
    if facts.strictly_transitive:
        return "stochastically transitive, strictly: one ranking follows them all"
    return "stochastically transitive, with even pairs: a ranking follows them all"


def _number(value: float | None, scale: str) -> str:
    return "not known: some pair is never compared" if value is None else f"{value:.3f} ({scale})"


def _count(number: int, total: int) -> str:
    return f"{number:,} ({number / total:.0%})" if number else "none"
