"""Saved models: a zip of plain arrays and a JSON manifest, which runs no code when it is read.

- ``files``: `save` and `load`.
- ``container``: the zip file, with sizes and checksums.
- ``object_graph``: objects to JSON and back.
- ``classes``: the classes that a file may hold. Ours say themselves what of them is saved, see ``rankwise/_state.py``.
- ``allowed``: the parameters of scikit-learn's classes that a file may hold.
- ``boosters``: LightGBM's text.
- ``upgrades``: files of earlier versions of the format.
"""

from rankwise.persistence.files import load, save

__all__ = ["load", "save"]
