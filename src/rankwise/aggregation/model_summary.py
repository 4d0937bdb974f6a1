"""`ModelSummary`: the coefficients of a choice model with standard errors, tests, intervals and criteria.

Made by ``summary()`` of `PlackettLuce`, `BradleyTerry`, `BestWorst` and `PlackettLuceRanker`; `worth_summary` and
`coefficient_summary` build it from what a fit has found.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rankwise._tables import Result, TextTable, counted, make_frame, name_column, short_name
from rankwise._typing import FloatArray, IntArray
from rankwise._validation import check_open_share, shortlist
from rankwise.aggregation._quasi_variances import quasi_errors_of_features, useful_quasi_errors


@dataclass(frozen=True, eq=False, repr=False)
class NullTest(Result):
    """A test against the model in which all items are equal.

    Attributes
    ----------
    name : str
        "likelihood ratio", "Wald", or "robust Wald" of survey weights.
    statistic : float
        Its statistic.
    degrees_of_freedom : int
        Degrees of freedom of its chi-square distribution, or the first ones of an F distribution.
    p_value : float
        Probability of so large a statistic if all items were equal.
    denominator : float or None
        The second degrees of freedom, of an F distribution; None for chi-square.
    """

    name: str
    statistic: float
    degrees_of_freedom: int
    p_value: float
    denominator: float | None = None

    @property
    def p_text(self) -> str:
        """The p-value as text, such as "p = 0.031" or "p < 0.001"."""
        return _p_text(self.p_value)

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def cells(self) -> list[str]:
        """The row of a table of text."""
        if self.denominator is not None:
            df = f"{self.degrees_of_freedom} and {self.denominator:.1f}"
            return [f"{self.name} test", f"F = {self.statistic:.2f} on {df} degrees of freedom, {self.p_text}"]
        df = counted(self.degrees_of_freedom, "degree", "degrees")
        return [f"{self.name} test", f"{self.statistic:.2f} on {df} of freedom, {self.p_text}"]

    def tables(self) -> list[TextTable]:
        """The test as a table of text."""
        return [TextTable("Test against equal items", "", ["", ""], [self.cells()])]


@dataclass(frozen=True, eq=False, repr=False)
class ModelSummary(Result):
    """What a choice model has found, with its precision; made by ``summary()`` of a fitted model.

    Attributes
    ----------
    model : str
        Name of the model.
    names : tuple
        Names of the coefficients: items or attributes, then other parameters such as "log tie strength (2)".
    coefficients : ndarray of shape (n_coefficients,)
        Estimates; log worths are relative to the reference.
    standard_errors, z, p_values : ndarray of shape (n_coefficients,)
        By the normal approximation, against 0; with survey weights, robust ones (sandwich), and the t distribution with
        ``n_effective`` - 1 degrees of freedom. NaN for the reference item; z and p-values are NaN for penalized fits,
        whose estimates are drawn to 0.
    intervals : ndarray of shape (n_coefficients, 2)
        Confidence intervals of the coefficients.
    quasi_standard_errors : ndarray of shape (n_items,) or None
        For comparisons of any two items: the standard error of a difference is about the root of the sum of their
        squares, whatever the reference. Of features of people there is one for each coefficient, for comparisons of the
        items by the same feature. None for coefficients of attributes, two items, or more than 500; and where they
        would be wrong by more than a quarter.
    quasi_error : float or None
        By how much these are, or would be, wrong at worst, as a share of the standard error of a difference.
    reference : hashable or None
        The item that has coefficient 0; None for the mean of all items.
    level : float
        Of the intervals.
    log_likelihood, null_log_likelihood : float
        Of the model, and of the one in which all items are equal (ties and home effect are fitted there, too); with
        features of people, of the one in which features do not matter. With survey weights these are
        pseudo-likelihoods: their differences have no chi-square law.
    n_parameters : int
        Degrees of freedom of the model.
    n_observations : float
        Rankings or comparisons that were fitted, by weight.
    aic, bic : float
        Criteria of Akaike and Schwarz, lower = better; of penalized fits they use the plain number of parameters. NaN
        with survey weights, as they need a likelihood.
    likelihood_ratio, wald : NullTest or None
        Tests against equal items; None for penalized fits. With survey weights there is no likelihood ratio, and Wald's
        test is by the robust covariance.
    penalty : float
        Strength of the prior; with one, standard errors are conditional on it.
    unit : str
        What was observed: "ranking", "comparison" or "answer".
    about : {"items", "attributes", "features"}
        What has coefficients: items, attributes of items, or features of people.
    notes : tuple of str
        What a reader should know.
    n_effective : float or None
        With survey weights, how many rows of equal weight are as informative (Kish); None where weights count.
    """

    model: str
    names: tuple[Hashable, ...]
    coefficients: FloatArray
    standard_errors: FloatArray
    quasi_standard_errors: FloatArray | None
    quasi_error: float | None
    reference: Hashable | None
    level: float
    log_likelihood: float
    null_log_likelihood: float
    n_parameters: int
    n_observations: float
    penalty: float
    likelihood_ratio: NullTest | None
    wald: NullTest | None
    unit: str = "ranking"
    about: Literal["items", "attributes", "features"] = "items"
    notes: tuple[str, ...] = ()
    n_effective: float | None = None

    @property
    def z(self) -> FloatArray:
        """Coefficients divided by their standard errors; NaN where there is a penalty."""
        return self.coefficients / self.standard_errors if self.penalty == 0 else np.full(len(self.names), np.nan)

    @property
    def p_values(self) -> FloatArray:
        """Two-sided p-values against 0; NaN where there is a penalty."""
        from scipy.special import ndtr, stdtr

        below = -np.abs(self.z)
        return np.asarray(2 * (ndtr(below) if self.n_effective is None else stdtr(_freedom(self.n_effective), below)))

    @property
    def intervals(self) -> FloatArray:
        """Confidence intervals of the coefficients: lower and upper end."""
        half = critical_value(self.level, self.n_effective) * self.standard_errors
        return np.column_stack([self.coefficients - half, self.coefficients + half])

    @property
    def aic(self) -> float:
        """Akaike's criterion; NaN with survey weights."""
        if self.n_effective is not None:
            return float("nan")
        return 2 * self.n_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz' criterion, by the number of rankings or comparisons; NaN with survey weights."""
        if self.n_effective is not None:
            return float("nan")
        return float(np.log(self.n_observations)) * self.n_parameters - 2 * self.log_likelihood

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        test = self.likelihood_ratio or self.wald
        if test is None:
            return (
                f"Fitted with a prior of strength {self.penalty:g}: estimates are drawn to 0, standard errors are "
                "conditional on it, and there are no tests, which need maximum likelihood (alpha=0) where it exists."
            )
        sure = test.p_value < 0.05
        said = {
            "items": "The items differ in worth" if sure else "The items may all be of equal worth",
            "attributes": "The attributes explain the choices better than chance"
            if sure
            else "Chance may explain the choices as well",
            "features": "The features matter" if sure else "The features may not matter",
        }
        return f"{said[self.about]}: {test.p_text}."

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per coefficient, of pandas by default, else of the named backend."""
        low, high = self.intervals.T
        columns = {
            "name": name_column(self.names),
            "coefficient": self.coefficients,
            "standard_error": self.standard_errors,
            "z": self.z,
            "p_value": self.p_values,
            "low": low,
            "high": high,
        }
        if self.quasi_standard_errors is not None:
            others = len(self.names) - len(self.quasi_standard_errors)
            columns["quasi_standard_error"] = np.append(self.quasi_standard_errors, np.full(others, np.nan))
        return make_frame(columns, backend)

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON; None for those that there are not."""
        rows = zip(self.names, self.coefficients, self.standard_errors, self.p_values, self.intervals, strict=True)
        return {
            "model": self.model,
            "reference": None if self.reference is None else str(self.reference),
            "coefficients": [
                {
                    "name": str(name),
                    "coefficient": float(value),
                    "standard_error": _known(error),
                    "p_value": _known(p),
                    "interval": [_known(end) for end in interval],
                }
                for name, value, error, p, interval in rows
            ],
            "quasi_standard_errors": None
            if self.quasi_standard_errors is None
            else [_known(error) for error in self.quasi_standard_errors],
            "level": self.level,
            "log_likelihood": self.log_likelihood,
            "null_log_likelihood": self.null_log_likelihood,
            "n_parameters": self.n_parameters,
            "n_observations": self.n_observations,
            "n_effective": self.n_effective,
            "aic": _known(self.aic),
            "bic": _known(self.bic),
            "penalty": self.penalty,
            "likelihood_ratio": None if self.likelihood_ratio is None else self.likelihood_ratio.as_dict(),
            "wald": None if self.wald is None else self.wald.as_dict(),
            "notes": list(self.notes),
        }

    def tables(self) -> list[TextTable]:
        """Coefficients, then what is known of the fit as a whole."""
        quasi, tested = self.quasi_standard_errors, self.penalty == 0
        columns = ["", "coefficient", "std. error", *(["z", "p"] if tested else []), f"{100 * self.level:g}% interval"]
        columns += [] if quasi is None else ["quasi std. error"]
        rows = []
        parts = zip(self.names, self.coefficients, self.standard_errors, self.z, self.p_values, strict=True)
        for number, (name, value, error, z, p) in enumerate(parts):
            low, high = self.intervals[number]
            known = not np.isnan(error)
            row = [short_name(name), _number(value, error), _number(error, error) if known else "-"]
            if tested:
                row += [f"{z:.2f}" if known else "-"]
                row += ["-" if np.isnan(p) else f"{p:.3f}" if p >= 0.001 else "<0.001"]
            row += [f"{_number(low, error, 2)} to {_number(high, error, 2)}" if known else "-"]
            if quasi is not None:
                own = quasi[number] if number < len(quasi) else np.nan
                row += ["-" if np.isnan(own) else _number(own, own)]
            rows.append(row)
        notes = [f"{note[0].upper()}{note[1:]}." for note in (*self._weight_notes, *self.notes)]
        return [
            TextTable(self.model, " ".join([self.sentence, self._scale, *notes]), columns, rows),
            TextTable("The fit as a whole", "", ["", ""], self._fit_rows()),
        ]

    @property
    def _weight_notes(self) -> tuple[str, ...]:
        if self.n_effective is None:
            return ()
        return (f"survey weights: robust standard errors, as of {self.n_effective:,.1f} {self.unit}s of equal weight",)

    @property
    def _scale(self) -> str:
        relative = "the mean of all items" if self.reference is None else short_name(self.reference)
        if self.about == "attributes":
            return "Coefficients are log odds per unit of the attribute."
        return f"{'Log worths' if self.about == 'items' else 'Log odds per unit'}, relative to {relative}."

    def _fit_rows(self) -> list[list[str]]:
        n = self.n_observations
        rows = [
            [f"{self.unit}s", f"{n:,.0f}" if n == round(n) else f"{n:,.1f} by weight"],
            [
                "log likelihood" if self.n_effective is None else "log pseudo-likelihood",
                f"{round(self.log_likelihood, 2) + 0.0:.2f} with {counted(self.n_parameters, 'parameter')}",
            ],
            [
                "without features" if self.about == "features" else "if all were equal",
                f"{round(self.null_log_likelihood, 2) + 0.0:.2f}",  # never -0.00
            ],
        ]
        if self.n_effective is None:
            rows.append(["AIC, BIC", f"{self.aic:.1f}, {self.bic:.1f}"])
        rows += [test.cells() for test in (self.likelihood_ratio, self.wald) if test is not None]
        if self.quasi_error is not None:
            wrong = f"{100 * self.quasi_error:.{1 if self.quasi_error < 0.1 else 0}f}% for differences of two items"
            if self.quasi_standard_errors is None:
                rows.append(["quasi std. errors", f"left out: they would be wrong by up to {wrong}; use ref instead"])
            else:
                rows.append(["quasi std. errors", f"within {wrong}"])
        return rows


