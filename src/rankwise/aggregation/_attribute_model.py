"""`AttributeModel`: what models of choices share whose worths may be made of attributes of the items.

`PlackettLuce`, `BradleyTerry` and `BestWorst` derive from it: coefficients, worths of new items, and summaries.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar

import numpy as np

from rankwise._state import ANYTHING, COUNT, FLOATS, MATRIX, NUMBER, STRING, Saved, maybe, optional, tuple_of
from rankwise._typing import FloatArray, IntArray
from rankwise._validation import shortlist
from rankwise.aggregation._likelihood import (
    MOST_WITH_INFORMATION,
    Maximum,
    Moments,
    positions_by_worth,
    separation_notes,
)
from rankwise.aggregation.base import RankingModel
from rankwise.aggregation.identification import prior_notes, refuse_unidentified
from rankwise.aggregation.item_features import ItemFeatures, Standardized, features_by_name
from rankwise.aggregation.model_summary import ModelSummary, coefficient_summary, worth_summary
from rankwise.aggregation.sandwich import WeightKind, are_survey_weights, effective_number, sandwich

_SHOWN_GROUPS = 3
_COEFFICIENTS = ("coef_", "coef_se_", "coef_covariance_", "feature_names_", "_feature_center", "_notes")
_WHERE = "for all items that are compared with each other"


class AttributeModel(RankingModel):
    """A model of choices by worths, which may be linear in attributes of the items."""

    alpha: float
    log_worth_: FloatArray
    se_: FloatArray
    covariance_: FloatArray | None
    components_: tuple[tuple[Hashable, ...], ...]
    log_likelihood_: float
    null_log_likelihood_: float
    n_rankings_: float
    n_effective_: float
    weight_kind: WeightKind
    coef_: FloatArray
    coef_se_: FloatArray
    coef_covariance_: FloatArray | None
    feature_names_: tuple[str, ...]
    _notes: tuple[str, ...]
    _feature_center: FloatArray

    # Files of models that were fitted without attributes have no coefficients.
    _saved: ClassVar[Saved] = {
        "components_": tuple_of(tuple_of(ANYTHING)),
        "log_worth_": FLOATS,
        "se_": FLOATS,
        "covariance_": maybe(MATRIX),
        "log_likelihood_": NUMBER,
        "n_iter_": COUNT,
        "coef_": optional(FLOATS),
        "coef_se_": optional(FLOATS),
        "coef_covariance_": optional(maybe(MATRIX)),
        "feature_names_": optional(tuple_of(STRING)),
        "_notes": optional(tuple_of(STRING)),
        "_feature_center": optional(FLOATS),
        "null_log_likelihood_": optional(NUMBER),
        "n_rankings_": optional(NUMBER),
        "n_effective_": optional(NUMBER),
    }

    def predict_log_worth(self, item_features: Any, items: Sequence[Hashable] | None = None) -> FloatArray:
        """Log worths of items by their attributes, also of items that were never ranked.

        Parameters
        ----------
        item_features : array-like of shape (n_items, n_attributes) or (n_rankings, n_items, n_attributes)
            The attributes that the model was fitted with; or a data frame or dictionary, as in `fit`, whose columns are
            found by name.
        items : sequence of hashable, optional
            Names of the items, by which the rows of a pandas data frame are found.

        Returns
        -------
        ndarray of shape (n_items,) or (n_rankings, n_items)
            On the scale of ``log_worth_``: 0 is the mean of the items of the fit.
        """
        self._check_fitted()
        if not hasattr(self, "coef_"):
            raise ValueError(
                f"this {type(self).__name__} was fitted without item_features, so it knows only the items of the fit; "
                "fit(..., item_features=...) learns what attributes are worth"
            )
        values = features_by_name(item_features, self.feature_names_, items).values
        if values.ndim == 2 and not np.isfinite(values).all():  # by ranking, missing items may lack them
            row, column = (int(place[0]) for place in np.nonzero(~np.isfinite(values)))
            raise ValueError(
                f"item_features has {values[row, column]} in row {row}, attribute {self.feature_names_[column]!r}; a "
                "worth needs every attribute: fill it in, or leave the item out"
            )
        return (values - self._feature_center) @ self.coef_

    def mode(self) -> FloatArray:
        """Items by decreasing worth, as positions (equal worths tie): the most probable ranking without ties."""
        self._check_fitted()
        return positions_by_worth(self.log_worth_)

    @abstractmethod
    def _described(self) -> tuple[str, str, list[tuple[str, float, float]]]:
        """Name of the model, what was observed, and (name, estimate, standard error) of parameters beside worths."""

    def _check_identified(self, moments: Moments, names: tuple[str, ...], n_others: int) -> None:
        """Refuse attributes whose coefficients the choices do not determine; with a prior, note them."""
        d = len(names)
        self._notes = ()
        if self.alpha > 0 and d > MOST_WITH_INFORMATION:
            return
        information = moments(np.zeros(d + n_others), True)[2][:d, :d]
        if self.alpha == 0:
            refuse_unidentified(information, names, "attribute", _WHERE)
        else:
            self._notes = prior_notes(information, names, "attribute", _WHERE)

    def _keep_worths(self, found: Maximum, k: int) -> None:
        """Keep the log worths of k items, the first parameters that were found."""
        self._forget_coefficients()
        self.log_worth_ = found.parameters[:k]
        self.covariance_ = None if found.covariance is None else found.covariance[:k, :k]
        self.se_ = _errors(self.covariance_, k)

    def _note_separation(self, above: IntArray, below: IntArray, items: tuple[Hashable, ...]) -> None:
        """Keep notes on worths that only the prior bounds; ``above[m]`` came before ``below[m]``."""
        self._notes = separation_notes(above, below, items) if self.alpha > 0 else ()

    def _keep_coefficients(
        self, found: Maximum, features: ItemFeatures, scaled: Standardized, shown: FloatArray | None = None
    ) -> None:
        """Keep the coefficients of the attributes, and the worths that they make of the items.

        Where attributes differ between rankings, an item has its mean by ``shown``, its weight in each of them.
        """
        d = len(features.names)
        self.coef_ = found.parameters[:d] / scaled.scale
        self.coef_covariance_ = None
        if found.covariance is not None:
            self.coef_covariance_ = found.covariance[:d, :d] / np.outer(scaled.scale, scaled.scale)
        self.coef_se_ = _errors(self.coef_covariance_, d)
        self.feature_names_ = features.names
        values = features.values
        if shown is not None and features.by_ranking:
            count = np.maximum(shown.sum(axis=0), 1e-300)
            values = np.einsum("ri,ria->ia", shown, values) / count[:, np.newaxis]
        self._feature_center = values.mean(axis=0)
        moved = values - self._feature_center
        self.log_worth_ = moved @ self.coef_
        self.covariance_ = None if self.coef_covariance_ is None else moved @ self.coef_covariance_ @ moved.T
        self.se_ = _errors(self.covariance_, len(moved))

    def _robust(
        self,
        found: Maximum,
        weights: FloatArray,
        squares: Callable[[FloatArray], FloatArray],
        log_prior: Moments | None,
        by_row: bool = True,
    ) -> Maximum:
        """The same maximum with a robust covariance, if weights are survey weights.

        ``weights`` are of the rows that compare items; ``squares`` makes the sum of their squared weighted scores, by
        the parameters. Without rows, there are only counts. How many rows of equal weight they count as is kept.
        """
        vars(self).pop("n_effective_", None)
        if not are_survey_weights(weights, self.weight_kind) or not by_row:
            return found
        self.n_effective_ = effective_number(weights)
        if found.covariance is None:
            return found
        prior = None if log_prior is None else log_prior(found.parameters, True)[2]
        covariance = sandwich(found.covariance, squares(found.parameters), len(weights), prior)
        return found._replace(covariance=covariance)

    def _forget_coefficients(self) -> None:
        """Forget what an earlier fit to attributes has found."""
        for name in _COEFFICIENTS:
            vars(self).pop(name, None)

    def summary(self, *, ref: Hashable | None = None, level: float = 0.95) -> ModelSummary:
        """Coefficients with standard errors, tests, intervals and criteria.

        Parameters
        ----------
        ref : hashable, optional
            The item whose log worth is 0; by default log worths are relative to the mean of all items. Not for
            coefficients of attributes.
        level : float, default=0.95
            Of the intervals.

        Returns
        -------
        ModelSummary

        Examples
        --------
        >>> from rankwise.aggregation import BradleyTerry, PlackettLuce
        >>> model = PlackettLuce().fit([[1, 2, 3], [2, 1, 3], [1, 3, 2], [3, 2, 1]])
        >>> model.summary(ref=0).coefficients.round(3)
        array([ 0.   , -0.266, -0.697])
        >>> BradleyTerry().fit([[0, 3, 4], [1, 0, 3], [1, 2, 0]]).summary().likelihood_ratio.p_text
        'p = 0.205'
        """
        self._check_fitted()
        if not hasattr(self, "null_log_likelihood_"):
            raise ValueError(
                f"this {type(self).__name__} was saved by an earlier version, which did not keep what a summary needs; "
                "fit it again"
            )
        model, unit, others = self._described()
        if self.n_rankings_ == 0:
            raise ValueError(
                f"no {unit} of positive weight compares two items, so there is nothing to sum up; fit to others"
            )
        fit: dict[str, Any] = {
            "level": level,
            "log_likelihood": self.log_likelihood_,
            "null_log_likelihood": self.null_log_likelihood_,
            "n_observations": self.n_rankings_,
            "penalty": self.alpha,
            "unit": unit,
            "n_effective": getattr(self, "n_effective_", None),
        }
        fit["notes"] = getattr(self, "_notes", ())
        if len(self.components_) > 1 and not hasattr(self, "coef_"):
            groups = "; ".join(shortlist(list(group)) for group in self.components_[:_SHOWN_GROUPS])
            more = "; ..." if len(self.components_) > _SHOWN_GROUPS else ""
            fit["notes"] = (
                f"nothing compares these {len(self.components_)} groups of items with each other: {groups}{more}. How "
                "their worths compare rests on the prior alone",
                *fit["notes"],
            )
        if hasattr(self, "coef_"):
            if ref is not None:
                raise ValueError("ref is for the worths of items, but these are coefficients of attributes; drop it")
            name = f"{model} with attributes of the items"
            return coefficient_summary(name, self.feature_names_, self.coef_, self.coef_covariance_, others, **fit)
        return worth_summary(model, self.items_, self.log_worth_, self.covariance_, others, ref=ref, **fit)


def _errors(covariance: FloatArray | None, n: int) -> FloatArray:
    if covariance is None:
        return np.full(n, np.nan)
    return np.sqrt(np.maximum(covariance.diagonal(), 0.0))
