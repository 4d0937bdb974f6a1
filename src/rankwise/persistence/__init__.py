"""Saved models: a zip of plain arrays and a JSON manifest, which runs no code when it is read.

- ``files``: `save` and `load`.
- ``container``: the zip file, with sizes and checksums.
- ``object_graph``: objects to JSON and back.
- ``classes``: the classes that a file may hold. Each says itself what of it is saved, see ``rankwise/_state.py``.
- ``externals``, ``boosters``: classes of other libraries, above all LightGBM's text.
- ``upgrades``: files of earlier versions of the format.
"""

from rankwise.persistence.files import load, save

__all__ = ["load", "save"]