def critical_value(level: float, n_effective: float | None = None) -> float:
    """How many standard errors an interval reaches to each side; by t where survey weights count as so many people."""
    from scipy.special import ndtri, stdtrit

    inner = (1 + level) / 2
    return float(ndtri(inner) if n_effective is None else stdtrit(_freedom(n_effective), inner))


def worth_summary(
    model: str,
    items: tuple[Hashable, ...],
    log_worth: FloatArray,
    covariance: FloatArray | None,
    others: Sequence[tuple[str, float, float]],
    *,
    ref: Hashable | None,
    **fit: Any,
) -> ModelSummary:
    """Summary of a model with one worth per item.

    Parameters
    ----------
    model : str
        Its name.
    items : tuple of hashable
        Names of the items.
    log_worth : ndarray of shape (n_items,)
        Of mean 0.
    covariance : ndarray of shape (n_items, n_items) or None
        Of ``log_worth``.
    others : sequence of (name, estimate, standard error)
        Parameters besides the worths.
    ref : hashable or None
        The item of coefficient 0; None for the mean of all.
    fit : Any
        ``level``, ``log_likelihood``, ``null_log_likelihood``, ``n_observations``, ``n_effective``, ``penalty`` and
        ``unit`` of `ModelSummary`.

    Returns
    -------
    ModelSummary
    """
    if covariance is None:
        raise ValueError(
            f"the model has {len(items):,} items, and beyond 2,000 parameters there are no standard errors; "
            "compare fewer items (Rankings.select)"
        )
    k = len(items)
    if ref is None:
        shift = np.eye(k)
    else:
        if ref not in items:
            raise ValueError(f"ref is {ref!r}, which is not an item; the items are {shortlist(items)}")
        shift = np.eye(k)
        shift[:, items.index(ref)] -= 1.0
    variance = np.einsum("ij,jk,ik->i", shift, covariance, shift)
    errors = np.sqrt(np.maximum(variance, 0.0))
    if ref is not None:
        errors[items.index(ref)] = np.nan
    quasi, quasi_error = useful_quasi_errors(covariance)
    contrast = np.eye(k)[1:] - np.eye(k)[0]
    return _summary(
        model,
        (*items, *(name for name, _, _ in others)),
        np.append(shift @ log_worth, [value for _, value, _ in others]),
        np.append(errors, [error for _, _, error in others]),
        (contrast @ log_worth, contrast @ covariance @ contrast.T),
        n_parameters=k - 1 + len(others),
        quasi_standard_errors=quasi,
        quasi_error=quasi_error,
        reference=ref,
        **fit,
    )


