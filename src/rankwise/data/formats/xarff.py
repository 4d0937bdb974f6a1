"""The xarff files of label ranking (KEBI, WEKA-LR): ARFF whose class attribute holds ``L1>L2>L3``."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from rankwise.data.formats.buckets import OrderParser, rankings_from_rows
from rankwise.data.formats.tables import Covariates
from rankwise.data.formats.text import Path, listed, number, numbered_lines, read_text, shown
from rankwise.data.positions import Unlisted
from rankwise.data.rankings import Rankings
from rankwise.exceptions import RankwiseFormatError

_TIES = ("~", "=")
_BLANKS = re.compile(r"\s*")
_QUOTED = {mark: re.compile(rf"{mark}([^{mark}\\]*(?:\\.[^{mark}\\]*)*){mark}") for mark in "'\""}
_ESCAPED = re.compile(r"\\(.)")
_BARE_NAME = re.compile(r"[^\s{'\"]+")

_MOST_KNOWN = 1 << 16

# None is missing: the cell is a bare question mark.
Cell = str | None
_Cells: TypeAlias = "array[float] | list[Any]"


@dataclass(frozen=True)
class _Attribute:
    name: str
    kind: Literal["number", "text", "ranking"]
    values: tuple[str, ...] | None = None

    @cached_property
    def allowed(self) -> frozenset[str]:
        return frozenset(self.values or ())


def read_xarff(path: Path, *, unlisted: Unlisted = "missing") -> tuple[Covariates, Rankings]:
    r"""Read a label-ranking file in the xarff format.

    The attribute that holds the rankings is declared ``ranking {L1,L2,L3}``, or is the only nominal or string
    attribute whose values all read ``L1>L2>L3``. ``~`` and ``=`` tie labels.

    Parameters
    ----------
    path : str or path-like
        The file, plain or gzip.
    unlisted : {"missing", "below"}, default="missing"
        What a row says of labels that it does not list: nothing, or that they rank below the listed ones.

    Returns
    -------
    X : dict of str to ndarray
        The other attributes by name: float64 with NaN where missing, or text with None where missing. A data frame
        of pandas, polars or Arrow takes it as it is.
    y : Rankings
        Positions of the labels: column = label, 1 = best.

    Raises
    ------
    RankwiseFormatError
        Names the line and the column of what is wrong.

    References
    ----------
    W. Cheng, J. Huehn and E. Huellermeier, "Decision tree and instance-based learning for label ranking", ICML 2009.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "toy.xarff"
    >>> _ = path.write_text("@attribute x real\n@attribute y ranking {a,b,c}\n@data\n0.5,b>a>c\n1.5,c>b\n")
    >>> X, y = read_xarff(path)
    >>> X["x"], y.positions
    (array([0.5, 1.5]), array([[ 2.,  1.,  3.], [nan,  2.,  1.]]))
    """
    return parse_xarff(read_text(path), path, unlisted=unlisted)


def parse_xarff(text: str, path: Path, *, unlisted: Unlisted = "missing") -> tuple[Covariates, Rankings]:
    """What `read_xarff` returns, for the text of the file."""
    attributes, columns, lines = _parse(text, path)
    target = _target(attributes, columns, path)

    def fail(problem: str, *, row: int | None = None, cure: str | None = None) -> RankwiseFormatError:
        line, column = (None, None) if row is None else (lines[row], target + 1)
        return RankwiseFormatError(problem, path=path, line=line, column=column, cure=cure)

    parse = cache(OrderParser(ties=_TIES))
    orders = []
    for row, cell in enumerate(columns.pop(attributes[target].name)):
        try:
            orders.append([] if cell is None else parse(cell))
        except ValueError as error:
            raise fail(f"{shown(cell or '')} is not a ranking: {error}", row=row, cure="Write L1>L2>L3.") from None
    declared = attributes[target].values if attributes[target].kind == "ranking" else None
    y = rankings_from_rows(orders, fail, unlisted=unlisted, items=declared)
    return {name: _typed(cells) for name, cells in columns.items()}, y


def _parse(text: str, path: Path) -> tuple[list[_Attribute], dict[str, _Cells], array[int]]:
    """Attributes, the cells of each with numbers read, and the line of each row."""
    numbered = _content(text)
    attributes = _header(numbered, path)
    columns: list[_Cells] = [array("d") if attribute.kind == "number" else [] for attribute in attributes]
    lines = array("q")
    known: dict[Any, Any] = {}  # a text that rows repeat is kept once
    for line, content in numbered:
        for column, cell in zip(columns, _row(content, attributes, path, line), strict=True):
            if not isinstance(cell, float):
                cell = known.setdefault(cell, cell) if len(known) < _MOST_KNOWN else known.get(cell, cell)
            column.append(cell)
        lines.append(line)
    if not lines:
        raise RankwiseFormatError("there is no row below @data", path=path)
    return attributes, {one.name: column for one, column in zip(attributes, columns, strict=True)}, lines


def _content(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are neither blank nor comments, with their numbers."""
    for number_of_line, line in numbered_lines(text):
        stripped = line.strip()
        if stripped and not stripped.startswith("%"):
            yield number_of_line, stripped


