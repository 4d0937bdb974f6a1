"""Fitted formulas: linear models of terms by least squares, their constants, and how they are compared.

`Fits` fits terms and keeps the models that are not worse and longer than another; `polish` fits the constants inside
functions too. `rankwise.screening.search` and `rankwise.screening.screens` use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.screening.expressions import BY_CODE, ExpressionTable
from rankwise.screening.terms import LARGEST_EXPONENT, LINKS, Term, collect_powers

# Models of the same length that are kept next to the best, whose error they must reach up to this many standard errors.
_RIVALS, _STANDARD_ERRORS = 5, 3.0
# Residuals below this part of the target's spread are rounding errors.
ROUNDING = 1e-9
#: rows that each fitted constant of a formula needs: with fewer, noise is fitted as if it were a law
ROWS_PER_CONSTANT = 3


@dataclass(frozen=True)
class Model:
    """A linear model of terms, with what it costs.

    Attributes
    ----------
    terms : tuple of Term
        What is multiplied by coefficients.
    coef : tuple of float
        The coefficients.
    intercept : float or None
        The constant; None where none was fitted.
    rss : float
        Sum of squared residuals.
    complexity : int
        Operators and constants.
    n_constants : int
        Fitted numbers.
    """

    terms: tuple[Term, ...]
    coef: tuple[float, ...]
    intercept: float | None
    rss: float
    complexity: int
    n_constants: int

    def predict(self, values: FloatArray) -> FloatArray:
        """The model on values of expressions."""
        found = np.full(values.shape[1], self.intercept or 0.0)
        for c, term in zip(self.coef, self.terms, strict=True):
            found = found + c * term.values(values)
        return found


class Fits:
    """Models of one target: fitted, compared by error and length, and the best of each length kept.

    Models with too many constants for the number of rows are not kept; ``left_out`` says whether there were any.
    ``root`` holds the roots of the weights of the rows, whose mean is 1; by default all rows count alike.
    """

    def __init__(self, y: FloatArray, n_inputs: int, root: FloatArray | None = None) -> None:
        self.y, self.root = y, root
        self.left_out = False
        self.level = float(y.mean() if root is None else np.average(y, weights=root**2))
        self.total = float((self._weighted(y - self.level) ** 2).sum())
        # Digits of a target far from 0 are lost before any formula is fitted.
        digits = float(np.finfo(np.float64).eps * abs(y).max())
        self.rounding = max(ROUNDING**2 * self.total, len(y) * digits**2)
        self.models: dict[tuple[int, int], Model] = {}
        self.rivals: dict[tuple[int, int], list[Model]] = {}
        self.mean = Model((), (), self.level, self.total, 0, 1)
        self.offer(self.mean)
        # What it takes to name an operator or operand: one of the inputs, or one of about twelve functions.
        self.cost = float(np.log(n_inputs + 12))

    def _weighted(self, values: FloatArray) -> FloatArray:
        return values if self.root is None else values * self.root

    def description_length(self, model: Model) -> float:
        """What it takes to write down the model and its residuals; the lower, the better a model explains the data."""
        n = len(self.y)
        left = max(model.rss, self.rounding) / max(1, n - model.n_constants)
        return 0.5 * n * np.log(left) + self.cost * model.complexity + 0.5 * np.log(n) * model.n_constants

    @property
    def best(self) -> Model:
        """The model with the shortest description."""
        return min(self.models.values(), key=self.description_length)

    def is_exact(self, model: Model) -> bool:
        """Whether only rounding errors are left."""
        return model.rss <= 10**2 * self.rounding

    def has_rows_for(self, model: Model) -> bool:
        """Whether there are rows enough for the constants of a model; the mean is always allowed."""
        return not model.terms or ROWS_PER_CONSTANT * model.n_constants <= len(self.y)

    def offer(self, model: Model) -> None:
        """Keep the model if there are rows enough, and no other of its length and number of constants fits better."""
        if not np.isfinite(model.rss):
            return
        if not self.has_rows_for(model):
            self.left_out = True
            return
        key = (model.complexity, model.n_constants)
        known = self.models.get(key)
        if known is None or model.rss < known.rss * (1 - 1e-9):
            self.models[key] = model
        most = self.models[key].rss * (1 + _STANDARD_ERRORS * np.sqrt(2 / len(self.y)))
        if model.rss <= most and not self.is_exact(model):
            # The same function has the same error.
            others = [m for m in self.rivals.get(key, []) if m.rss <= most and abs(m.rss - model.rss) > 1e-9 * m.rss]
            self.rivals[key] = sorted([*others, model], key=lambda m: m.rss)[: _RIVALS + 1]

    def offer_terms(self, terms: Sequence[Term], columns: FloatArray, table_complexity: IntArray) -> FloatArray:
        """Fit each term by itself, with and without an intercept; return the residual sums of squares with one."""
        y, level = self._weighted(self.y), self.level
        above = self._weighted(self.y - level)
        scale = np.abs(columns).max(axis=1)
        unit = columns / scale[:, None]
        mean = unit.mean(axis=1) if self.root is None else np.average(unit, axis=1, weights=self.root**2)
        centered, unit = self._weighted(unit - mean[:, None]), self._weighted(unit)
        length, spread = np.einsum("ij,ij->i", unit, unit), np.einsum("ij,ij->i", centered, centered)
        varies = spread > 1e-18 * length
        slope = np.divide(centered @ above, spread, out=np.zeros(len(unit)), where=varies)
        direct = np.divide(unit @ y, length, out=np.zeros(len(unit)), where=length > 0)
        rss = np.full(len(terms), np.inf)
        # Sums of squares lose half of the digits; only the best are computed in full.
        rough = self.total - slope**2 * spread
        plain = y @ y - direct**2 * length
        near = set(np.argsort(rough, kind="stable")[:40].tolist()) | set(np.argsort(plain, kind="stable")[:40].tolist())
        rss[varies] = rough[varies].clip(min=0)
        for i in sorted(near):
            if not varies[i]:
                continue
            size = terms[i].complexity(table_complexity)
            k = len(terms[i].free)
            residual = above - slope[i] * centered[i]
            rss[i] = residual @ residual
            intercept = float(level - slope[i] * mean[i])
            self.offer(Model((terms[i],), (float(slope[i] / scale[i]),), intercept, float(rss[i]), size + 3, k + 2))
            residual = y - direct[i] * unit[i]
            missed = float(residual @ residual)
            self.offer(Model((terms[i],), (float(direct[i] / scale[i]),), None, missed, size + 1, k + 1))
        return rss

    def offer_linear(self, terms: Sequence[Term], columns: FloatArray, table_complexity: IntArray) -> Model | None:
        """Fit all terms together, with and without an intercept; return the better model."""
        found = self.linear_models(terms, columns, table_complexity)
        for model in found:
            self.offer(model)
        return min(found, key=self.description_length, default=None)

    def linear_models(self, terms: Sequence[Term], columns: FloatArray, table_complexity: IntArray) -> list[Model]:
        """Models of all terms together, with and without an intercept, unless a term is a combination of others."""
        size = sum(term.complexity(table_complexity) + 2 for term in terms) - 1
        k = sum(len(term.free) + 1 for term in terms)
        found = []
        for with_intercept in (True, False):
            fitted = self._linear(terms, columns, with_intercept)
            if fitted is not None:
                found.append(Model(tuple(terms), *fitted, size + 2 * with_intercept, k + with_intercept))
        return found

    def _linear(
        self, terms: Sequence[Term], columns: FloatArray, with_intercept: bool
    ) -> tuple[tuple[float, ...], float | None, float] | None:
        scale = np.abs(columns).max(axis=1)
        design = (columns / scale[:, None]).T
        if with_intercept:
            design = np.column_stack([design, np.ones(len(design))])
        if self.root is not None:
            design = design * self.root[:, None]
        # With an intercept, what is fitted is centered: of a target far from 0 no digits are lost.
        level = self.level if with_intercept else 0.0
        target = self._weighted(self.y - level)
        coef, _, rank, _ = np.linalg.lstsq(design, target, rcond=1e-12)
        if rank < design.shape[1]:
            return None  # a term is a combination of the others
        residual = target - design @ coef
        intercept = float(coef[-1] + level) if with_intercept else None
        return tuple((coef[: len(terms)] / scale).tolist()), intercept, float(residual @ residual)

    def front(self) -> list[Model]:
        """The models that are not both longer and worse than another, the shortest first."""
        found: list[Model] = []
        for model in sorted(self.models.values(), key=lambda model: (model.complexity, model.rss)):
            floor = 10**2 * self.rounding
            if not found or max(model.rss, floor) < 0.98 * max(found[-1].rss, floor):
                found.append(model)
        return found


@np.errstate(all="ignore")  # at the edge of a domain slopes may be infinite
def jacobian(model: Model, values: FloatArray) -> FloatArray:
    """Derivatives of the predictions by all constants: coefficients, intercept if there is one, those inside terms."""
    columns = [term.values(values) for term in model.terms]
    if model.intercept is not None:
        columns.append(np.ones(values.shape[1]))
    for c, term in zip(model.coef, model.terms, strict=True):
        product = term.product(values)
        slope = c * LINKS[term.link][1](term.scale * product + term.shift)
        for name in term.free:
            if name == "scale":
                columns.append(slope * product)
            elif name == "shift":
                columns.append(slope)
            else:
                base = values[term.rows[int(name.split()[1])]]
                columns.append(slope * term.scale * product * np.log(abs(base)))
    return np.column_stack(columns)


def simplified(model: Model, table: ExpressionTable, values: FloatArray) -> Model:
    """The same model with products taken apart into powers of their factors, and the powers collected.

    (x^2)^0.5 is x only where x is not negative, so ``values`` decide which rules apply.
    """
    terms, coef, intercept = [], [], model.intercept
    for c, term in zip(model.coef, model.terms, strict=True):
        # An intercept takes up the 1 of 1 + x.
        while intercept is not None and term == Term(term.rows[:1], (1.0,)):
            name, inner = BY_CODE[int(table.codes[term.rows[0]])].name, int(table.lefts[term.rows[0]])
            if name not in ("1+", "1-"):
                break
            intercept, c = intercept + c, -c if name == "1-" else c
            term = Term((inner,), (1.0,))
        powers: dict[int, float] = {}
        factor = 1.0
        for row, exponent in zip(term.rows, term.exponents, strict=True):
            factor *= collect_powers(row, exponent, table, values, powers)
        kept = {row: float(round(e * 6) / 6 if abs(e * 6 - round(e * 6)) < 1e-9 else e) for row, e in powers.items()}
        kept = {row: exponent for row, exponent in kept.items() if exponent}
        apart = replace(term, rows=tuple(kept), exponents=tuple(kept.values())) if kept else term
        # sqrt(a/b) is shorter than sqrt(a)/sqrt(b).
        if kept and apart.complexity(table.complexity) + (factor != 1 and term.link != "id") <= term.complexity(
            table.complexity
        ):
            term = apart
            if term.link == "id" and term.scale == 1 and not term.shift:
                c *= factor
            else:
                term = replace(term, scale=term.scale * factor)
        terms.append(term)
        coef.append(c)
    size = sum(term.complexity(table.complexity) + 2 for term in terms) - 1 + 2 * (intercept is not None)
    if not terms:
        return model
    return replace(model, terms=tuple(terms), coef=tuple(coef), intercept=intercept, complexity=size)


@np.errstate(all="ignore")
def polish(model: Model, values: FloatArray, y: FloatArray, root: FloatArray | None = None) -> Model:
    """Fit all constants together by nonlinear least squares, from where they are; ``root`` is that of weights."""
    from scipy.optimize import least_squares

    inner = [len(term.free) for term in model.terms]
    if not sum(inner):
        return model
    ends = np.cumsum(inner)
    scaled = (1.0 if root is None else root) / (float(y.std()) or 1.0)

    def build(constants: FloatArray) -> Model:
        n_terms = len(model.terms)
        n_linear = n_terms + (model.intercept is not None)
        parts = np.split(constants[n_linear:], ends[:-1])
        terms = tuple(term.with_constants(part.tolist()) for term, part in zip(model.terms, parts, strict=True))
        intercept = float(constants[n_terms]) if model.intercept is not None else None
        return replace(model, terms=terms, coef=tuple(constants[:n_terms].tolist()), intercept=intercept)

    def residual(constants: FloatArray) -> FloatArray:
        found = (build(constants).predict(values) - y) * scaled
        return np.where(np.isfinite(found), found, 1e6)

    def slopes(constants: FloatArray) -> FloatArray:
        found = jacobian(build(constants), values) * np.reshape(scaled, (-1, 1))
        return np.where(np.isfinite(found), found, 0.0)

    start = np.array(
        [
            *model.coef,
            *([model.intercept] if model.intercept is not None else []),
            *(_constant(term, name) for term in model.terms for name in term.free),
        ]
    )
    try:
        solved = least_squares(residual, start, slopes, method="lm", max_nfev=100, xtol=1e-10, ftol=1e-10)
    except (ValueError, np.linalg.LinAlgError):  # no finite values at the start, or fewer rows than constants
        return model
    found = _with_short_phases(build(solved.x))
    rss = float((((found.predict(values) - y) * (1.0 if root is None else root)) ** 2).sum())
    sensible = all(abs(exponent) <= 2 * LARGEST_EXPONENT for term in found.terms for exponent in term.exponents)
    return replace(found, rss=rss) if rss < model.rss and sensible else model


def _with_short_phases(model: Model) -> Model:
    """The same with phases of waves between minus and plus a half turn."""
    terms = [
        replace(term, shift=float(np.remainder(term.shift + np.pi, 2 * np.pi) - np.pi)) if term.link == "sin" else term
        for term in model.terms
    ]
    return replace(model, terms=tuple(terms))


def _constant(term: Term, name: str) -> float:
    return term.exponents[int(name.split()[1])] if name.startswith("exponents") else float(getattr(term, name))


def left_out_errors(model: Model, values: FloatArray, y: FloatArray, root: FloatArray | None = None) -> FloatArray:
    """Errors of predictions of rows left out in turn when the constants are fitted, with the form of the model fixed.

    Exact for the coefficients; for constants inside functions, to first order. If rows have weights, errors are
    multiplied by their roots.
    """
    design = np.nan_to_num(jacobian(model, values), nan=0.0, posinf=0.0, neginf=0.0)
    if root is not None:
        design = design * root[:, None]
    scale = np.abs(design).max(axis=0)
    q, r = np.linalg.qr(design / np.where(scale > 0, scale, 1.0))
    q = q[:, abs(np.diag(r)) > 1e-12]
    leverage = np.einsum("ij,ij->i", q, q).clip(max=1 - 1e-9)
    errors = np.asarray((y - model.predict(values)) / (1 - leverage))
    return errors if root is None else errors * root


def clearly_better(errors: FloatArray, than: FloatArray) -> bool:
    """Whether errors are smaller than others on the same rows, beyond chance: in squares, or else in sizes.

    Squares decide where the noise is the same everywhere. Where it is not, a few rows dominate them, and sizes on a
    logarithmic scale decide.
    """
    smallest = 1e-14 * max(float(abs(than).max()), 1e-300)
    squares = than**2 - errors**2
    sizes = np.log(abs(than) + smallest) - np.log(abs(errors) + smallest)
    root = np.sqrt(len(errors))
    return bool(squares.mean() * root > 2 * squares.std(ddof=1) or sizes.mean() * root > 3 * sizes.std(ddof=1) > 0)


@np.errstate(all="ignore")
def finite(columns: FloatArray) -> BoolArray:
    """Which rows are finite, not constant, and of a size whose squares do not overflow."""
    size = np.abs(columns).max(axis=1)
    return np.asarray(np.isfinite(columns).all(axis=1) & (size < 1e100) & (np.ptp(columns, axis=1) > 1e-12 * size))
