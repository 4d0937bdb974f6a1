"""What rows of numbers are, written from the words: places 1 to k, ties in one of four ways, skips, and slips."""

from __future__ import annotations

import math


def shared_places(row, way):
    """The places of sorted numbers whose ties share the lowest, mean, highest or next place."""
    ordered = sorted(row)
    places = []
    for value in ordered:
        first, last = ordered.index(value) + 1, len(ordered) - ordered[::-1].index(value)
        dense = len({other for other in ordered if other <= value})
        places.append({"lowest": first, "mean": (first + last) / 2, "highest": last, "dense": dense}[way])
    return ordered, places


def kinds_of_rows(rows):
    """A word for each row of a table of numbers, NaN where blank."""
    ways = ("lowest", "mean", "highest", "dense")
    given = [[value for value in row if math.isfinite(value)] for row in rows]
    tied = [row for row in given if len(set(row)) < len(row)]
    fits = {way: sum(shared_places(row, way)[0] == shared_places(row, way)[1] for row in tied) for way in ways}
    way = max(ways, key=lambda one: fits[one])  # the first of the best
    words = []
    for row, whole in zip(given, rows, strict=True):
        if not row:
            words.append("empty")
        elif sorted(row) == list(range(1, len(row) + 1)):
            words.append("plain")
        elif shared_places(row, way)[0] == shared_places(row, way)[1]:
            words.append("tied")
        elif max(row) > len(whole):
            words.append("beyond")
        elif any(value != round(value) for value in row):
            words.append("fraction")
        elif len(set(row)) == len(row):
            words.append("skipped")
        else:
            words.append("gap")
    return words
