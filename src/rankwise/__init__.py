"""Learning from rankings: consensus, label ranking, learning to rank, kernels and screening.

The package is light to import: subpackages and the names below are loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rankwise.analysis.analyze import analyze
    from rankwise.data import Rankings, read_rankings
    from rankwise.exceptions import RankwiseFormatError
    from rankwise.persistence import load, save

#: public name -> module that defines it
_NAMES = {
    "analyze": "rankwise.analysis",
    "Rankings": "rankwise.data",
    "read_rankings": "rankwise.data",
    "RankwiseFormatError": "rankwise.exceptions",
    "load": "rankwise.persistence",
    "save": "rankwise.persistence",
}
_SUBPACKAGES = (
    "aggregation",
    "analysis",
    "data",
    "datasets",
    "distances",
    "embeddings",
    "exceptions",
    "kernels",
    "label_ranking",
    "ltr",
    "metrics",
    "model_selection",
    "persistence",
    "plots",
    "screening",
    "trees",
)

__all__ = ["Rankings", "RankwiseFormatError", "__version__", "analyze", "load", "read_rankings", "save"]


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        value = getattr(importlib.import_module(_NAMES[name]), name)
    elif name in _SUBPACKAGES:
        value = importlib.import_module(f"rankwise.{name}")
    else:
        raise AttributeError(f"module 'rankwise' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES, *_SUBPACKAGES})
