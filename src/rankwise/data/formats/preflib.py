"""PrefLib files of rankings: ``.soc``, ``.soi``, ``.toc`` and ``.toi``.

The extension says strict or ties (``s``, ``t``), complete or incomplete (``c``, ``i``). A file is a header of lines
``# KEY: value``, then one line ``count: order`` for each different order, items by number, best first, ties in braces:
``12: 3,{1,4},2``.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from rankwise._typing import FloatArray
from rankwise.data.formats.fields import is_writable, parse_integer, shown
from rankwise.data.formats.lines import Path, read_lines, write_text
from rankwise.data.formats.preflib_orders import MOST_VOTERS, Orders, order_text, parse_orders
from rankwise.data.positions import Unlisted, blank_for, has_ties
from rankwise.data.rankings import Rankings
from rankwise.exceptions import RankwiseFormatError

_KINDS = ("soc", "soi", "toc", "toi")
_ITEM_KEY = "ALTERNATIVE NAME"
_NUMBER_KEYS = ("NUMBER ALTERNATIVES", "NUMBER VOTERS", "NUMBER UNIQUE ORDERS")
_KEYS = ("DATA TYPE", *_NUMBER_KEYS, _ITEM_KEY)


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
    blank = blank_for(unlisted)
    header, order_lines = _split_file(read_lines(path), path)
    names = _item_names(header, path)
    orders = parse_orders(order_lines, len(names), path)
    _check_kind(orders, header, path)
    rankings = Rankings(orders.positions(blank), _distinct(names), orders.counts)
    for line, problem in _contradictions(header, names, rankings, orders.lines, path):
        cure = "Mend the file, or read it with strict=False to take the orders as they are."
        error = RankwiseFormatError(problem, path=path, line=line, cure=cure if strict else None)
        if strict:
            raise error
        warnings.warn(str(error), UserWarning, stacklevel=2)
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


# ---------------------------------------------------------------------------------------------------------------


@dataclass
class _Header:
    """Values of the header and the lines they stand in."""

    values: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


def _split_file(lines: list[str], path: Path) -> tuple[_Header, list[tuple[int, str]]]:
    """Header, and the lines that follow it with their numbers; blank lines are skipped."""
    header = _Header()
    orders: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            if orders:
                raise RankwiseFormatError(
                    "a header line follows an order", path=path, line=number, cure="Is this two files joined? Cut them."
                )
            key, colon, value = line[1:].partition(":")
            key = " ".join(key.split())
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
            orders.append((number, line))
    if not header.values:
        _refuse_without_header(orders, path)
    return header, orders


def _refuse_without_header(orders: list[tuple[int, str]], path: Path) -> None:
    if not orders:
        raise RankwiseFormatError("the file holds no header and no orders", path=path, cure="Download it again.")
    number, line = orders[0]
    if line.strip().isdigit():
        raise RankwiseFormatError(
            "this is the PrefLib format of before 2022, which has no '#' header",
            path=path,
            line=number,
            cure="Download the file again from preflib.org, in the present format.",
        )
    raise RankwiseFormatError(
        "the header is missing",
        path=path,
        line=number,
        cure=f"A PrefLib file starts with lines such as '# NUMBER ALTERNATIVES: 3' and '# {_ITEM_KEY} 1: tea'.",
    )


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
    header: _Header, names: list[str], rankings: Rankings, lines: list[int], path: Path
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
    if len(rankings.group()) < len(rankings):
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
