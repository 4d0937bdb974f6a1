"""What a ranking is: positions, the `Rankings` container, conversions, file formats.

Every other package is built on this one; it imports none of them.
"""

from rankwise.data.formats import *  # noqa: F403 - the list of readers and writers is kept there
from rankwise.data.formats import __all__ as _formats
from rankwise.data.orders import orders_from_positions, positions_from_orders
from rankwise.data.positions import check_positions, dense_positions, midranks, positions_from_scores, reverse
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
    *_formats,
]
