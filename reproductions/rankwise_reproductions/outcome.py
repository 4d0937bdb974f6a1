"""What came out of an experiment: our figures next to the paper's, claims, and both as text for terminal and page."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from rankwise_reproductions.experiment import Claim, Comparison, Experiment, Results, Scale, Verdict

COMPARISON_COLUMNS = ["quantity", "paper", "ours ± standard error", "verdict", "reason"]
CLAIM_COLUMNS = ["claim", "of", "", "evidence"]

#: verdicts that only a run of the paper's size may give, where the paper has a size
_JUDGED = ("agrees", "agrees after a correction", "differs")
_TOO_SMALL: Verdict = "too small to judge"
#: a standard error may be at most this share of the tolerance, so that two of them fit into it
_LARGEST_ERROR = 0.5


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
        Statements of the paper and of ours that hold or not.
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
        """Compare the results with the paper, and judge them if they are of its size or size does not matter."""
        comparisons, claims = experiment.compare(results), experiment.claims(results)
        if scale != "full" and not experiment.any_scale:
            comparisons = [replace(row, verdict=_TOO_SMALL) if row.verdict in _JUDGED else row for row in comparisons]
            claims = [replace(claim, holds=None) for claim in claims]
        return cls(experiment, scale, results, comparisons, claims, made)

    @property
    def failed(self) -> list[Claim]:
        """Claims that do not hold and are not known to fail."""
        return [claim for claim in self.claims if claim.holds is not None and not claim.holds and not claim.known]

    def comparison_rows(self) -> list[list[str]]:
        """Texts of the comparisons, below `COMPARISON_COLUMNS`."""
        return [
            [row.quantity, number(row.published), number(row.ours, row.error), row.verdict, row.reason]
            for row in self.comparisons
        ]

    def claim_rows(self) -> list[list[str]]:
        """Texts of the claims, below `CLAIM_COLUMNS`."""
        return [
            [
                claim.text,
                "the paper" if claim.of == "paper" else claim.of,
                _verdict(claim),
                "; ".join(filter(None, (claim.evidence, claim.known and f"known: {claim.known}"))),
            ]
            for claim in self.claims
        ]

    def summary(self) -> str:
        """How many figures agree and claims hold, in a line."""
        counts = Counter(row.verdict for row in self.comparisons)
        figures = [f"{verdict}: {counts[verdict]}" for verdict in get_args(Verdict) if counts[verdict]]
        n_open = sum(claim.holds is None for claim in self.claims)
        held = [
            self._held("paper", "statements of the paper that hold"),
            self._held("rankwise", "our own"),
            f"claims too small to judge: {n_open}" if n_open else "",
        ]
        return "; ".join([*figures, ", ".join(filter(None, held))])

    def _held(self, of: Literal["paper", "rankwise"], name: str) -> str:
        judged = [claim for claim in self.claims if claim.of == of and claim.holds is not None]
        n_known = sum(bool(claim.known) and not claim.holds for claim in judged)
        known = f" ({n_known} known not to)" if n_known else ""
        return f"{name}: {sum(bool(claim.holds) for claim in judged)} of {len(judged)}{known}" if judged else ""

    def notes(self) -> list[str]:
        """What the reader must know of the run: which part of the paper's it is, and which cells are missing."""
        notes = [f"the full scale is {self.experiment.fraction}"] if self.experiment.fraction else []
        notes += [f"left out: {count:,} cells, {why}" for why, count in self.results.left_out.items()]
        if self.results.n_others:
            notes.append(f"not shown: {self.results.n_others:,} stored cells, of other data or an earlier version")
        return notes

    def as_dict(self) -> dict[str, Any]:
        """The outcome without its cells, ready for JSON, which has no NaN."""
        return {
            "experiment": self.experiment.id,
            "scale": self.scale,
            "fraction": self.experiment.fraction,
            "left_out": self.results.left_out,
            **self.made,
            "comparisons": [_without_nan(asdict(row)) for row in self.comparisons],
            "claims": [
                {**asdict(claim), "holds": None if claim.holds is None else bool(claim.holds)} for claim in self.claims
            ],
        }


def judge(published: float, ours: float, error: float | None, tolerance: float) -> Verdict:
    """Whether a figure agrees with the paper's.

    The tolerance comes from the paper (half a unit of the last digit that it prints, or the spread that it reports)
    and not from our own standard error: otherwise a shorter run would agree more easily.

    Parameters
    ----------
    published : float
        The paper's figure.
    ours : float
        Our figure.
    error : float or None
        Its standard error; None if nothing is random, NaN if it is not known.
    tolerance : float
        The largest difference that counts as agreement.

    Returns
    -------
    str
        "agrees" or "differs"; "too small to judge" if the standard error is more than half of the tolerance, unless
        the difference exceeds the tolerance by more than two standard errors.

    Examples
    --------
    >>> judge(0.93, 0.934, 0.001, 0.005), judge(0.93, 0.94, 0.001, 0.005), judge(0.93, 0.934, 0.01, 0.005)
    ('agrees', 'differs', 'too small to judge')
    """
    difference, error = abs(ours - published), 0.0 if error is None else error
    rounding = 1e-9 * max(1.0, abs(published))  # of the subtraction, where the difference is the tolerance
    if difference > tolerance + 2 * error + rounding:
        return "differs"
    if not error <= _LARGEST_ERROR * tolerance or math.isnan(difference):
        return _TOO_SMALL
    return "agrees" if difference <= tolerance + rounding else "differs"


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


def _verdict(claim: Claim) -> str:
    if claim.holds is None:
        return _TOO_SMALL
    if claim.holds:
        return "holds"
    return "does not hold, as known" if claim.known else "does not hold"


def _without_nan(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()
    }
