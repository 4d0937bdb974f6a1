"""One ranking from many, and models of many around one: consensus by places, random rankings."""

from rankwise.aggregation.positional import borda
from rankwise.aggregation.samplers import sample_mallows, sample_plackett_luce

__all__ = ["borda", "sample_mallows", "sample_plackett_luce"]
