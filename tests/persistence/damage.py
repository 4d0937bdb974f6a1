"""Files that are wrong in one place, with all checksums right: what a forger would write."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.persistence.container import read_container, write_container


def pieces(path: Path) -> tuple[dict[str, Any], list[np.ndarray]]:
    """The manifest and the arrays of a file."""
    with open(path, "rb") as file:
        return read_container(file, 2**31, lambda manifest: manifest)


def forge(path: Path, change: Callable[[dict[str, Any], list[np.ndarray]], None]) -> None:
    """Write the file again after a change to manifest and arrays."""
    manifest, arrays = pieces(path)
    change(manifest, arrays)
    del manifest["members"], manifest["arrays"]
    write_container(path, manifest, arrays)


def record_of(manifest: dict[str, Any], name: str) -> dict[str, Any]:
    """The first record of a class."""
    return next(record for record in manifest["objects"] if record["class"] == name)


def set_array(name: str, part: str, change: Callable[[np.ndarray], Any]) -> Callable[..., None]:
    """Change an array of the first object of a class, in place or by another array."""

    def forged(manifest: dict[str, Any], arrays: list[np.ndarray]) -> None:
        place = record_of(manifest, name)["state"][part]["array"]
        array = arrays[place].copy()
        new = change(array)
        arrays[place] = array if new is None else new

    return forged


def set_part(name: str, part: str, value: Any, title: str = "state") -> Callable[..., None]:
    """Change a part of the first object of a class."""

    def forged(manifest: dict[str, Any], arrays: list[np.ndarray]) -> None:
        record_of(manifest, name)[title][part] = value

    return forged


def members(path: Path) -> dict[str, bytes]:
    """What the zip holds."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(path: Path, entries: list[tuple[str, bytes]], compression: int = zipfile.ZIP_DEFLATED) -> None:
    """Write a zip with any members."""
    import warnings

    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", compression) as archive:
        warnings.simplefilter("ignore")  # of duplicate names
        for name, content in entries:
            archive.writestr(name, content)
    path.write_bytes(buffer.getvalue())


def with_manifest(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the manifest alone, lists of arrays and checksums and all."""
    parts = members(path)
    manifest = json.loads(parts["manifest.json"])
    change(manifest)
    parts["manifest.json"] = json.dumps(manifest).encode()
    zipped(path, list(parts.items()))
