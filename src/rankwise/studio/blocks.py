"""What a view is made of: sentences, tables and pictures as plain data, which the page draws and knows no more of.

Numbers that people read come as texts, formatted as the report and the command line do; numbers that are drawn come
bare, None where there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from rankwise._tables import TextTable, short_name

#: a block, or a picture in it
Block: TypeAlias = dict[str, Any]
#: told what happens next, and the share of the work that is done
OnStep: TypeAlias = Callable[[str, float], None]
#: parameters of a view, as the page sends them
Params: TypeAlias = Mapping[str, Any]
Tone: TypeAlias = Literal["plain", "lead", "note", "warning"]

# Longer tables are for files.
_MOST_ROWS = 500


def text(words: str, tone: Tone = "plain") -> Block:
    """A sentence, or a few."""
    return {"kind": "text", "text": words, "tone": tone}


def texts(sentences: Iterable[str], tone: Tone = "plain") -> list[Block]:
    """Sentences, one after the other."""
    return [text(sentence, tone) for sentence in sentences if sentence]


def section(name: str, title: str) -> Block:
    """The heading of what follows."""
    return {"kind": "section", "id": name, "title": title}


def tiles(*given: tuple[str, str, str]) -> Block:
    """A few large numbers: what, value, and more about it."""
    return {"kind": "tiles", "tiles": [{"label": what, "value": value, "detail": more} for what, value, more in given]}


def places(given: Iterable[tuple[int, str]], note: str = "") -> Block:
    """A ranking as people write it: 1, 1, 3."""
    return {"kind": "places", "places": [{"place": place, "name": name} for place, name in given], "note": note}


def table(name: str, shown: TextTable, *, folded: bool = False, marked: Sequence[int] = ()) -> Block:
    """A table of texts; of a long one the first rows, which the note says."""
    rows = [list(row) for row in shown.rows[:_MOST_ROWS]]
    note = shown.note
    if len(shown.rows) > _MOST_ROWS:
        note = f"{note} The first {_MOST_ROWS:,} of {len(shown.rows):,} rows; the workbook has all.".strip()
    return {
        "kind": "table",
        "id": name,
        "title": shown.title,
        "note": note,
        "columns": list(shown.columns),
        "numeric": shown.numeric(),
        "rows": rows,
        "folded": folded,
        "marked": list(marked),
    }


def chart(name: str, title: str, caption: str, drawn: Block, description: str = "") -> Block:
    """A picture with its title, how to read it, and what is to be seen, for people who do not see it."""
    return {
        "kind": "chart",
        "id": name,
        "title": title,
        "caption": caption,
        "description": description or _in_words(drawn),
        "chart": drawn,
    }


def dots(
    labels: Iterable[object],
    value: npt.ArrayLike,
    low: npt.ArrayLike | None = None,
    high: npt.ArrayLike | None = None,
    *,
    axis: str,
    ends: tuple[float, float] | None = None,
    zero: float | None = None,
    form: str = ".2f",
) -> Block:
    """A dot for each label, with its interval."""
    values = np.asarray(value, dtype=float)
    lows, highs = (np.full(len(values), np.nan) if end is None else np.asarray(end, float) for end in (low, high))
    rows = [
        {
            "label": short_name(label),
            "value": number(v),
            "low": number(a),
            "high": number(b),
            "text": _said(v, a, b, form),
        }
        for label, v, a, b in zip(labels, values, lows, highs, strict=True)
    ]
    known = np.concatenate([values, lows, highs])
    known = known[np.isfinite(known)]
    least, most = ends or ((float(known.min()), float(known.max())) if len(known) else (0.0, 1.0))
    margin = 0 if ends else 0.03 * (most - least)  # so that no dot stands on its label
    least, most = least - margin, most + margin
    return {"type": "dots", "rows": rows, "axis": {"label": axis, "low": least, "high": most, "zero": zero}}


def heatmap(
    rows: Iterable[object],
    columns: Iterable[object],
    values: npt.ArrayLike,
    hints: Sequence[Sequence[str]],
    *,
    scale: Literal["share", "diverging"] = "share",
    cell: Literal["pair", "place"] | None = None,
    items: Sequence[int] = (),
) -> Block:
    """Shares from 0 to 1 as colors; a cell says more when it is pointed at, and can be asked who says so.

    It is asked by the numbers of the ``items`` in the rows: names may be shortened.
    """
    shares = np.asarray(values, dtype=float)
    return {
        "type": "heatmap",
        "rows": [short_name(name) for name in rows],
        "columns": [short_name(name) for name in columns],
        "values": [[number(share) for share in row] for row in shares],
        "texts": [[f"{100 * share:.0f}%" if np.isfinite(share) else "" for share in row] for row in shares],
        "hints": [list(row) for row in hints],
        "scale": scale,
        "cell": cell,
        "items": list(items),
    }


def slopes(columns: Sequence[str], labels: Iterable[object], given: npt.ArrayLike) -> Block:
    """A line for each label through its places in the columns."""
    rows = zip(labels, np.asarray(given, dtype=float), strict=True)
    return {
        "type": "slopes",
        "columns": list(columns),
        "rows": [{"label": short_name(label), "places": [number(place) for place in row]} for label, row in rows],
    }


def lines(
    x: Sequence[Any],
    series: Sequence[tuple[str, npt.ArrayLike, npt.ArrayLike | None, npt.ArrayLike | None]],
    *,
    x_label: str,
    y_label: str,
    marked: int | None = None,
    flipped: bool = False,
) -> Block:
    """Curves over the same values; a series is its label, its values, and the ends of its intervals.

    Curves of places are flipped: the best place is at the top.
    """
    return {
        "type": "lines",
        "x": [value.item() if isinstance(value, np.generic) else value for value in x],
        "x_label": x_label,
        "y_label": y_label,
        "series": [
            {"label": label, "y": _numbers(y), "low": _numbers(low), "high": _numbers(high)}
            for label, y, low, high in series
        ],
        "marked": marked,
        "flipped": flipped,
    }


def number(value: float) -> float | None:
    """A number for JSON, which has no NaN."""
    return float(value) if np.isfinite(value) else None


def percent(share: float) -> str:
    """A share in words."""
    return f"{share:.0%}" if np.isfinite(share) else "not known"


def _numbers(values: npt.ArrayLike | None) -> list[float | None] | None:
    return None if values is None else [number(value) for value in np.asarray(values, dtype=float)]


def _said(value: float, low: float, high: float, form: str) -> str:
    """A value with its interval in words."""
    if not np.isfinite(value):
        return "not known"
    ends = [f"{end:{form}}" for end in (low, high) if np.isfinite(end)]
    if len(ends) < 2 or ends[0] == ends[1] == f"{value:{form}}":
        return f"{value:{form}}"
    return f"{value:{form}} ({ends[0]} to {ends[1]})"


def _in_words(drawn: Block) -> str:
    """What a picture of rows shows, in words."""
    if drawn["type"] == "dots":
        said = [f"{row['label']} {row['text']}" for row in drawn["rows"][:20]]
        return f"{drawn['axis']['label']}: {', '.join(said)}."
    return "The numbers are in the table that follows."
