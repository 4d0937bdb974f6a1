"""Saved models: a zip of plain arrays and a JSON manifest, which runs no code when it is read.

- ``files``: `save` and `load`.
- ``container``: the zip, with sizes and checksums.
- ``graphs``: objects to JSON and back.
- ``recipes``: the classes that a file may hold, and of what they are made; ``kinds`` and ``checks``: what that must be.
- ``boosters``, ``parts``: classes that are not made of attributes, LightGBM's text first of all.
"""

from rankwise.persistence.files import load, save

__all__ = ["load", "save"]
