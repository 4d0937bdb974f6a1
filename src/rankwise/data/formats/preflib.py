"""PrefLib files of rankings: ``.soc``, ``.soi``, ``.toc`` and ``.toi``.

The extension says strict or ties (``s``, ``t``), complete or incomplete (``c``, ``i``). A file is a header of lines
``# KEY: value``, then one line ``count: order`` for each different order, items by number, best first, ties in braces:
``12: 3,{1,4},2``.
"""

from __future__ import annotations

import os
import re
import warnings
from array import array
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, Protocol

import numpy as np

from rankwise._typing import FloatArray
from rankwise.data.formats.text import Path, is_writable, numbered_lines, parse_integer, read_text, shown, write_text
from rankwise.data.positions import Unlisted, blank_for, has_ties, own_positions
from rankwise.data.rankings import Rankings
from rankwise.exceptions import RankwiseFormatError

_KINDS = ("soc", "soi", "toc", "toi")
_ITEM_KEY = "ALTERNATIVE NAME"
_NUMBER_KEYS = ("NUMBER ALTERNATIVES", "NUMBER VOTERS", "NUMBER UNIQUE ORDERS")
_KEYS = ("DATA TYPE", *_NUMBER_KEYS, _ITEM_KEY)
# Positions are dense, so short orders of many items cost orders times items: 2**26 positions take 512 MiB.
MOST_CELLS = 1 << 26
_AT_ONCE = 1 << 14
# Weights are float64, which counts one by one up to here.
MOST_VOTERS = 1 << 53


def read_preflib(path: Path, unlisted: Unlisted = "below", *, strict: bool = True) -> Rankings:
    """Read rankings from a PrefLib file: ``.soc``, ``.soi``, ``.toc`` or ``.toi``, plain or gzip.

    Parameters
    ----------
    path : str or path-like
        The file. Without one of these extensions, the header ``DATA TYPE`` says what it holds.
    unlisted : {"below", "missing"}, default="below"
        What an incomplete order says of the items that it does not list: they rank below the listed ones (top-k),
        or nothing. The format leaves this open; look at how the data were asked for.
    strict : bool, default=True
        Whether a header that contradicts the orders is an error. If False it is a warning and the orders count:
        wrong or missing numbers of alternatives, voters or unique orders, a wrong ``DATA TYPE``, an order written
        twice, two alternatives of the same name (the number of each is then added to its name).

    Returns
    -------
    Rankings
        One row per line of the file, in its order, with the counts as weights. Items are in the order of their
        numbers; their names are text. Positions count from 1 = best.

    Raises
    ------
    RankwiseFormatError
        If the file is not what its header and extension say. ``column`` is the field of the line: 1 is the count,
        2 the first item listed.

    See Also
    --------
    write_preflib : The way back.

    References
    ----------
    N. Mattei and T. Walsh, "PrefLib: A Library of Preference Data", ADT 2013; https://preflib.org/format.

    Examples
    --------
    >>> from rankwise.data import Rankings
    >>> from rankwise.data.formats.preflib import read_preflib, write_preflib
    >>> path = getfixture("tmp_path") / "drinks.soi"
    >>> write_preflib(Rankings.from_orders([["tea", "milk", "juice"], ["juice"]], weights=[3, 2]), path)
    >>> read_preflib(path)
    Rankings: 2 rankings of 3 items, top-k
      3 x tea > milk > juice
      2 x juice   (unlisted: tea, milk)
    """
    return parse_preflib(read_text(path), path, unlisted, strict=strict)


def parse_preflib(text: str, path: Path, unlisted: Unlisted = "below", *, strict: bool = True) -> Rankings:
    """What `read_preflib` returns, for the text of the file; warnings point at the caller of its caller."""
    blank = blank_for(unlisted)
    header, n_orders = _read_header(text, path)
    names = _item_names(header, path)
    orders = _parse_orders(text, n_orders, len(names), path)
    _check_kind(orders, header, path)
    rankings = Rankings(
        own_positions(orders.positions(blank)), _distinct(names), np.array(orders.counts, dtype=np.float64)
    )
    for line, problem in _contradictions(header, names, rankings, orders.lines, path):
        cure = "Correct the file, or read it with strict=False to take the orders as they are."
        error = RankwiseFormatError(problem, path=path, line=line, cure=cure if strict else None)
        if strict:
            raise error
        warnings.warn(str(error), UserWarning, stacklevel=3)
    return rankings


