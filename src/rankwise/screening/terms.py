"""Terms of formulas: the monotone functions of an expression, waves, and products of powers.

Screening by order cannot tell x from exp(x). `class_terms` lists the monotone functions of an expression,
`shifted_terms` and `wave_terms` those with constants inside, and `product_terms` the products of powers that follow a
target. `rankwise.screening.fits` fits them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm
from typing import Any, ClassVar

import numpy as np

from rankwise._state import NUMBER, STRING, Saved, tuple_of
from rankwise._typing import FloatArray, IntArray
from rankwise.screening.expressions import BY_CODE, ExpressionTable

#: exponents that are tried of every expression; whatever is fitted is rounded to one of them if the data allow it
EXPONENTS = tuple(
    float(sign * Fraction(value))
    for value in ("1/3", "1/2", "2/3", "1", "3/2", "2", "5/2", "3", "4")
    for sign in (1, -1)
)
#: functions of scale * expression + shift, with their derivatives by that argument
LINKS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "id": (lambda u: u, np.ones_like),
    "exp": (np.exp, np.exp),
    "log": (np.log, lambda u: 1 / u),
    "sqrt": (np.sqrt, lambda u: 0.5 / np.sqrt(u)),
    "inverse": (lambda u: 1 / u, lambda u: -1 / u**2),
    "inverse sqrt": (lambda u: u**-0.5, lambda u: -0.5 * u**-1.5),
    "square": (np.square, lambda u: 2 * u),
    "arcsin": (np.arcsin, lambda u: 1 / np.sqrt(1 - u**2)),
    "arctan": (np.arctan, lambda u: 1 / (1 + u**2)),
    "tanh": (np.tanh, lambda u: 1 - np.tanh(u) ** 2),
    "sin": (np.sin, np.cos),
}
# Links without constants of their own, tried of every class; the others are tried with a scale or a shift.
_PLAIN = ("exp", "log", "arcsin", "arctan", "tanh")
_SCALED = ("exp", "tanh", "arctan")
_SHIFTED = ("inverse", "sqrt", "inverse sqrt", "square", "log")
# Waves that are tried: their numbers of periods within the range of an expression, and how many of the best are fitted.
_PERIODS, _WAVES = np.arange(0.75, 25.1, 0.25), 2
# Steps in which fitted exponents are rounded, the coarsest first.
_STEPS = (1.0, 1 / 2, 1 / 3)
#: products of higher powers are not tried
LARGEST_EXPONENT = 6.0


@dataclass(frozen=True)
class Term:
    """A function of a product of powers: link(scale * product + shift).

    Attributes
    ----------
    rows : tuple of int
        The expressions that are multiplied, as rows of a table.
    exponents : tuple of float
        Their exponents.
    link : str
        The function; "id" for none.
    scale, shift : float
        Constants inside the function.
    """

    rows: tuple[int, ...]
    exponents: tuple[float, ...]
    link: str = "id"
    scale: float = 1.0
    shift: float = 0.0

    _saved: ClassVar[Saved] = {
        "rows": tuple_of(NUMBER),
        "exponents": tuple_of(NUMBER),
        "link": STRING,
        "scale": NUMBER,
        "shift": NUMBER,
    }

    def _check_saved(self) -> None:
        if self.link not in LINKS or len(self.rows) != len(self.exponents) or not self.rows:
            raise ValueError("a term of a formula is damaged")

    def product(self, values: FloatArray) -> FloatArray:
        """The product of powers, NaN where it is not defined; ``values`` has a row per expression."""
        found = np.ones(values.shape[1])
        for row, exponent in zip(self.rows, self.exponents, strict=True):
            found = found * _power(values[row], exponent)
        return found

    @np.errstate(all="ignore")  # values outside the domain are NaN, which callers drop
    def values(self, values: FloatArray) -> FloatArray:
        """The term on the rows of the data."""
        product = self.product(values)
        if self.link == "id" and self.scale == 1 and not self.shift:
            return product
        return np.asarray(LINKS[self.link][0](self.scale * product + self.shift))

    def moved(self, place: IntArray) -> Term:
        """The same term in a table whose rows have other numbers."""
        return replace(self, rows=tuple(int(place[row]) for row in self.rows))

    @property
    def free(self) -> list[str]:
        """Names of the constants that are fitted: exponents that are not simple fractions, scales and shifts."""
        exponents = [f"exponents {i}" for i, exponent in enumerate(self.exponents) if not _is_simple(exponent)]
        return (
            exponents + ["scale"] * (self.scale not in (1.0, -1.0)) + ["shift"] * (self.shift not in (0.0, 1.0, -1.0))
        )

    def with_constants(self, constants: Iterable[float]) -> Term:
        """The same with other values of its free constants, in their order."""
        term = self
        for name, value in zip(self.free, constants, strict=True):
            if name.startswith("exponents"):
                place = int(name.split()[1])
                exponents = (*term.exponents[:place], float(value), *term.exponents[place + 1 :])
                term = replace(term, exponents=exponents)
            else:
                term = replace(term, scale=float(value)) if name == "scale" else replace(term, shift=float(value))
        return term

    def complexity(self, table_complexity: IntArray) -> int:
        """Operators and constants of the term; an exponent of -1 is a division, which a product has anyway."""
        # One power of a whole product is written once: sqrt(a/b).
        powers = sum((e != 1) + (not _is_simple(e)) for e in {abs(e) for e in self.exponents})
        if len({abs(e) for e in self.exponents}) > 1:
            powers = sum((abs(e) != 1) + (not _is_simple(e)) for e in self.exponents)
        powers += self.exponents == (-1.0,)
        inside = (self.link != "id") + (self.scale != 1) + (self.shift != 0)
        return int(sum(table_complexity[row] for row in self.rows) + len(self.rows) - 1 + powers + inside)


def _power(values: FloatArray, exponent: float) -> FloatArray:
    if exponent == 1:
        return values
    if exponent == round(exponent):
        return np.asarray(values ** int(exponent) if exponent > 0 else 1 / values ** int(-exponent))
    return np.asarray(np.where(values >= 0, abs(values) ** exponent, np.nan))


def _is_simple(exponent: float) -> bool:
    return any(abs(exponent * d - round(exponent * d)) < 1e-9 for d in (2, 3))


def class_terms(row: int, table: ExpressionTable, values: FloatArray) -> list[Term]:
    """Monotone functions of one expression that are defined on all its values; no constants are fitted.

    Powers are those of its root: of a^2, where a is positive, they are the powers of a.
    """
    powers: dict[int, float] = {}
    factor = collect_powers(row, 1.0, table, values, powers)
    root = Term((row,), (1.0,))
    if factor == 1 and powers and all(powers.values()):
        root = Term(tuple(powers), tuple(powers.values()))
        step = _shared_step(root.exponents)
        if step != 1 and (values[list(root.rows)] > 0).all():
            root = replace(root, exponents=tuple(exponent / step for exponent in root.exponents))
    # Of a row that is a product, the shorter of the two ways to write it is taken.
    if root.complexity(table.complexity) > Term((row,), (1.0,)).complexity(table.complexity):
        root = Term((row,), (1.0,))
    base = root.values(values)
    positive, signed = (values[list(root.rows)] > 0).all(), (base != 0).all()
    terms = [
        replace(root, exponents=tuple(exponent * e for e in root.exponents))
        for exponent in EXPONENTS
        if positive or (exponent == round(exponent) and (exponent > 0 or signed))
    ]
    return terms + [replace(root, link=link) for link in _PLAIN if _defined(link, base)]


def _shared_step(exponents: Sequence[float]) -> float:
    """The largest number of which all exponents are multiples, with the sign of the first."""
    parts = [Fraction(exponent).limit_denominator(12) for exponent in exponents]
    if any(abs(part - exponent) > 1e-9 for part, exponent in zip(parts, exponents, strict=True)):
        return 1.0
    shared = Fraction(gcd(*(p.numerator for p in parts)), lcm(*(p.denominator for p in parts)))
    return float(shared if exponents[0] > 0 else -shared)


def shifted_terms(row: int, values: FloatArray) -> list[Term]:
    """The same with a constant inside the function, on a grid from which a fit can start."""
    low, high = float(values.min()), float(values.max())
    spread = high - low
    size = max(abs(low), abs(high))
    terms = [
        Term((row,), (1.0,), link, scale=sign * step / size)
        for link in _SCALED
        for sign in ((1, -1) if link == "exp" else (1,))
        for step in (0.1, 0.3, 1.0, 3.0, 10.0)
    ]
    for link in _SHIFTED:
        for gap in (0.02, 0.1, 0.5, 2.0, 10.0):
            terms.append(Term((row,), (1.0,), link, shift=gap * spread - low))
            terms.append(Term((row,), (1.0,), link, scale=-1.0, shift=gap * spread + high))
    return terms


@np.errstate(all="ignore")
def wave_terms(row: int, values: FloatArray, residual: FloatArray, root: FloatArray | None = None) -> list[Term]:
    """Sines of an expression, with the frequencies and phases that explain most of a residual.

    Frequencies are tried on a grid, each with a sine and a cosine, from which a fit can start. Nothing is returned if
    the best explains no more than the best of so many frequencies would explain of noise.
    """
    scaled = 1.0 if root is None else root
    spread = float(np.ptp(values))
    angles = np.outer(2 * np.pi * _PERIODS / spread, values)
    ones = np.ones((1, len(values))) * scaled
    ones /= np.sqrt((ones**2).sum())

    def centered(columns: FloatArray) -> FloatArray:
        columns = columns * scaled
        return np.asarray(columns - (columns @ ones.T) * ones)

    sine, cosine, left = centered(np.sin(angles)), centered(np.cos(angles)), centered(residual[None])[0]
    ss, cc, sc = ((a * b).sum(axis=1) for a, b in ((sine, sine), (cosine, cosine), (sine, cosine)))
    s, c = sine @ left, cosine @ left
    determinant = ss * cc - sc**2
    a, b = (cc * s - sc * c) / determinant, (ss * c - sc * s) / determinant
    share = np.where(determinant > 1e-6 * ss * cc, (a * s + b * c) / (left @ left), 0.0)
    highest = share >= np.maximum(np.append(share[1:], 0.0), np.append(0.0, share[:-1]))
    best = np.argsort(np.where(highest, -share, 0.0), kind="stable")[:_WAVES]
    return [
        Term((row,), (1.0,), "sin", float(2 * np.pi * _PERIODS[i] / spread), float(np.arctan2(b[i], a[i])))
        for i in best.tolist()
        if share[i] * len(values) > 4 * np.log(20 * len(_PERIODS))
    ]


def _defined(link: str, values: FloatArray) -> bool:
    low, high = values.min(), values.max()
    return bool(
        {"log": low > 0, "arcsin": low >= -1 and high <= 1, "exp": high < 300 and low > -300}.get(link, high - low > 0)
    )


@np.errstate(all="ignore")
def product_terms(
    values: FloatArray,
    inputs: IntArray,
    rows: IntArray,
    y: FloatArray,
    cost: FloatArray,
    most: int,
    root: FloatArray | None = None,
) -> list[Term]:
    """Products of powers of the inputs, and of one more expression each, that follow y up to a factor.

    ``cost`` of an expression is what it takes to write it down, in the units of `Fits.description_length`: of
    expressions that explain about as much, the shortest are taken.

    Logarithms turn a product into a sum, so one least-squares fit per expression gives all exponents, weighted by y^2,
    because errors of a logarithm grow as y falls, and by ``root``^2, the weights of the rows. Exponents are rounded in
    several ways, and the fit decides later.
    """
    if not (y != 0).any():
        return []
    usable = y != 0
    weight, target = abs(y[usable]), np.log(abs(y[usable]))
    if root is not None:
        weight = weight * root[usable]
    inputs = inputs[(values[inputs] > 0).all(axis=1) | (values[inputs] < 0).all(axis=1)]
    rows = rows[(values[rows] != 0).all(axis=1)]
    base = np.vstack([np.ones(weight.size), np.log(abs(values[inputs][:, usable]))]) * weight
    span = np.linalg.svd(base, full_matrices=False)
    span = span[2][span[1] > 1e-10 * span[1][0]]
    left = target * weight
    left = left - span.T @ (span @ left)
    logs = np.log(abs(values[rows][:, usable])) * weight
    rest = logs - (logs @ span.T) @ span
    length = np.einsum("ij,ij->i", rest, rest)
    known = length > 1e-12 * np.einsum("ij,ij->i", logs, logs)
    explained = np.divide((rest @ left) ** 2, length, out=np.zeros(len(rows)), where=known)
    missed = (left @ left - explained).clip(min=1e-24 * (weight**2).sum())
    length = 0.5 * len(left) * np.log(missed) + cost[rows]
    best = rows[np.argsort(np.where(known, length, np.inf), kind="stable")[: min(most, int(known.sum()))]]
    found = []
    for extra in [None, *best.tolist()]:
        chosen = inputs if extra is None else np.append(inputs, extra)
        if not len(chosen):
            continue
        columns = np.vstack([base, *([] if extra is None else [np.log(abs(values[extra][usable])) * weight])])
        exponents = np.linalg.lstsq(columns.T, target * weight, rcond=1e-10)[0][1:]
        found += _rounded(chosen, exponents, values)
    return list(dict.fromkeys(found))


def _rounded(rows: IntArray, exponents: FloatArray, values: FloatArray) -> list[Term]:
    positive = (values[rows] > 0).all(axis=1)
    found = []
    for step in (*_STEPS, None):
        kept = exponents.round(3) if step is None else np.rint(exponents / step) * step
        kept = np.where(positive | (kept == np.rint(kept)), kept, np.rint(kept))
        used = abs(kept) > 1e-9
        if used.any() and (abs(kept) <= LARGEST_EXPONENT).all():
            found.append(Term(tuple(rows[used].tolist()), tuple(kept[used].tolist())))
    return found


def collect_powers(
    row: int, exponent: float, table: ExpressionTable, values: FloatArray, powers: dict[int, float]
) -> float:
    """Add a power of an expression to those of its factors; return a constant factor."""
    name = BY_CODE[int(table.codes[row])].name
    left, right = int(table.lefts[row]), int(table.rights[row])
    whole = exponent == round(exponent)
    inner = {"square": 2.0, "cube": 3.0, "inverse": -1.0, "sqrt": 0.5}.get(name)
    if row >= len(table.inputs):
        if inner is not None and (whole or name == "sqrt" or (values[left] > 0).all()):
            return collect_powers(left, inner * exponent, table, values, powers)
        if name in ("*", "/") and (whole or ((values[left] > 0).all() and (values[right] > 0).all())):
            factor = collect_powers(left, exponent, table, values, powers)
            return factor * collect_powers(right, exponent if name == "*" else -exponent, table, values, powers)
        if name == "+" and left == right and (whole or (values[left] > 0).all()):
            return float(2.0**exponent) * collect_powers(left, exponent, table, values, powers)
    powers[row] = powers.get(row, 0.0) + exponent
    return 1.0
