"""The order lines of a PrefLib file: ``12: 3,{1,4},2`` is twelve voters, item 3 first, then 1 and 4 tied, then 2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, Protocol

import numpy as np

from rankwise._typing import FloatArray
from rankwise.data.formats.fields import parse_integer, shown
from rankwise.data.formats.lines import Path
from rankwise.exceptions import RankwiseFormatError

# Positions are dense, so many short orders of many items cost orders times items: 2**26 of them are 512 MiB.
MOST_CELLS = 1 << 26
# Weights are float64, which counts one by one up to here.
MOST_VOTERS = 1 << 53


@dataclass
class Orders:
    """Parsed orders, the items of all in one flat list so that memory follows what the file lists.

    Attributes
    ----------
    n_items : int
        Items are numbered from 1 to this.
    lines, counts, lengths : list of int
        For each order: its line in the file, how many voters gave it, how many items it lists.
    items, places : list of int
        For each item listed, order after order: its number, and its place in its order, 1 = best.
    first_tied, first_incomplete : int or None
        Line of the first order with a tie, and of the first that does not list all items.
    """

    n_items: int
    lines: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    items: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    first_tied: int | None = None
    first_incomplete: int | None = None

    def positions(self, blank: float) -> FloatArray:
        """Positions of shape (n_orders, n_items), with ``blank`` for items that an order does not list."""
        positions = np.full((len(self.lines), self.n_items), blank)
        rows = np.repeat(np.arange(len(self.lines)), self.lengths)
        positions[rows, np.asarray(self.items, dtype=np.intp) - 1] = self.places
        return positions


def parse_orders(numbered_lines: Sequence[tuple[int, str]], n_items: int, path: Path) -> Orders:
    """Parse the lines ``count: order``, given with their line numbers."""
    if len(numbered_lines) * n_items > MOST_CELLS:
        raise RankwiseFormatError(
            f"{len(numbered_lines):,} orders of {n_items:,} items are more than {MOST_CELLS:,} positions",
            path=path,
            cure="Split the file by orders, or leave out items that are never listed.",
        )
    orders = Orders(n_items)
    for number, line in numbered_lines:
        place_of = _parse_line(line, orders, path, number)
        if orders.first_tied is None and len(set(place_of.values())) < len(place_of):
            orders.first_tied = number
        if orders.first_incomplete is None and len(place_of) < n_items:
            orders.first_incomplete = number
        orders.lines.append(number)
        orders.lengths.append(len(place_of))
        orders.items += place_of.keys()
        orders.places += place_of.values()
    if sum(orders.counts) > MOST_VOTERS:
        raise RankwiseFormatError(
            f"the counts add up to more than {MOST_VOTERS:,} voters", path=path, cure="Divide them by a common factor."
        )
    return orders


def order_text(ranking: Sequence[Sequence[int]]) -> str:
    """Buckets of item ids counted from 0, best first, as PrefLib writes them."""
    buckets = [",".join(str(item + 1) for item in bucket) for bucket in ranking]
    return ",".join(f"{{{text}}}" if "," in text else text for text in buckets)


# ---------------------------------------------------------------------------------------------------------------


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