def write_preflib(rankings: Rankings, path: Path, title: str = "") -> None:
    """Write rankings as a PrefLib file.

    Equal rankings are merged and their weights added, so reading the file back gives ``rankings.group()``, with item
    names as text. Unlisted and missing items are both left out of an order: read unlisted ones back with
    ``unlisted="below"``, missing ones with ``unlisted="missing"``.

    Parameters
    ----------
    rankings : Rankings
        Every ranking lists at least one item; weights are whole numbers. Unlisted and missing items in one
        collection are an error, since the format cannot tell them apart.
    path : str or path-like
        The extension is that of the rankings: ``.soc`` if all are strict and complete, ``.toc`` if some have ties,
        ``.soi`` if some are incomplete, ``.toi`` if both; ``.gz`` may follow.
    title : str, default=""
        Title for the header.

    See Also
    --------
    read_preflib : The way back, with an example.
    """
    grouped = (rankings if isinstance(rankings, Rankings) else Rankings(rankings)).group()
    kind = _kind_of(grouped.positions)
    if _extension(path) != kind:
        raise ValueError(f"these rankings make a .{kind} file, but the path is {os.fsdecode(path)!r}; name it .{kind}")
    counts = _whole_counts(grouped.weights)
    base = os.path.basename(os.fsdecode(path))
    header = {
        "FILE NAME": base[:-3] if base.lower().endswith(".gz") else base,
        "TITLE": title,
        "DATA TYPE": kind,
        "NUMBER ALTERNATIVES": str(grouped.n_items),
        "NUMBER VOTERS": str(sum(counts)),
        "NUMBER UNIQUE ORDERS": str(len(grouped)),
    } | {f"{_ITEM_KEY} {number}": str(name) for number, name in enumerate(grouped.items, 1)}
    if len({str(name) for name in grouped.items}) < grouped.n_items:
        raise ValueError("two item names are the same as text; rename one")
    for key, value in header.items():
        if not is_writable(value):
            raise ValueError(f"the {key.lower()} {shown(value)} cannot stand in one line of text; rename it")
    lines = [f"# {key}: {value}" for key, value in header.items()]
    lines += [f"{count}: {order_text(ranking)}" for count, ranking in zip(counts, grouped.buckets(), strict=True)]
    write_text(path, "\n".join(lines) + "\n")


@dataclass
class _Header:
    """Values of the header and the lines they stand in."""

    values: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


def _read_header(text: str, path: Path) -> tuple[_Header, int]:
    """The header, and how many lines that are not blank follow it."""
    header = _Header()
    first, n_orders = (0, ""), 0
    for number, line in numbered_lines(text):
        if line.startswith("#"):
            if n_orders:
                raise RankwiseFormatError(
                    "a header line follows an order", path=path, line=number, cure="Is this two files joined? Cut them."
                )
            key, colon, value = line[1:].partition(":")
            key = " ".join(key.split())
            _refuse_name_without_colon(key, colon, number, path)
            if not (colon and key.startswith(_KEYS)):  # a description, a date, a remark
                continue
            if key in header.values:
                raise RankwiseFormatError(
                    f"the header says {shown(key)} again, after line {header.lines[key]}",
                    path=path,
                    line=number,
                    cure="Keep one of the two lines.",
                )
            # One blank parts the value from the colon; more belong to the value.
            header.values[key] = value.removeprefix(" ")
            header.lines[key] = number
        elif line.strip():
            first = first if n_orders else (number, line)
            n_orders += 1
    if not header.values:
        if not n_orders:
            raise RankwiseFormatError("the file holds no header and no orders", path=path, cure="Download it again.")
        number, line = first
        if line.strip().isdigit():
            raise RankwiseFormatError(
                "this is the PrefLib format from before 2022, which has no '#' header",
                path=path,
                line=number,
                cure="Download the file again from preflib.org, in the current format.",
            )
        raise RankwiseFormatError(
            "the header is missing",
            path=path,
            line=number,
            cure=f"A PrefLib file starts with lines such as '# NUMBER ALTERNATIVES: 3' and '# {_ITEM_KEY} 1: tea'.",
        )
    return header, n_orders


