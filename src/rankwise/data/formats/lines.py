"""Text files as numbered lines: plain or gzip, decoded strictly, with errors that name the place."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from typing import TypeAlias

from rankwise.exceptions import RankwiseFormatError

Path: TypeAlias = str | os.PathLike[str]

_GZIP_MAGIC = b"\x1f\x8b"
# A file of a few kilobytes can inflate to terabytes; no ranking data compress that well.
_MOST_INFLATION = 300
_SMALL = 1 << 18


def read_text(path: Path) -> str:
    """The whole file as text, every line ended by a line feed.

    Gzip is recognised by its first bytes, whatever the name. The encoding is UTF-8, with or without a byte-order
    mark.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    str
    """
    data = _read_bytes(path)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise RankwiseFormatError("the file is UTF-16", path=path, cure="Save it as UTF-8.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RankwiseFormatError(
            f"byte {error.start} (0x{data[error.start]:02x}) is not valid UTF-8",
            path=path,
            line=line,
            cure="Save the file as UTF-8.",
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise RankwiseFormatError(
            "the file is binary, not text (it holds a zero byte)",
            path=path,
            line=line,
            cure="Save or unpack it as text.",
        )
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_lines(path: Path) -> list[str]:
    """The lines of a text file, without line ends; line ``i`` of the file is element ``i - 1``."""
    lines = read_text(path).split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    return lines


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8; gzip it if the name ends in ``.gz``."""
    data = text.encode("utf-8")
    if os.fspath(path).endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    with open(path, "wb") as file:
        file.write(data)


# ---------------------------------------------------------------------------------------------------------------


def _read_bytes(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        raise RankwiseFormatError("there is no such file", path=path) from None
    except (OSError, ValueError, TypeError) as error:
        name = path if isinstance(path, str | os.PathLike) else repr(path)
        raise RankwiseFormatError(f"the file cannot be read ({error})", path=name) from None
    return _inflate(data, path) if data.startswith(_GZIP_MAGIC) else data


def _inflate(data: bytes, path: Path) -> bytes:
    limit = max(_SMALL, len(data)) * _MOST_INFLATION
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            text = file.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise RankwiseFormatError(
            f"the gzip data are damaged ({error})", path=path, cure="Download or compress the file again."
        ) from None
    if len(text) > limit:
        raise RankwiseFormatError(
            f"the file inflates to more than {_MOST_INFLATION} times its size", path=path, cure="Unpack it yourself."
        )
    return text
