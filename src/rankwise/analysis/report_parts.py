"""What the sections of a report are made of, for `rankwise.analysis.report_sections` and its neighbors."""

from __future__ import annotations

from typing import NamedTuple

from rankwise._tables import TextTable
from rankwise.analysis.report_pictures import Picture, Plan, draw_picture


class Part(NamedTuple):
    """A part of a section: heading, words, picture, table, code, lines, in this order; folded ones open on a click."""

    title: str = ""
    words: str = ""
    picture: Picture | None = None
    table: TextTable | None = None
    code: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    folded: bool = False


class Section(NamedTuple):
    """A section of the page: its id, its heading, the answer in a sentence, and its parts."""

    id: str
    title: str
    lead: str
    parts: list[Part]


def drawn(name: str, plans: dict[str, Plan]) -> Picture | None:
    """The picture of that name, if there is one."""
    return draw_picture(name, plans[name]) if name in plans else None