def _refuse_name_without_colon(key: str, colon: str, number: int, path: Path) -> None:
    if not colon and re.fullmatch(rf"{_ITEM_KEY}( \d+\b.*)?", key):
        cure = f"Write '# {_ITEM_KEY} 1: name'."
        raise RankwiseFormatError("a name of an alternative has no colon", path=path, line=number, cure=cure)


def _item_names(header: _Header, path: Path) -> list[str]:
    """Names in the order of the items' numbers, which must be 1, 2, 3, ... without a gap."""
    names: dict[int, str] = {}
    for key, value in header.values.items():
        if not key.startswith(_ITEM_KEY):
            continue
        line, text = header.lines[key], key.removeprefix(_ITEM_KEY).strip()
        try:
            item = parse_integer(text)
        except ValueError:
            raise RankwiseFormatError(
                f"{shown(text)} is not the number of an alternative",
                path=path,
                line=line,
                cure=f"Write '# {_ITEM_KEY} 1: name'.",
            ) from None
        if item in names:
            raise RankwiseFormatError(f"alternative {item} is named twice", path=path, line=line, cure="Keep one name.")
        if not value:
            raise RankwiseFormatError(
                f"the name of alternative {item} is empty", path=path, line=line, cure="Write one after the colon."
            )
        names[item] = value
    if not names:
        raise RankwiseFormatError(
            "the header names no alternatives", path=path, cure=f"Add a line '# {_ITEM_KEY} 1: name' for each."
        )
    missing = next(item for item in range(1, len(names) + 2) if item not in names)
    if missing <= len(names):
        raise RankwiseFormatError(
            f"alternative {missing} has no name, though others from 1 to {max(names)} have",
            path=path,
            cure=f"Add the line '# {_ITEM_KEY} {missing}: name'; alternatives are numbered from 1 without a gap.",
        )
    return [names[item] for item in range(1, len(names) + 1)]


def _distinct(names: list[str]) -> list[str]:
    """Names with the item's number added where two are the same."""
    uses = Counter(names)
    taken = set(names)
    result = []
    for number, name in enumerate(names, 1):
        unique = name
        while uses[name] > 1 and unique in taken:
            unique += f" ({number})"
        taken.add(unique)
        result.append(unique)
    return result


def _check_kind(orders: Orders, header: _Header, path: Path) -> None:
    """The extension (or else DATA TYPE) must allow the ties and gaps that the orders have."""
    declared = _extension(path)
    from_name = declared in _KINDS
    if not from_name:
        declared = _data_type(header)
        if not declared:
            return
        if declared not in _KINDS:
            raise RankwiseFormatError(
                f"the data type is {shown(declared)}, which is not rankings",
                path=path,
                line=header.lines["DATA TYPE"],
                cure="Rankings are soc, soi, toc or toi.",
            )
    needed = _kind_name(orders.first_tied is not None, orders.first_incomplete is not None)
    cure = f"Name the file .{needed}" if from_name else f"Write '# DATA TYPE: {needed}'"
    if declared[0] == "s" and orders.first_tied is not None:
        raise RankwiseFormatError(
            f"the order has ties, but {declared} is for strict orders",
            path=path,
            line=orders.first_tied,
            cure=cure + ".",
        )
    if declared[2] == "c" and orders.first_incomplete is not None:
        raise RankwiseFormatError(
            f"the order does not list all {orders.n_items} items, but {declared} is for complete orders",
            path=path,
            line=orders.first_incomplete,
            cure=f"{cure}, or complete the line if it is cut off.",
        )


