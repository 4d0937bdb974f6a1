"""The file itself: a zip with a manifest and, for each type of number, one .npy member that holds all arrays of it.

Arrays follow one another in their member, in the order of the manifest, which lists the type, shape and order of each.
So there are few members, whose names are all known, no array can reach beyond its member, and the sizes that the
manifest claims must add up to those of the members before anything is allocated. Used by `files` alone.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import struct
import sys
import zipfile
from collections.abc import Callable
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.lib import format as npy

from rankwise._replacing import replacing

Arrays = list[np.ndarray[Any, Any]]
Manifest = dict[str, Any]

MANIFEST = "manifest.json"
#: type of number -> how it is written
DTYPES = {
    "bool": "|b1",
    "int8": "|i1",
    "int16": "<i2",
    "int32": "<i4",
    "int64": "<i8",
    "uint8": "|u1",
    "uint16": "<u2",
    "uint32": "<u4",
    "uint64": "<u8",
    "float32": "<f4",
    "float64": "<f8",
}
#: bytes of the manifest; parsing JSON takes about twenty times as much memory
MOST_MANIFEST = 2**26

# A manifest may be this many times as long as the whole file, and as long as the second number in any case: those of
# forests are 4 times as long. One that repeats itself for pages inflates to far more than its file, and takes seconds.
_MOST_REPEATED, _SHORT_MANIFEST = 32, 2**20
_CHUNK = 2**20
# Bytes of the list of members at the end of the file; the twelve that are possible take less than 1,000.
_MOST_DIRECTORY = 4096
# Deflate expands a byte to this many at most.
_MOST_INFLATION = 1032
_MOST_AXES = 8
# Columns that an array without rows may have, and the like.
_MOST_OF_NOTHING = 2**24


def write_container(path: str | os.PathLike[str], manifest: Manifest, arrays: Arrays) -> None:
    """Write arrays and the manifest, with the list of arrays and the checksums added to it; all or nothing."""
    with replacing(path) as beside, open(beside, "wb") as file:
        _write(file, manifest, arrays)


def read_container(file: BinaryIO, max_bytes: int, upgraded: Callable[[Manifest], Manifest]) -> tuple[Manifest, Arrays]:
    """The manifest, after ``upgraded`` has brought it up to date, and the arrays, if they are consistent."""
    _check_directory(file, max_bytes)
    with zipfile.ZipFile(file) as archive:
        members = _checked_members(archive, os.fstat(file.fileno()).st_size, max_bytes)
        manifest = upgraded(_read_manifest(archive, members.pop(MANIFEST)))
        layout = [_Layout(*entry) for entry in manifest["arrays"]]
        arrays: list[Any] = [None] * len(layout)
        checksums = manifest["members"]
        if sorted(checksums) != sorted(members) or {f"{part.dtype}.npy" for part in layout} != set(members):
            raise ValueError("manifest and members do not belong together")
        for name, info in members.items():
            places = [place for place, part in enumerate(layout) if f"{part.dtype}.npy" == name]
            with archive.open(info) as stream:
                parts, checksum = _read_member(stream, info.file_size, [layout[place] for place in places])
            if checksum != checksums[name]:
                raise ValueError(f"the checksum of {name} is wrong")
            for place, part in zip(places, parts, strict=True):
                arrays[place] = part
    return manifest, arrays


class _Layout:
    """Type, shape and order of an array, as the manifest lists them."""

    def __init__(self, dtype: Any, shape: Any, order: Any) -> None:
        sizes = isinstance(shape, list) and all(type(length) is int and length >= 0 for length in shape)
        if dtype not in DTYPES or not sizes or len(shape) > _MOST_AXES or order not in ("C", "F"):
            raise ValueError("the manifest lists an array of unknown type, shape or order")
        self.dtype, self.shape, self.order = dtype, shape, order
        self.size = math.prod(shape)
        if not self.size and math.prod(max(1, length) for length in shape) > _MOST_OF_NOTHING:
            raise ValueError("the manifest lists an empty array of a huge shape")

    @classmethod
    def of(cls, array: np.ndarray[Any, Any]) -> _Layout:
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        return cls(array.dtype.name, list(array.shape), order)

    def empty(self) -> np.ndarray[Any, Any]:
        """A flat array to read into; `shaped` gives it its shape."""
        return np.empty(self.size, dtype=DTYPES[self.dtype])

    def shaped(self, flat: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        array = flat.reshape(self.shape, order="F" if self.order == "F" else "C")
        return array if sys.byteorder == "little" else array.astype(self.dtype)

    def listed(self) -> list[Any]:
        return [self.dtype, self.shape, self.order]


def _write(file: BinaryIO, manifest: Manifest, arrays: Arrays) -> None:
    layout = [_Layout.of(array) for array in arrays]
    checksums = {}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for dtype in sorted({part.dtype for part in layout}):
            places = [place for place, part in enumerate(layout) if part.dtype == dtype]
            total = sum(layout[place].size for place in places)
            checksum = hashlib.sha256()
            # Members have no date, so that equal models make equal files.
            with archive.open(f"{dtype}.npy", "w", force_zip64=total > 2**24) as stream:
                for chunk in (_header(dtype, total), *(_bytes_of(arrays[place], layout[place]) for place in places)):
                    checksum.update(chunk)
                    stream.write(chunk)
            checksums[f"{dtype}.npy"] = checksum.hexdigest()
        whole = manifest | {"members": checksums, "arrays": [part.listed() for part in layout]}
        text = json.dumps(whole, allow_nan=False, separators=(",", ":")).encode("ascii")
        if len(text) > MOST_MANIFEST:
            raise ValueError(
                "the model has too many parts to be saved; use joblib.dump, whose files only you should load"
            )
        with archive.open(MANIFEST, "w") as stream:
            stream.write(text)
        if len(text) > _longest_manifest(file.tell()):
            raise ValueError("the model repeats itself too often to be saved; use joblib.dump")


def _header(dtype: str, total: int) -> bytes:
    header = io.BytesIO()
    npy.write_array_header_1_0(header, {"descr": DTYPES[dtype], "fortran_order": False, "shape": (total,)})
    return header.getvalue()


def _bytes_of(array: np.ndarray[Any, Any], layout: _Layout) -> Any:
    rows = array.T if layout.order == "F" else array
    flat = np.ascontiguousarray(rows, dtype=DTYPES[layout.dtype]).reshape(-1)
    return flat.view(np.uint8).data


def _check_directory(file: BinaryIO, max_bytes: int) -> None:
    """Refuse files that are not zip files or list many members; zipfile would read the whole list, however long."""
    size = os.fstat(file.fileno()).st_size
    if size > max_bytes:
        _refuse_size(size, max_bytes)
    file.seek(max(0, size - 98))
    tail = file.read(98)
    if tail[-22:-18] != b"PK\5\6" or tail[-2:] != b"\0\0":
        raise ValueError("the file is not a zip file, or its end is missing")
    count, length = struct.unpack("<HI", tail[-12:-6])
    if tail[-42:-38] == b"PK\6\7":  # a large file has a second, longer end before this one
        count, length = struct.unpack("<QQ", tail[-66:-50])
    if count > len(DTYPES) + 1 or length > _MOST_DIRECTORY:
        raise ValueError("the file has more members than a model has")
    file.seek(0)


def _checked_members(archive: zipfile.ZipFile, size: int, max_bytes: int) -> dict[str, zipfile.ZipInfo]:
    """The members by name, if their names, compression and sizes are those of a model."""
    entries = archive.infolist()
    known = {MANIFEST, *(f"{dtype}.npy" for dtype in DTYPES)}
    names = [entry.filename for entry in entries]
    if len(set(names)) < len(names) or not set(names) <= known or MANIFEST not in names:
        raise ValueError(f"the members are {', '.join(map(ascii, names))[:200]}, which are not those of a model")
    for entry in entries:
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or entry.flag_bits & 0x61:
            raise ValueError(f"{entry.filename} is encrypted, or compressed in a way that models are not")
        if entry.file_size > _MOST_INFLATION * size:
            raise ValueError(f"{entry.filename} claims to be larger than it can be")
    total = sum(entry.file_size for entry in entries)
    if total > max_bytes:
        _refuse_size(total, max_bytes)
    members = {entry.filename: entry for entry in entries}
    if members[MANIFEST].file_size > _longest_manifest(size):
        raise ValueError("the manifest is too long")
    return members


def _longest_manifest(size: int) -> int:
    """Bytes that the manifest of a file of this size may take, so that short files are read in a short time."""
    return min(MOST_MANIFEST, max(_SHORT_MANIFEST, _MOST_REPEATED * size))


def _refuse_size(size: int, max_bytes: int) -> NoReturn:
    from rankwise.exceptions import RankwiseFormatError

    raise RankwiseFormatError(
        f"the model takes {size:,} bytes, but at most {max_bytes:,} are allowed",
        cure=f"If you trust that it needs them, load it with max_bytes={size}.",
    )


def _read_manifest(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Manifest:
    with archive.open(info) as stream:
        text = stream.read(info.file_size + 1)
    manifest = json.loads(text.decode("ascii"), parse_constant=_no_constant)
    if not isinstance(manifest, dict):
        raise ValueError("the manifest is not a JSON object")
    return manifest


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"the manifest holds {name}, which is not JSON")


def _read_member(stream: Any, size: int, layout: list[_Layout]) -> tuple[Arrays, str]:
    """The arrays of a member, and its checksum; sizes are compared before memory is allocated."""
    dtype, total = DTYPES[layout[0].dtype], sum(part.size for part in layout)
    start = _exactly(stream, 10)
    header = start + _exactly(stream, int.from_bytes(start[8:10], "little"))
    if size != len(header) + total * np.dtype(dtype).itemsize:
        raise ValueError("the arrays in the manifest do not fill the member that holds them")
    description = io.BytesIO(header)
    if npy.read_magic(description) != (1, 0):
        raise ValueError("the .npy version of an array is not 1.0")
    shape, fortran, found = npy.read_array_header_1_0(description)
    if shape != (total,) or fortran or found != np.dtype(dtype):
        raise ValueError("an array does not have the type and shape that the manifest lists")
    checksum = hashlib.sha256(header)
    arrays = []
    for part in layout:
        array = part.empty()
        room = memoryview(array.view(np.uint8).data)
        for begin in range(0, len(room), _CHUNK):
            chunk = _exactly(stream, min(_CHUNK, len(room) - begin))
            checksum.update(chunk)
            room[begin : begin + len(chunk)] = chunk
        if part.dtype == "bool" and part.size and array.view(np.uint8).max() > 1:
            raise ValueError("a Boolean is neither 0 nor 1")
        arrays.append(part.shaped(array))
    if stream.read(1):
        raise ValueError("a member is longer than it says")
    return arrays, checksum.hexdigest()


def _exactly(stream: Any, n: int) -> bytes:
    data: bytes = stream.read(n)
    if len(data) != n:
        raise ValueError("a member ends too soon")
    return data
