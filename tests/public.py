"""Every public class, found by name, so that a new one cannot be forgotten."""

from __future__ import annotations

import importlib
import inspect
from functools import cache

MODULES = [
    "aggregation",
    "data",
    "embeddings",
    "kernels",
    "label_ranking",
    "ltr",
    "model_selection",
    "screening",
    "trees",
]


@cache
def public_classes() -> tuple[type, ...]:
    packages = [importlib.import_module(f"rankwise.{name}") for name in MODULES]
    things = {name: getattr(package, name) for package in packages for name in package.__all__}
    return tuple(thing for _, thing in sorted(things.items()) if inspect.isclass(thing))
