"""Physical units of expressions: exponents of base units, one row per expression."""

from __future__ import annotations

import numpy as np

from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray
from rankwise._validation import check_numbers
from rankwise.screening.operators import BINARY, BY_CODE

# Thirds and their multiples are no exact numbers.
_DIGITS = 9


def check_units(units: ArrayLike | None, n_inputs: int) -> FloatArray | None:
    """Exponents as (n_inputs, n_base_units), whole numbers."""
    if units is None:
        return None
    exponents = check_numbers("units", units)
    if exponents.ndim != 2 or len(exponents) != n_inputs:
        raise ValueError(
            f"units has shape {exponents.shape}; give one row of exponents for each of the {n_inputs} inputs, one "
            "column per base unit"
        )
    if not np.isfinite(exponents).all():
        raise ValueError("units has an exponent that is not finite; give whole numbers")
    if not np.equal(exponents, np.rint(exponents)).all():
        raise ValueError("units has an exponent that is no whole number; choose smaller base units")
    return exponents


def may_apply(units: FloatArray, codes: IntArray, lefts: IntArray, rights: IntArray) -> BoolArray:
    """Whether operators make sense: sums of equal units, and exp, log, sin, cos of pure numbers."""
    _, kind = np.unique(units.round(_DIGITS), axis=0, return_inverse=True)
    pure = (units.round(_DIGITS) == 0).all(axis=1)
    additive = np.isin(codes, [BINARY[name].code for name in ("+", "-", "|-|")])
    of_numbers = np.isin(codes, [code for code, operator in BY_CODE.items() if operator.unit_power is None])
    return (~additive | (kind[lefts] == kind[rights])) & (~of_numbers | pure[lefts])


def units_of(units: FloatArray, codes: IntArray, lefts: IntArray, rights: IntArray) -> FloatArray:
    """Units of expressions of rows."""
    powers = np.array([BY_CODE[code].unit_power or 0.0 for code in range(len(BY_CODE))])
    factor = np.where(codes == BINARY["*"].code, 1.0, np.where(codes == BINARY["/"].code, -1.0, 0.0))
    return powers[codes, None] * units[lefts] + factor[:, None] * units[rights]