def _contradictions(
    header: _Header, names: list[str], rankings: Rankings, lines: Sequence[int], path: Path
) -> Iterator[tuple[int | None, str]]:
    """(line, problem) where the header contradicts the rest of the file, or the file says one thing twice."""
    for key, found in zip(_NUMBER_KEYS, (len(names), int(rankings.weights.sum()), len(rankings)), strict=True):
        declared = header.values.get(key, "").strip()
        if not declared:
            yield header.lines.get(key), f"the header gives no {key}"
        elif declared != str(found):
            yield header.lines[key], f"{key} is {shown(declared)}, but the file holds {found}"
    extension, declared = _extension(path), _data_type(header)
    if declared and extension in _KINDS and declared != extension:
        yield header.lines["DATA TYPE"], f"DATA TYPE is {shown(declared)}, but the file is .{extension}"
    for first, again in _repeats(names):
        line = header.lines.get(f"{_ITEM_KEY} {again + 1}")
        yield line, f"alternatives {first + 1} and {again + 1} are both named {shown(names[again])}"
    hashes = np.fromiter((hash(row.tobytes()) for row in rankings.positions), dtype=np.int64, count=len(rankings))
    if len(np.unique(hashes)) < len(rankings):
        for first, again in _repeats([row.tobytes() for row in rankings.positions]):
            yield lines[again], f"the order of line {lines[first]} comes again"


