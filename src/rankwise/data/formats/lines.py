"""Text files as numbered lines: plain or gzip, decoded strictly, with errors that name the place."""

from __future__ import annotations

import codecs
import gzip
import io
import math
import os
import re
import zlib
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rankwise.exceptions import RankwiseFormatError

Path: TypeAlias = str | os.PathLike[str]

_UTF8 = "utf-8-sig"
_GZIP_MAGIC = b"\x1f\x8b"
_ZIP_MAGIC = b"PK\x03\x04"
# A file of a few kilobytes can inflate to terabytes; no ranking data compress that well.
_MOST_INFLATION = 300
_SMALL = 1 << 18


def read_text(path: Path, encoding: str | None = None) -> str:
    """The whole file as text, every line ended by a line feed.

    Gzip is recognised by its first bytes, whatever the name.

    Parameters
    ----------
    path : str or path-like
        The file.
    encoding : str, optional
        The encoding, where the caller lets the user choose it; else the file is UTF-8. A byte-order mark is dropped.

    Returns
    -------
    str
    """
    codec = _codec(encoding)
    text = _decode(_read_bytes(path), codec, path, may_choose=encoding is not None)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise RankwiseFormatError(
            "the file is binary, not text (it holds a zero byte)",
            path=path,
            line=line,
            cure="Save or unpack it as text.",
        )
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_lines(path: Path, encoding: str | None = None) -> list[str]:
    """The lines of a text file, without line ends; line ``i`` of the file is element ``i - 1``."""
    lines = read_text(path, encoding).split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    return lines


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8; gzip it if the name ends in ``.gz``."""
    data = text.encode("utf-8")
    if os.fsdecode(path).endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    with open(path, "wb") as file:
        file.write(data)


def _codec(encoding: str | None) -> str:
    """The name of the codec; of UTF-8 the one that drops a byte-order mark."""
    if encoding is None:
        return _UTF8
    try:
        name = codecs.lookup(encoding).name
        " ".encode(name)  # some codecs are not for text
    except (LookupError, TypeError, ValueError):
        raise ValueError(
            f"encoding is {encoding!r}; give one that Python knows, such as 'utf-8-sig' or 'cp1252'"
        ) from None
    return _UTF8 if name == "utf-8" else name


def _decode(data: bytes, codec: str, path: Path, *, may_choose: bool) -> str:
    if codec == _UTF8 and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        choice = ", or give encoding='utf-16'" if may_choose else ""
        raise RankwiseFormatError("the file is UTF-16", path=path, cure=f"Save it as UTF-8{choice}.")
    try:
        return data.decode(codec)
    except UnicodeDecodeError as error:
        at = error.start
        name = "UTF-8" if codec == _UTF8 else codec
        choice = ", or give its encoding, such as encoding='cp1252' (Excel on Windows)" if may_choose else ""
        raise RankwiseFormatError(
            f"byte {at} (0x{data[at]:02x}) is not valid {name}",
            path=path,
            line=data.count(b"\n", 0, at) + 1,
            cure=f"Save the file as UTF-8{choice}.",
        ) from None
    except UnicodeError as error:
        raise RankwiseFormatError(f"the file is not valid {codec} ({error})", path=path) from None


def _read_bytes(path: Path) -> bytes:
    # Python would take a number for a file that is open already.
    if not isinstance(path, str | bytes | os.PathLike):
        raise RankwiseFormatError("this is no path", path=path, cure="Give the name of a file.")
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        raise RankwiseFormatError("there is no such file", path=path) from None
    except IsADirectoryError:
        raise RankwiseFormatError("this is a folder", path=path, cure="Give a file in it.") from None
    except (OSError, ValueError, TypeError) as error:
        raise RankwiseFormatError(f"the file cannot be read ({error})", path=path) from None
    if data.startswith(_ZIP_MAGIC):
        # A workbook is a zip archive too; the names of its parts are never compressed.
        if b"xl/" in data or os.fsdecode(path).lower().endswith((".xlsx", ".xlsm")):
            raise RankwiseFormatError("this is an Excel workbook", path=path, cure="Save it as CSV UTF-8.")
        raise RankwiseFormatError("this is a zip archive", path=path, cure="Unpack it.")
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


# The fields of a line: strict numbers, ids that fit one field, short quotations for messages.


StrArray: TypeAlias = npt.NDArray[np.str_]

# An array of text is as wide as its longest entry, so one endless id would cost that width in every row.
MOST_ID_CHARACTERS = 512
# Every integer up to here is a float64 too, and far longer digit strings would cost quadratic time.
_MOST_DIGITS = 18
_UNWRITABLE = re.compile("[\n\r\0\ud800-\udfff]")


def parse_integer(text: str) -> int:
    """The integer that a field holds; ValueError unless it is a sign and at most 18 ASCII digits."""
    digits = text[1:] if text.startswith(("-", "+")) else text
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
        raise ValueError
    return int(text)


def parse_number(text: str) -> float:
    """The finite number that a field holds, else ValueError (Python alone would take 1_0, nan and Arabic digits)."""
    if "_" in text or not text.isascii():
        raise ValueError
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def id_array(ids: Sequence[str], line_of_row: Sequence[int], path: Path) -> StrArray:
    """Ids read from a file as an array of text."""
    longest = max(ids, key=len)
    if len(longest) > MOST_ID_CHARACTERS:
        raise RankwiseFormatError(
            f"the id {shown(longest)} has {len(longest):,} characters",
            path=path,
            line=line_of_row[ids.index(longest)],
            cure=f"Ids may have {MOST_ID_CHARACTERS}; shorten it, or number the ids.",
        )
    return np.array(ids)


def check_ids(ids: Iterable[Any], *, name: str, forbidden: str = "") -> list[str]:
    """Ids as text that a file can hold: one field each.

    Parameters
    ----------
    ids : iterable
        Text or numbers.
    name : str
        What error messages call them.
    forbidden : str, default=""
        A character that the format keeps for itself.

    Returns
    -------
    list of str
    """
    texts = as_texts(ids)
    for row, text in enumerate(texts):
        # A byte-order mark counts as a blank: at the start of a file it would be lost.
        blank = text.split() != [text] or "\ufeff" in text
        if blank or not is_writable(text) or (forbidden and forbidden in text):
            also = f", and no {forbidden!r}" if forbidden else ""
            raise ValueError(
                f"{name}[{row}] is {shown(text)}; ids are not empty and hold no blanks{also}: replace them"
            )
        if len(text) > MOST_ID_CHARACTERS:
            raise ValueError(f"{name}[{row}] has {len(text):,} characters; ids may have {MOST_ID_CHARACTERS}")
    return texts


def as_texts(ids: Iterable[Any]) -> list[str]:
    """Ids of any kind as text."""
    return list(map(str, ids.tolist() if isinstance(ids, np.ndarray) else ids))  # tolist: NumPy's scalars are slow


def is_writable(text: str) -> bool:
    """Whether text can stand in a line of a UTF-8 file: no line break, no zero byte, no half of a surrogate pair."""
    return _UNWRITABLE.search(text) is None


def shown(text: str, most: int = 40) -> str:
    """Quote a piece of a file in a message, cut where it is long."""
    return repr(text) if len(text) <= most else f"{text[:most]!r}..."
