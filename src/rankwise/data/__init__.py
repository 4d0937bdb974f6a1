"""What a ranking is: positions, the Rankings container, conversions, file formats."""

from rankwise.data.positions import (
    check_positions,
    dense_positions,
    midranks,
    orders_from_positions,
    positions_from_orders,
    positions_from_scores,
    reverse,
)
from rankwise.data.rankings import Rankings

__all__ = [
    "Rankings",
    "check_positions",
    "dense_positions",
    "midranks",
    "orders_from_positions",
    "positions_from_orders",
    "positions_from_scores",
    "reverse",
]
