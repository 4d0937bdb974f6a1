"""What all generators share: checks of arguments, and sorting by score."""

from __future__ import annotations

import numpy as np

from rankwise._typing import FloatArray
from rankwise._validation import check_real_number, check_whole_number


def check_sizes(*, at_least: int = 1, **sizes: int) -> None:
    """Refuse sizes that are no whole numbers or too small, naming the first."""
    for name, size in sizes.items():
        check_whole_number(name, size, at_least=at_least)


def check_spread(**spreads: float) -> None:
    """Refuse scales and standard deviations that are negative or not finite, naming the first."""
    for name, spread in spreads.items():
        check_real_number(name, spread)


def check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Refuse a value that is none of the choices, listing them."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices[:-1])
        raise ValueError(f"{name} is {value!r}; choose {listed} or {choices[-1]!r}")


def sorted_positions(scores: FloatArray) -> FloatArray:
    """Full rankings by decreasing score, 1 = highest; of equal scores the earlier column comes first."""
    order = np.argsort(-scores, axis=1, kind="stable")
    positions = np.empty_like(scores)
    np.put_along_axis(positions, order, np.arange(1.0, scores.shape[1] + 1)[None], axis=1)
    return positions