def coefficient_summary(
    model: str,
    names: tuple[Hashable, ...],
    coefficients: FloatArray,
    covariance: FloatArray | None,
    others: Sequence[tuple[str, float, float]] = (),
    *,
    about: Literal["attributes", "features"] = "attributes",
    reference: Hashable | None = None,
    tested: tuple[FloatArray, FloatArray] | None = None,
    n_parameters: int | None = None,
    compared: tuple[FloatArray, IntArray] | None = None,
    **fit: Any,
) -> ModelSummary:
    """Summary of a model with coefficients of attributes or features; see `worth_summary`.

    Wald's test is of all coefficients but the ``others``, or of those in ``tested`` (estimates, covariance), where some
    follow from the rest and the number of parameters is smaller than that of coefficients. ``compared``
    holds, for quasi-standard errors, the covariances of the coefficients of all items by one feature, (1 + n_features,
    n_items, n_items), the intercept first; and the items whose coefficients are ``names``.
    """
    if covariance is None:
        raise ValueError(
            f"the model has {len(names):,} coefficients, and beyond 2,000 there are no standard errors; use fewer"
        )
    quasi, quasi_error = (None, None) if compared is None else quasi_errors_of_features(*compared)
    return _summary(
        model,
        (*names, *(name for name, _, _ in others)),
        np.append(coefficients, [value for _, value, _ in others]),
        np.append(np.sqrt(covariance.diagonal()), [error for _, _, error in others]),
        tested or (coefficients, covariance),
        n_parameters=len(names) + len(others) if n_parameters is None else n_parameters,
        quasi_standard_errors=quasi,
        quasi_error=quasi_error,
        reference=reference,
        about=about,
        **fit,
    )


