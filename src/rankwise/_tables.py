"""Displays of results: text tables in a terminal, HTML in a notebook, and data frames.

Used by the result objects of all packages, the report and the command line. A result holds arrays and names; it makes a
`TextTable` when it is displayed, and never reads one back. HTML comes from ``rankwise/templates`` only.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from jinja2 import Environment

# Longer names are shortened in tables; JSON and data frames keep them in full.
_LONGEST_NAME = 60
_GAP = "  "
# A number with its sign, unit and error, an interval of places, or a dash for none.
# What moves a cursor, colors a terminal, breaks a line or turns the direction of writing. Line feeds and tabs stay.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_NUMBER = re.compile(r"([-+]?[\d,.]+%?|-|nan)( ?(±|to|-) ?[-+]?[\d,.]+%?)?", re.ASCII)


class TextTable(NamedTuple):
    """A table of strings with a title and a note, ready to be displayed (but not HTML-escaped).

    The note is printed below the title, in a notebook below the table. If all column names are empty, there is no
    header; without rows, there is only a title and a note.
    """

    title: str
    note: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def lines(self) -> list[str]:
        """Title, note and rows, one line each, with aligned columns and without trailing spaces."""
        from rich.cells import cell_len

        rows = [*([self.columns] if any(self.columns) else []), *self.rows] if self.rows else []
        cells = [[visible(" ".join(cell.splitlines())) for cell in row] for row in rows]
        widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
        lines = []
        for row in cells:
            padded = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
            sides = zip(row, padded, self.numeric(), strict=True)
            lines.append(_GAP.join(pad + cell if right else cell + pad for cell, pad, right in sides).rstrip())
        return [*map(visible, filter(None, (self.title, self.note))), *lines]

    def numeric(self) -> list[bool]:
        """Which columns hold numbers below a header; these are aligned at the right."""
        if not any(self.columns):
            return [False] * len(self.columns)
        return [
            any(column) and all(not cell or _NUMBER.fullmatch(cell) for cell in column)
            for column in zip(*self.rows, strict=True)
        ]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return render("table_in_notebook.html.j2", shown=self)


class Result:
    """A result that shows itself as tables: text in a terminal, HTML in a notebook."""

    def tables(self) -> list[TextTable]:
        """The result as tables of text, in reading order."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n\n".join(map(str, self.tables()))

    def _repr_html_(self) -> str:
        return "\n".join(table._repr_html_() for table in self.tables())


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun, such as "1 row" or "1,000 rows"."""
    return f"{n:,} {noun if n == 1 else plural or f'{noun}s'}"


def visible(text: str) -> str:
    r"""Text that only says something: control characters and changes of direction, which may be in names, are spelled.

    Examples
    --------
    >>> print(visible("tea\x1b[31m"))
    tea\x1b[31m
    """
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def short_name(name: object) -> str:
    """A name on one line, shortened if it is very long."""
    text = visible(" ".join(str(name).split()))
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 3]}..."


def with_short_names(text: str, names: Iterable[object]) -> str:
    """Shorten those of the names in a text that are very long."""
    for name in sorted(map(str, names), key=len, reverse=True):  # a name may contain another one
        if len(name) > _LONGEST_NAME:
            text = text.replace(name, short_name(name))
    return text


def make_frame(columns: Mapping[str, Any], backend: str | None = None) -> Any:
    """A pandas or polars data frame or a pyarrow table; by default the first of these that is installed."""
    from importlib.util import find_spec

    import narwhals as nw

    known = ("pandas", "polars", "pyarrow")
    if backend is not None and backend not in known:
        raise ValueError(f"backend is {backend!r}; choose one of {', '.join(known)}")
    installed: list[Any] = [name for name in (known if backend is None else (backend,)) if find_spec(name) is not None]
    if not installed:
        wanted = "pandas, polars or pyarrow" if backend is None else backend
        raise ImportError(f"to_frame needs {wanted}: pip install {backend or 'pandas'}")
    return nw.from_dict(dict(columns), backend=installed[0]).to_native()


def name_column(names: Sequence[Hashable]) -> list[Any]:
    """Names as a column of a data frame: unchanged if all have the same type, otherwise as strings."""
    return list(names) if len({type(name) for name in names}) == 1 else [str(name) for name in names]


def render(template: str, **values: Any) -> str:
    """Fill in a template of the folder ``templates``, in which all text is escaped."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("rankwise"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    # Words may be broken into lines between them; a number with its sign and unit, or a range of two, may not.
    environment.tests["words"] = lambda text: any(character.isalpha() for character in text.replace(" to ", ""))
    return environment
