"""Covariates of people as columns of a multinomial logit, and what it says: for `segments`.

Categories become columns of zeros and ones, the first one being the reference; columns that say nothing are left out,
each with a note.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankwise._features import set_feature_names
from rankwise._tables import TextTable, counted, make_frame, short_name
from rankwise._typing import BoolArray, FloatArray
from rankwise.analysis.base import Result, features_of
from rankwise.analysis.group_differences import p_text
from rankwise.label_ranking.numeric import NumericFeatures

# A column whose part that the others do not explain is smaller than this share of it is a sum of them.
_COLLINEAR = 1e-8
_MOST_COLUMNS = 200
# The prior of a slope, per standard deviation of the covariate, has the standard deviation 10.
_OPEN_ERROR = 5.0


class Covariates(NamedTuple):
    """Columns with names, and what was done to get them."""

    columns: FloatArray
    names: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class MembershipModel(Result):
    """Who is in which segment: a multinomial logit of covariates, with the first segment as reference.

    Attributes
    ----------
    segments : tuple of str
        Names of the segments.
    names : tuple of str
        The intercept, then the covariates.
    coef : ndarray of shape (n_segments, 1 + n_covariates)
        Change of the log odds of the segment against the first one; 0 in the first row.
    standard_error : ndarray of shape (n_segments, 1 + n_covariates)
        Their standard errors, which hold that memberships are not known for sure.
    p_value : ndarray of shape (n_segments, 1 + n_covariates)
        Against 0: of slopes by the likelihood ratio of the fit without the slope (with more than 40 slopes by Wald's
        test), of intercepts by Wald's test; NaN in the first row.
    undetermined : ndarray of bool of shape (n_segments, 1 + n_covariates)
        Coefficients that would grow without bound but for the prior, because a covariate nearly separates a segment
        from the first one. They are not shown.
    statistic : float
        Likelihood ratio of the model with covariates against the same number of segments without.
    degrees_of_freedom : int
        Slopes of all segments.
    p_value_of_all : float
        Of the likelihood ratio by the chi-square law.
    """

    segments: tuple[str, ...]
    names: tuple[str, ...]
    coef: FloatArray
    standard_error: FloatArray
    p_value: FloatArray
    undetermined: BoolArray
    statistic: float
    degrees_of_freedom: int
    p_value_of_all: float

    @property
    def sentence(self) -> str:
        """Whether covariates say anything about the segments, and the surest slope."""
        test = p_text(self.p_value_of_all)
        freedom = counted(self.degrees_of_freedom, "degree of freedom", "degrees of freedom")
        what = f"likelihood ratio {self.statistic:.1f}, {freedom}, {test}"
        if self.p_value_of_all > 0.05:
            return f"No link between the covariates and the segments was found: {what}."
        slopes = np.where(np.isnan(self.p_value), np.inf, self.p_value)[:, 1:]
        g, column = np.unravel_index(int(np.argmin(slopes)), slopes.shape)
        more = "more" if self.coef[g, column + 1] > 0 else "less"
        name = short_name(self.names[column + 1])
        who = (
            f"people with {name} are {more} often"
            if " = " in name
            else f"the larger {name}, the {more} often people are"
        )
        return (
            f"The covariates are linked to the segments: {what}. The surest link: {who} in {self.segments[g]} "
            f"than in {self.segments[0]}."
        )

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per segment, but the first, and covariate: of pandas by default.

        Columns: ``segment``, ``covariate``, ``coef`` and ``standard_error`` (NaN where not determined), ``p_value``.
        """
        others = range(1, len(self.segments))
        columns = {
            "segment": [self.segments[g] for g in others for _ in self.names],
            "covariate": list(self.names) * len(others),
            "coef": np.where(self.undetermined, np.nan, self.coef)[1:].ravel(),
            "standard_error": np.where(self.undetermined, np.nan, self.standard_error)[1:].ravel(),
            "p_value": self.p_value[1:].ravel(),
        }
        return make_frame(columns, backend)

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return {
            "reference": self.segments[0],
            "likelihood_ratio": self.statistic,
            "degrees_of_freedom": self.degrees_of_freedom,
            "p_value": self.p_value_of_all,
            "coefficients": [
                {
                    "segment": self.segments[g],
                    "covariate": name,
                    "coef": None if self.undetermined[g, column] else float(self.coef[g, column]),
                    "standard_error": None if self.undetermined[g, column] else float(self.standard_error[g, column]),
                    "p_value": None if np.isnan(p := self.p_value[g, column]) else float(p),
                }
                for g in range(1, len(self.segments))
                for column, name in enumerate(self.names)
            ],
        }

    def tables(self) -> list[TextTable]:
        """The coefficients as a table of text."""
        rows = [
            [
                self.segments[g],
                short_name(name),
                self._coefficient(g, column),
                "-" if np.isnan(p := self.p_value[g, column]) else p_text(p).removeprefix("p = ").removeprefix("p "),
            ]
            for g in range(1, len(self.segments))
            for column, name in enumerate(self.names)
        ]
        columns = ["segment", "covariate", "log odds ± standard error", "p"]
        return [TextTable(f"Who is in which segment, against {self.segments[0]}", self.sentence, columns, rows)]

    def _coefficient(self, g: int, column: int) -> str:
        if not self.undetermined[g, column]:
            return f"{self.coef[g, column]:.2g} ± {self.standard_error[g, column]:.1g}"
        return "not determined" if column == 0 else f"very {'positive' if self.coef[g, column] > 0 else 'negative'}"


