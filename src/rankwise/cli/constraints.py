"""Constraints and weights of ``rankwise consensus`` as people write them: ``--before "A > B"`` and the like."""

from __future__ import annotations

import csv
import re
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rankwise.data import Rankings

Before = Annotated[
    list[str] | None,
    typer.Option(
        metavar='"A > B"',
        help='Kemeny\'s ranking must have A before B; several times, or "A > B > C".',
    ),
]
AtLeast = Annotated[
    list[str] | None,
    typer.Option(
        metavar='"2 of A, B, C in 3"', help="At least 2 of these items must be among the first 3; several times, too."
    ),
]
ItemWeight = Annotated[
    list[str] | None,
    typer.Option(metavar='"A=2"', help="Comparisons with A count twice; may be given several times."),
]
PositionWeights = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBERS",
        help="What the places of each ranking count: 3,2,1 (the last for all further ones), or top-3 for these only.",
    ),
]
_AT_LEAST = re.compile(
    r"\s*(?:at least\s+)?(\d+)\s+of\s+(.+)\s+(?:in|among)\s+(?:the\s+)?(?:first\s+|top[ -])?(\d+)\s*"
)


def constraints(
    before: Sequence[str] | None,
    at_least: Sequence[str] | None,
    item_weight: Sequence[str] | None,
    position_weights: str | None,
    rankings: Rankings,
) -> dict[str, Any]:
    """The arguments of `rankwise.analysis.consensus` that the options say."""
    items = _Items(rankings.items)
    found: dict[str, Any] = {
        "before": [pair for text in before or () for pair in _pairs(text, items)],
        "at_least": [_group(text, items) for text in at_least or ()],
    }
    if item_weight:
        found["item_weights"] = dict(_weight(text, items) for text in item_weight)
    if position_weights is not None:
        found["position_weights"] = _places(position_weights)
    return {name: value for name, value in found.items() if value}


class _Items(dict[str, Hashable]):
    """The items by their names as texts; case does not matter where this leaves no doubt."""

    def __init__(self, items: Sequence[Hashable]) -> None:
        names = [str(item).strip().lower() for item in items]
        super().__init__(
            {name: item for name, item in zip(names, items, strict=True) if names.count(name) == 1}
            | {str(item): item for item in items}
        )

    def named(self, text: str) -> Hashable:
        """The item, or the text itself where no item is called so: the library says which are alike."""
        text = text.strip()
        return self.get(text, self.get(text.lower(), text))


def _pairs(text: str, items: _Items) -> list[tuple[Hashable, Hashable]]:
    names = [items.named(part) for part in text.split(">")]
    if len(names) < 2 or "" in names:
        raise typer.BadParameter(f'{text!r} is not "A > B": A must come before B', param_hint="--before")
    return list(pairwise(names))


def _group(text: str, items: _Items) -> tuple[int, list[Hashable], int]:
    parts = _AT_LEAST.fullmatch(text)
    if parts is None:
        raise typer.BadParameter(
            f'{text!r} is not "2 of A, B, C in 3": at least 2 of A, B and C among the first 3', param_hint="--at-least"
        )
    # A name with a comma stands in quotation marks, as in a CSV file.
    group = next(csv.reader([parts[2]], skipinitialspace=True))
    return int(parts[1]), [items.named(name) for name in group if name.strip()], int(parts[3])


def _weight(text: str, items: _Items) -> tuple[Hashable, float]:
    name, equals, value = text.rpartition("=")
    if not equals or not name.strip() or not _is_number(value):
        raise typer.BadParameter(f'{text!r} is not "A=2": the item, then its weight', param_hint="--item-weight")
    return items.named(name), float(value)


def _places(text: str) -> str | list[float]:
    if text.strip().lower().startswith("top"):
        return text
    numbers = text.split(",")
    if not all(map(_is_number, numbers)):
        raise typer.BadParameter(
            f"{text!r} is neither numbers, as 3,2,1, nor top-3, which counts these only",
            param_hint="--position-weights",
        )
    return [float(number) for number in numbers]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
