"""Rankings as text and as a table that a person reads."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from rankwise import _html
from rankwise._typing import FloatArray
from rankwise.data._items import shortlist

_SHOWN_RANKINGS = 6
_SHOWN_ITEMS = 12


def text_of(positions: FloatArray, items: tuple[Hashable, ...], weights: FloatArray, kind: str) -> str:
    """A heading, and the first rankings one a line."""
    n = len(positions)
    weighted = bool(np.any(weights != 1))
    shown = []
    for row, weight in zip(positions[:_SHOWN_RANKINGS], weights, strict=False):
        shown.append(f"  {weight:,.10g} x {_line(row, items)}" if weighted else f"  {_line(row, items)}")
    rest = [f"  ... and {n - _SHOWN_RANKINGS:,} more"] if n > _SHOWN_RANKINGS else []
    return "\n".join([_heading(positions, kind), *shown, *rest])


def html_of(positions: FloatArray, items: tuple[Hashable, ...], weights: FloatArray, kind: str) -> str:
    """The same for notebooks: the positions of the first rankings, with a column per item."""
    n, k = positions.shape
    shown = positions[:_SHOWN_RANKINGS, :_SHOWN_ITEMS]
    cut = ["..."] if k > _SHOWN_ITEMS else []
    columns = ["", *map(str, items[:_SHOWN_ITEMS]), *cut]
    rows = [[str(number), *map(_place, row), *cut] for number, row in enumerate(shown)]
    if np.any(weights != 1):
        columns.insert(1, "weight")
        for row, weight in zip(rows, weights, strict=False):
            row.insert(1, f"{weight:,.10g}")
    notes = ["positions, 1 = best"]
    if np.isposinf(shown).any():
        notes.append("∞ = unlisted")
    if np.isnan(shown).any():
        notes.append("- = missing")
    if n > _SHOWN_RANKINGS:
        notes.append(f"... and {n - _SHOWN_RANKINGS:,} more rankings")
    if k > _SHOWN_ITEMS:
        notes.append(f"... and {k - _SHOWN_ITEMS:,} more items")
    return _html.part(_heading(positions, kind), columns, rows, "; ".join(notes))


# ---------------------------------------------------------------------------------------------------------------


def _heading(positions: FloatArray, kind: str) -> str:
    n, k = positions.shape
    return f"Rankings: {n:,} ranking{'s' * (n != 1)} of {k:,} item{'s' * (k != 1)}, {kind}"


def _place(position: float) -> str:
    return "-" if np.isnan(position) else "∞" if np.isposinf(position) else f"{position:.0f}"


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
