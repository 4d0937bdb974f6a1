"""One ranking from many: consensus by places."""

from rankwise.aggregation.positional import borda

__all__ = ["borda"]
