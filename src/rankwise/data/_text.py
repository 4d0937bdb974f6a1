"""Rankings as text that a person reads."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from rankwise._typing import FloatArray
from rankwise.data._items import shortlist

_SHOWN_RANKINGS = 6
_SHOWN_ITEMS = 12


def text_of(positions: FloatArray, items: tuple[Hashable, ...], weights: FloatArray, kind: str) -> str:
    """A heading, and the first rankings one a line."""
    n, k = positions.shape
    head = f"Rankings: {n:,} ranking{'s' * (n != 1)} of {k:,} item{'s' * (k != 1)}, {kind}"
    weighted = bool(np.any(weights != 1))
    shown = []
    for row, weight in zip(positions[:_SHOWN_RANKINGS], weights, strict=False):
        shown.append(f"  {weight:,.10g} x {_line(row, items)}" if weighted else f"  {_line(row, items)}")
    rest = [f"  ... and {n - _SHOWN_RANKINGS:,} more"] if n > _SHOWN_RANKINGS else []
    return "\n".join([head, *shown, *rest])


# ---------------------------------------------------------------------------------------------------------------


def _line(places: FloatArray, items: tuple[Hashable, ...]) -> str:
    """One ranking as ``a > b ~ c   (unlisted: d; missing: e)``."""
    listed = np.argsort(places, kind="stable")[: int(np.isfinite(places).sum())]
    text = ""
    for rank, item in enumerate(listed[: _SHOWN_ITEMS + 1]):
        joint = "" if rank == 0 else " ~ " if places[item] == places[listed[rank - 1]] else " > "
        rest = f"... ({len(listed) - _SHOWN_ITEMS:,} more)"
        text += joint + (str(items[item]) if rank < _SHOWN_ITEMS else rest)
    notes = [
        f"{word}: {shortlist([items[i] for i in np.flatnonzero(mask)])}"
        for word, mask in (("unlisted", np.isposinf(places)), ("missing", np.isnan(places)))
        if mask.any()
    ]
    return ((text or "nothing") + (f"   ({'; '.join(notes)})" if notes else "")).rstrip()