def open_slopes(model: MembershipModel) -> list[str]:
    """Notes on slopes that the data leave open, so that the prior decides: a covariate that parts segments wholly."""
    return [
        f"the slope of {short_name(model.names[column + 1])} for {model.segments[g]}, and so its intercept, is not "
        f"determined: it nearly separates {model.segments[g]} from {model.segments[0]}"
        for g, column in np.argwhere(model.undetermined[:, 1:])[:3].tolist()
    ]


def covariates_of(X: Any, n: int, *, names: Any = None, categorical: Any = None) -> Covariates:
    """The columns of features of any form that say something about people, with names and notes."""
    features = features_of(X, names, categorical)
    if features.X is None:
        raise ValueError("X has no columns; give at least one covariate, or X=None")
    if len(features.X) != n:
        raise ValueError(f"X has {len(features.X):,} rows, but there are {n:,} rankings; give one row for each")
    encoder = NumericFeatures(features.categorical).fit(features.X)
    columns = encoder.transform(features.X)
    set_feature_names(encoder, features.names)
    shown = [str(name) for name in encoder.get_feature_names_out()]
    notes = []
    cells: Any = np.asarray(features.X, dtype=object)
    missing = int(((cells == None) | (cells != cells)).any(axis=1).sum())  # noqa: E711
    if missing:
        notes.append(
            f"{counted(missing, 'person', 'people')} without a covariate: its median, or a category of its own, "
            "stands for it"
        )
    kept = _telling(columns, shown, features.names, notes)
    if len(kept) > _MOST_COLUMNS:
        raise ValueError(
            f"the covariates have {len(kept):,} columns, one for each category; give at most {_MOST_COLUMNS}, such as "
            "ages in place of birthdays"
        )
    return Covariates(np.ascontiguousarray(columns[:, kept]), tuple(shown[c] for c in kept), tuple(notes))


def _telling(columns: FloatArray, shown: Sequence[str], features: Sequence[str], notes: list[str]) -> list[int]:
    """The columns that are not constant, not the first of their categories, and no sums of those before them."""
    kept: list[int] = []
    references: list[str] = []
    base = np.ones((len(columns), 1)) / np.sqrt(len(columns))
    previous = ""
    for column, name in enumerate(shown):
        own = columns[:, column]
        is_category = name not in features
        group = max((f for f in features if name.startswith(f"{f} = ")), key=len, default="") if is_category else ""
        is_first, previous = is_category and group != previous, group
        if is_first and np.ptp(own) > 0:
            references.append(short_name(name))
            continue
        rest = own - base @ (base.T @ own)
        rest -= base @ (base.T @ rest)
        if np.ptp(own) == 0:
            notes.append(f"covariate {short_name(name)} is the same for all and is left out")
        elif np.linalg.norm(rest) <= _COLLINEAR * np.linalg.norm(own - own.mean()):
            notes.append(f"covariate {short_name(name)} follows from the other columns and is left out")
        else:
            kept.append(column)
            base = np.column_stack([base, rest / np.linalg.norm(rest)])
    if references:
        notes.append(f"categories are compared with {', '.join(references)}")
    return kept


def membership_model(
    segments: tuple[str, ...],
    covariates: Covariates,
    columns: FloatArray,
    fitted: Any,
    statistic: float,
    ratios: FloatArray | None,
) -> MembershipModel:
    """The logit of a fitted mixture with its tests.

    ``statistic`` is the likelihood ratio against no covariates, ``ratios`` are those of the single slopes against 0;
    without them there is Wald's test. ``columns`` are the covariates of the people who were counted.
    """
    from scipy.stats import chi2, norm

    coef, errors = fitted.membership_coef_, fitted.membership_se_
    with np.errstate(invalid="ignore", divide="ignore"):
        p_value = 2 * norm.sf(np.abs(coef / errors))
    if ratios is not None:
        p_value[:, 1:] = chi2.sf(ratios, 1)
    undetermined = np.zeros(coef.shape, dtype=bool)
    undetermined[:, 1:] = errors[:, 1:] * columns.std(axis=0) >= _OPEN_ERROR
    undetermined[:, 0] = undetermined[:, 1:].any(axis=1)
    p_value[undetermined[:, 0], 0] = np.nan
    freedom = (len(segments) - 1) * len(covariates.names)
    return MembershipModel(
        segments=segments,
        names=("intercept", *covariates.names),
        coef=coef,
        standard_error=errors,
        p_value=p_value,
        undetermined=undetermined,
        statistic=max(statistic, 0.0),
        degrees_of_freedom=freedom,
        p_value_of_all=float(chi2.sf(max(statistic, 0.0), freedom)),
    )
