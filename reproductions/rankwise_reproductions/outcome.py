"""What came out of an experiment: our figures next to the paper's, claims, and both as text for terminal and page."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, get_args

from rankwise_reproductions.experiment import Claim, Comparison, Experiment, Results, Scale, Verdict

COMPARISON_COLUMNS = ["quantity", "paper", "ours ± standard error", "verdict", "reason"]
CLAIM_COLUMNS = ["claim", "", "evidence"]


@dataclass(frozen=True)
class Outcome:
    """A finished experiment.

    Attributes
    ----------
    experiment : Experiment
        What was run.
    scale : {"full", "quick", "check"}
        How much of it.
    results : Results
        Its cells.
    comparisons : list of Comparison
        Figures next to the paper's.
    claims : list of Claim
        Statements that hold or not.
    made : dict
        When and with which versions, and so of earlier runs that it continues.
    """

    experiment: Experiment
    scale: Scale
    results: Results
    comparisons: list[Comparison]
    claims: list[Claim]
    made: dict[str, Any]

    @classmethod
    def of(cls, experiment: Experiment, scale: Scale, results: Results, made: dict[str, Any]) -> Outcome:
        """Compare and judge the results."""
        return cls(experiment, scale, results, experiment.compare(results), experiment.claims(results), made)

    def comparison_rows(self) -> list[list[str]]:
        """Texts of the comparisons, below `COMPARISON_COLUMNS`."""
        return [
            [row.quantity, number(row.published), number(row.ours, row.error), row.verdict, row.reason]
            for row in self.comparisons
        ]

    def claim_rows(self) -> list[list[str]]:
        """Texts of the claims, below `CLAIM_COLUMNS`."""
        return [[claim.text, "holds" if claim.holds else "does not hold", claim.evidence] for claim in self.claims]

    def summary(self) -> str:
        """How many figures agree and claims hold, in a line."""
        counts = Counter(row.verdict for row in self.comparisons)
        figures = [f"{verdict}: {counts[verdict]}" for verdict in get_args(Verdict) if counts[verdict]]
        held = f"claims that hold: {sum(claim.holds for claim in self.claims)} of {len(self.claims)}"
        return "; ".join([*figures, held])

    def as_dict(self) -> dict[str, Any]:
        """The outcome without its cells, ready for JSON, which has no NaN."""
        return {
            "experiment": self.experiment.id,
            "scale": self.scale,
            **self.made,
            "comparisons": [_without_nan(asdict(row)) for row in self.comparisons],
            "claims": [{**asdict(claim), "holds": bool(claim.holds)} for claim in self.claims],
        }


def number(value: float | str | None, error: float | None = None) -> str:
    """A figure as text, with as many digits as its standard error warrants.

    Examples
    --------
    >>> number(0.53217, 0.0041), number(1234.5678), number("about 0.5"), number(None)
    ('0.5322 ± 0.0041', '1235', 'about 0.5', '')
    """
    if value is None or isinstance(value, str):
        return value or ""
    if error is None or not math.isfinite(error) or error <= 0:
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"
    digits = max(0, 1 - math.floor(math.log10(error)))  # two digits of the error
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def _without_nan(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()
    }