def _header(numbered: Iterator[tuple[int, str]], path: Path) -> list[_Attribute]:
    attributes: list[_Attribute] = []
    names: set[str] = set()
    for line, text in numbered:
        keyword, *rest = text.split(None, 1)
        match keyword.lower():
            case "@relation":
                continue
            case "@attribute":
                attribute = _attribute("".join(rest), path, line)
                if attribute.name in names:
                    raise RankwiseFormatError(
                        f"two attributes are named {shown(attribute.name)}", path=path, line=line, cure="Rename one."
                    )
                names.add(attribute.name)
                attributes.append(attribute)
            case "@data" if attributes:
                return attributes
            case "@data":
                raise RankwiseFormatError("no @attribute comes before @data", path=path, line=line)
            case _:
                raise RankwiseFormatError(
                    f"{shown(text)} is not part of a header",
                    path=path,
                    line=line,
                    cure="Before @data come @relation, @attribute and comments that start with %.",
                )
    raise RankwiseFormatError("there is no @data line", path=path, cure="Write @data between header and rows.")


def _attribute(text: str, path: Path, line: int) -> _Attribute:
    quoted = _QUOTED[text[0]].match(text) if text[:1] in _QUOTED else None
    bare = _BARE_NAME.match(text)
    if quoted:
        name, rest = _ESCAPED.sub(r"\1", quoted[1]), text[quoted.end() :].strip()
    elif bare:
        name, rest = bare[0], text[bare.end() :].strip()
    else:
        raise RankwiseFormatError("the attribute has no name", path=path, line=line, cure="Write @attribute name type.")
    kind, brace, inside = rest.partition("{")
    kind = kind.strip().lower()
    values = None
    if brace:
        if not inside.endswith("}"):
            raise RankwiseFormatError("the brace does not close", path=path, line=line, cure="Write {a,b,c}.")
        values = _values(inside[:-1], path, line)
    if kind in ("numeric", "real", "integer") and values is None:
        return _Attribute(name, "number")
    if kind == "ranking":
        return _Attribute(name, "ranking", values)
    if (kind == "" and values is not None) or (kind == "string" and values is None):
        return _Attribute(name, "text", values)
    raise RankwiseFormatError(
        f"the type {shown(rest)} is not known",
        path=path,
        line=line,
        cure="Types are numeric, real, integer, string, {a,b,c} and ranking {a,b,c}.",
    )


def _values(text: str, path: Path, line: int) -> tuple[str, ...]:
    values = [value or "" for value in _cells(text, path, line)]
    if not all(values) or len(set(values)) < len(values):
        raise RankwiseFormatError("a value is empty or listed twice", path=path, line=line, cure="Write {a,b,c}.")
    return tuple(values)


def _row(text: str, attributes: list[_Attribute], path: Path, line: int) -> list[Any]:
    if text.startswith("{"):
        raise RankwiseFormatError("sparse rows are not read", path=path, line=line, cure="Write every value out.")
    cells = _cells(text, path, line)
    if len(cells) != len(attributes):
        raise RankwiseFormatError(
            f"this row has {len(cells)} value(s), but there are {len(attributes)} attributes",
            path=path,
            line=line,
            cure="Give one value per attribute, ? where it is missing.",
        )
    return [
        _value(cell, attribute, path, line, column)
        for column, (cell, attribute) in enumerate(zip(cells, attributes, strict=True), start=1)
    ]


def _value(cell: Cell, attribute: _Attribute, path: Path, line: int, column: int) -> Any:
    if attribute.kind == "number":
        value = np.nan if cell is None else number(cell)
        if value is None:
            raise RankwiseFormatError(
                f"{shown(cell or '')} is not a number, as {shown(attribute.name)} is declared",
                path=path,
                line=line,
                column=column,
                cure="Write ? where it is missing.",
            )
        return value
    if attribute.kind == "text" and cell is not None and attribute.values and cell not in attribute.allowed:
        raise RankwiseFormatError(
            f"{shown(cell)} is not among the values of {shown(attribute.name)}",
            path=path,
            line=line,
            column=column,
            cure=f"They are {listed(attribute.values)}.",
        )
    return cell


def _cells(text: str, path: Path, line: int) -> list[Cell]:
    """Cut at commas outside quotes."""
    cells: list[Cell] = []
    at = 0
    while True:
        at = _end(_BLANKS, text, at)
        if text[at : at + 1] in ("'", '"'):
            quoted = _QUOTED[text[at]].match(text, at)
            at = _end(_BLANKS, text, quoted.end()) if quoted else at
            if quoted is None or text[at : at + 1] not in ("", ","):
                raise RankwiseFormatError(
                    "a quote does not close before the next comma",
                    path=path,
                    line=line,
                    column=len(cells) + 1,
                    cure="Quote the whole value, and write \\' for a quote inside.",
                )
            cells.append(_ESCAPED.sub(r"\1", quoted[1]))
        else:
            end = text.find(",", at)
            end = len(text) if end < 0 else end
            bare = text[at:end].strip()
            cells.append(None if bare == "?" else bare)
            at = end
        if at >= len(text):
            return cells
        at += 1


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()


def _target(attributes: list[_Attribute], columns: Mapping[str, _Cells], path: Path) -> int:
    """Which attribute holds the rankings."""
    found = [at for at, attribute in enumerate(attributes) if attribute.kind == "ranking"]
    if not found:
        found = [
            at
            for at, attribute in enumerate(attributes)
            if attribute.kind == "text" and _all_orders(attribute.values or columns[attribute.name])
        ]
    if len(found) == 1:
        return found[0]
    problem = (
        f"the attributes {listed([attributes[at].name for at in found])} all hold rankings"
        if found
        else "no attribute holds rankings"
    )
    raise RankwiseFormatError(problem, path=path, cure="Declare one as @attribute name ranking {L1,L2,L3}.")


def _all_orders(values: Iterable[Any]) -> bool:
    present = [value for value in values if value is not None]
    return bool(present) and all(">" in value for value in present)


def _typed(cells: _Cells) -> npt.NDArray[Any]:
    """Numbers as float64; texts and None as objects."""
    if isinstance(cells, array):
        return np.array(cells)
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column