def _summary(
    model: str,
    names: tuple[Hashable, ...],
    coefficients: FloatArray,
    errors: FloatArray,
    against_null: tuple[FloatArray, FloatArray],
    *,
    penalty: float,
    level: float,
    log_likelihood: float,
    null_log_likelihood: float,
    n_effective: float | None = None,
    **rest: Any,
) -> ModelSummary:
    check_open_share("level", level)
    ratio = wald = None
    if penalty == 0:
        estimate, covariance = against_null
        df = len(estimate)
    if penalty == 0 and n_effective is not None:
        wald = _robust_wald(estimate, covariance, n_effective)
    elif penalty == 0:
        ratio = _test("likelihood ratio", max(2 * (log_likelihood - null_log_likelihood), 0.0), df)
        wald = _test("Wald", float(estimate @ np.linalg.solve(covariance, estimate)), df)
    return ModelSummary(
        model=model,
        names=names,
        coefficients=coefficients,
        standard_errors=errors,
        penalty=penalty,
        level=level,
        log_likelihood=log_likelihood,
        null_log_likelihood=null_log_likelihood,
        likelihood_ratio=ratio,
        wald=wald,
        n_effective=n_effective,
        **rest,
    )


def _number(value: float, error: float, fewest: int = 3) -> str:
    """A number with two digits of its standard error, at least ``fewest`` decimals, in powers of ten if need be."""
    scale = error if np.isfinite(error) and error > 0 else max(abs(value), 1.0)
    decimals = max(1 - int(np.floor(np.log10(scale))), fewest)
    if decimals <= 6 and abs(value) < 1e7:
        return f"{round(value, decimals) + 0.0:.{decimals}f}"  # never -0.000
    if value == 0:
        return "0"
    digits = int(np.floor(np.log10(abs(value)))) - int(np.floor(np.log10(scale))) + 1
    return f"{value:.{min(max(digits, 1), 6)}e}"


def _test(name: str, statistic: float, df: int) -> NullTest:
    from scipy.special import chdtrc

    return NullTest(name, statistic, df, float(chdtrc(df, statistic)))


def _robust_wald(estimate: FloatArray, covariance: FloatArray, n_effective: float) -> NullTest:
    """Wald's test by a robust covariance, which is an estimate as Hotelling's: F instead of chi-square."""
    from scipy.special import fdtrc

    df, freedom = len(estimate), _freedom(n_effective)
    wald = float(estimate @ np.linalg.pinv(covariance, hermitian=True) @ estimate)
    left = max(freedom - df + 1, 1.0)
    ratio = wald * left / (freedom * df)
    return NullTest("robust Wald", ratio, df, float(fdtrc(df, left, ratio)), left)


def _freedom(n_effective: float) -> float:
    return max(n_effective - 1, 1.0)  # of a robust covariance


def _p_text(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