def _repeats(values: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Index of the first use and of the later one, for every value that comes again."""
    first_use: dict[Hashable, int] = {}
    for index, value in enumerate(values):
        first = first_use.setdefault(value, index)
        if first != index:
            yield first, index


def _data_type(header: _Header) -> str:
    return header.values.get("DATA TYPE", "").strip().lower()


def _extension(path: Path) -> str:
    name = os.fsdecode(path).lower().removesuffix(".gz")
    return os.path.splitext(name)[1].removeprefix(".")


def _kind_name(ties: bool, incomplete: bool) -> str:
    return ("t" if ties else "s") + "o" + ("i" if incomplete else "c")


def _kind_of(positions: FloatArray) -> str:
    unlisted, missing = np.isposinf(positions), np.isnan(positions)
    if unlisted.any() and missing.any():
        raise ValueError(
            "some items are unlisted (inf) and some missing (NaN), which PrefLib cannot tell apart; "
            "write the two kinds of rankings to two files, or turn the one into the other"
        )
    nothing = ~np.isfinite(positions).any(axis=1)
    if nothing.any():
        raise ValueError(
            f"ranking {int(np.argmax(nothing))} of the different ones lists no item, which PrefLib cannot say; "
            "drop such rows: rankings[np.isfinite(rankings.positions).any(axis=1)]"
        )
    return _kind_name(bool(has_ties(positions).any()), bool((unlisted | missing).any()))


def _whole_counts(weights: FloatArray) -> list[int]:
    fraction = weights != np.floor(weights)
    if fraction.any():
        row = int(np.argmax(fraction))
        raise ValueError(
            f"ranking {row} of the different ones weighs {weights[row]:g}, but PrefLib counts voters in whole numbers; "
            "multiply the weights up or round them"
        )
    if weights.sum() > MOST_VOTERS:
        raise ValueError(f"the weights add up to more than {MOST_VOTERS:,} voters; divide them by a common factor")
    return [int(weight) for weight in weights]


@dataclass
class Orders:
    """Parsed orders, the items of all in one flat list so that memory follows what the file lists.

    Attributes
    ----------
    n_items : int
        Items are numbered from 1 to this.
    lines, counts, lengths : array of int
        For each order: its line in the file, how many voters gave it, how many items it lists.
    items, places : array of int
        For each item listed, order after order: its number, and its place in its order, 1 = best.
    first_tied, first_incomplete : int or None
        Line of the first order with a tie, and of the first that does not list all items.
    """

    n_items: int
    lines: array[int] = field(default_factory=lambda: array("q"))
    counts: array[int] = field(default_factory=lambda: array("q"))
    lengths: array[int] = field(default_factory=lambda: array("i"))
    items: array[int] = field(init=False)
    places: array[int] = field(init=False)
    first_tied: int | None = None
    first_incomplete: int | None = None

    def __post_init__(self) -> None:
        self.items, self.places = (array("H" if self.n_items < 1 << 16 else "i") for _ in range(2))

    def positions(self, blank: float) -> FloatArray:
        """Positions of shape (n_orders, n_items), with ``blank`` for items that an order does not list."""
        positions = np.full((len(self.lines), self.n_items), blank)
        items, places = (np.frombuffer(found, dtype=found.typecode) for found in (self.items, self.places))
        starts = np.append(0, np.cumsum(self.lengths))
        for begin in range(0, len(self.lines), _AT_ONCE):
            lengths = self.lengths[begin : begin + _AT_ONCE]
            some = slice(starts[begin], starts[begin + len(lengths)])
            rows = np.repeat(np.arange(begin, begin + len(lengths)), lengths)
            positions[rows, items[some].astype(np.intp) - 1] = places[some]
        return positions


def _parse_orders(text: str, n_orders: int, n_items: int, path: Path) -> Orders:
    """Parse the lines ``count: order`` of a file."""
    if n_orders * n_items > MOST_CELLS:
        raise RankwiseFormatError(
            f"{n_orders:,} orders of {n_items:,} items are more than {MOST_CELLS:,} positions",
            path=path,
            cure="Split the file by orders, or leave out items that are never listed.",
        )
    orders = Orders(n_items)
    for number, line in numbered_lines(text):
        if line.startswith("#") or not line.strip():
            continue
        place_of = _parse_line(line, orders, path, number)
        if orders.first_tied is None and len(set(place_of.values())) < len(place_of):
            orders.first_tied = number
        if orders.first_incomplete is None and len(place_of) < n_items:
            orders.first_incomplete = number
        orders.lines.append(number)
        orders.lengths.append(len(place_of))
        orders.items.extend(place_of.keys())
        orders.places.extend(place_of.values())
    if sum(orders.counts) > MOST_VOTERS:
        raise RankwiseFormatError(
            f"the counts add up to more than {MOST_VOTERS:,} voters", path=path, cure="Divide them by a common factor."
        )
    return orders


def order_text(ranking: Sequence[Sequence[int]]) -> str:
    """Buckets of item ids counted from 0, best first, as PrefLib writes them."""
    buckets = [",".join(str(item + 1) for item in bucket) for bucket in ranking]
    return ",".join(f"{{{text}}}" if "," in text else text for text in buckets)


class _Fail(Protocol):
    def __call__(self, problem: str, cure: str, column: int | None = None) -> NoReturn: ...


def _parse_line(line: str, orders: Orders, path: Path, number: int) -> dict[int, int]:
    """Note the count of one line, and return the place of each item it lists, best first."""

    def fail(problem: str, cure: str, column: int | None = None) -> NoReturn:
        raise RankwiseFormatError(problem, path=path, line=number, column=column, cure=cure) from None

    count, colon, order = line.partition(":")
    if not colon:
        fail(f"the line {shown(line)} has no colon", "Write 'count: item,item,...'.")
    if not order.strip():
        fail("the order is empty", "Is the line cut off? List at least one item, or remove the line.", 2)
    try:
        voters = parse_integer(count.strip())
    except ValueError:
        voters = -1
    if voters < 0:
        fail(f"{shown(count)} is not a number of voters", "Write a whole number from 0.", 1)
    orders.counts.append(voters)
    place_of: dict[int, int] = {}
    for column, text, place in _split_order(order, fail):
        try:
            item = parse_integer(text)
        except ValueError:
            fail(f"{shown(text)} is not the number of an item", "Write items by number.", column)
        if not 1 <= item <= orders.n_items:
            fail(f"item {item} is not declared", f"Items are 1 to {orders.n_items}.", column)
        if item in place_of:
            fail(f"item {item} is listed twice", "Every item has one place: remove one of the two.", column)
        place_of[item] = place
    return place_of


def _split_order(order: str, fail: _Fail) -> Iterator[tuple[int, str, int]]:
    """(column, text, place) of every entry between commas; column 1 is the count."""
    place, tying = 0, False
    for column, entry in enumerate(order.split(","), 2):
        token = entry.strip()
        opens, closes = token.startswith("{"), token.endswith("}")
        text = token[opens : len(token) - closes].strip()
        if (opens and tying) or "{" in text or "}" in text:
            fail(f"braces inside braces at {shown(token)}", "Close one tie before the next opens.", column)
        if closes and not (opens or tying):
            fail("a brace closes that was never opened", "Write ties as {1,2}.", column)
        if opens and closes and not text:
            fail("the braces are empty", "Put the tied items in, or remove the braces.", column)
        if not text:
            fail("an item is missing here", "Is the line cut off? Remove the comma, or add the item.", column)
        place += not tying
        tying = (tying or opens) and not closes
        yield column, text, place
    if tying:
        fail("a brace is never closed", "Is the line cut off? Write ties as {1,2}.", column)
