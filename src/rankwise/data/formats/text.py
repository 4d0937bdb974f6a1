"""Text files: decoded strictly, and cut into lines; numbers in their fields, and pieces of them in messages.

All readers of this package get their text here. Every function returns what the file says or raises
`RankwiseFormatError`, which names the file, the line and the cure.
"""

from __future__ import annotations

import codecs
import gzip
import io
import math
import os
import re
import select
import stat
import zlib
from collections.abc import Iterator, Sequence
from typing import BinaryIO, TypeAlias

from rankwise._memory import free_bytes
from rankwise._replacing import replacing
from rankwise.exceptions import RankwiseFormatError

Path: TypeAlias = str | os.PathLike[str]

#: UTF-8, with or without a byte-order mark
ENCODING = "utf-8-sig"
_GZIP_MAGIC = b"\x1f\x8b"
_ZIP_MAGIC = b"PK\x03\x04"
#: a file of a few kilobytes can inflate to terabytes; no ranking data compress that well
MOST_INFLATION = 300
SMALL = 1 << 18
#: what compressed files and pipes may hold, unless the environment variable says otherwise: 1 GiB
MOST_BYTES = 1 << 30
_VARIABLE = "RANKWISE_MAX_READ_BYTES"
_RAISE = f"Set the environment variable {_VARIABLE} to a larger number of bytes."
#: seconds in which a pipe must begin to speak
PATIENCE = 60.0
_CHUNK = 1 << 20
# characters of text that are cut into lines at a time
_CUT_AT_ONCE = 1 << 16
# Every integer up to here is a float64 too, and far longer digit strings would cost quadratic time.
_MOST_DIGITS = 18
_UNWRITABLE = re.compile("[\n\r\0\ud800-\udfff]")
_SHOWN_NAMES = 12


def read_text(path: Path, encoding: str | None = None) -> str:
    """The whole file as text, every line ended by a line feed.

    Gzip is recognized by its first bytes, whatever the name.

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
    if encoding is not None:
        _codec(encoding)  # before the file is read
    return decoded(read_bytes(path), path, encoding)


def read_bytes(path: Path) -> bytes:
    """The content of a file; an error that says why it cannot be read."""
    # Python would take a number for a file that is open already.
    if not isinstance(path, str | bytes | os.PathLike):
        raise RankwiseFormatError("this is not a path", path=path, cure="Give the name of a file.")
    try:
        with open(path, "rb", opener=_opened) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                return _piped(file, found.st_mode, path)
            _refuse_larger_than_memory(found.st_size, path)
            return file.read()
    except RankwiseFormatError:
        raise
    except FileNotFoundError:
        raise RankwiseFormatError("there is no such file", path=path) from None
    except IsADirectoryError:
        raise RankwiseFormatError("this is a folder", path=path, cure="Give a file in it.") from None
    except (OSError, ValueError, TypeError) as error:
        raise RankwiseFormatError(f"the file cannot be read ({error})", path=path) from None


def _opened(path: Path, flags: int) -> int:
    """Open a file; a pipe without a writer would let nobody go on."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _refuse_larger_than_memory(size: int, path: Path) -> None:
    free = free_bytes() if size > MOST_BYTES else None
    if free is not None and size > free:
        raise RankwiseFormatError(
            f"the file has {size:,} bytes, and {free:,} bytes of memory are free",
            path=path,
            cure="Split it, or read it on a larger machine.",
        )


def _piped(file: BinaryIO, mode: int, path: Path) -> bytes:
    """What comes through a pipe, if it begins soon and ends before the limit; devices may never end."""
    if not stat.S_ISFIFO(mode):
        raise RankwiseFormatError("this is a device, and not a file", path=path, cure="Give the name of a file.")
    if not select.select([file], [], [], PATIENCE)[0]:
        raise RankwiseFormatError(
            f"this is a pipe, and nothing came through it in {PATIENCE:g} seconds",
            path=path,
            cure="Give a file, or start the program that writes into the pipe.",
        )
    os.set_blocking(file.fileno(), True)
    data = file.read(most_bytes() + 1)
    if len(data) > most_bytes():
        raise RankwiseFormatError(f"more than {most_bytes():,} bytes came through the pipe", path=path, cure=_RAISE)
    return data


def most_bytes() -> int:
    """Bytes that a reader takes of what does not say its size beforehand; the environment may set another number."""
    given = os.environ.get(_VARIABLE, "")
    return int(given) if given.isascii() and given.isdigit() else MOST_BYTES


def decoded(data: bytes, path: Path, encoding: str | None = None) -> str:
    """The content of a file as `read_text` returns it."""
    codec = ENCODING if encoding is None or encoding == ENCODING else _codec(encoding)
    if data.startswith((_ZIP_MAGIC, _GZIP_MAGIC)):
        data = _unpacked(data, path)
    try:
        text = data.decode(codec)
    except UnicodeError as error:
        raise _undecodable(error, data, codec, path, may_choose=encoding is not None) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise RankwiseFormatError(
            "the file is binary, not text (it holds a zero byte)",
            path=path,
            line=line,
            cure="Save or unpack it as text.",
        )
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def is_plain(data: bytes) -> bool:
    """Whether the content of a file is the text itself: ASCII without zero bytes, its lines ended by line feeds."""
    return data.isascii() and b"\r" not in data and b"\0" not in data


def split_lines(text: str) -> list[str]:
    """The lines of a text, without line ends; line ``i`` of the file is element ``i - 1``."""
    return text.removesuffix("\n").split("\n") if text else []


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that `split_lines` gives with their numbers, few of which are in memory at a time."""
    begin, number_of_line = 0, 1
    while begin < len(text):
        end = text.find("\n", begin + _CUT_AT_ONCE)
        end = len(text) - text.endswith("\n") if end < 0 else end
        lines = text[begin:end].split("\n")
        yield from enumerate(lines, number_of_line)
        begin, number_of_line = end + 1, number_of_line + len(lines)


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file, as `split_lines` gives them."""
    return split_lines(read_text(path))


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8; gzip it if the name ends in ``.gz``."""
    data = text.encode("utf-8")
    if os.fsdecode(path).endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    with replacing(path) as beside:
        beside.write_bytes(data)


def number(text: str) -> float | None:
    """The finite number that a field holds, or None (Python alone would take 1_0, nan and Arabic digits)."""
    if "_" in text or not text.isascii():
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def parse_integer(text: str) -> int:
    """The integer that a field holds; ValueError unless it is a sign and at most 18 ASCII digits."""
    digits = text[1:] if text.startswith(("-", "+")) else text
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
        raise ValueError
    return int(text)


def parse_number(text: str) -> float:
    """The finite number that a field holds, else ValueError."""
    value = number(text)
    if value is None:
        raise ValueError
    return value


def is_writable(text: str) -> bool:
    """Whether text can stand in a line of a UTF-8 file: no line break, no zero byte, no half of a surrogate pair."""
    return _UNWRITABLE.search(text) is None


def shown(text: str, most: int = 40) -> str:
    """Quote a piece of a file in a message, cut where it is long."""
    return repr(text) if len(text) <= most else f"{text[:most]!r}..."


def listed(names: Sequence[str]) -> str:
    """Names as error messages show them."""
    rest = f", ... ({len(names) - _SHOWN_NAMES} more)" if len(names) > _SHOWN_NAMES else ""
    return ", ".join(shown(name) for name in names[:_SHOWN_NAMES]) + rest


def _codec(encoding: str) -> str:
    """The name of the codec; ValueError if there is none."""
    try:
        codec = codecs.lookup(encoding).name
        " ".encode(codec)  # some codecs are not for text
    except (LookupError, TypeError, ValueError):
        raise ValueError(
            f"encoding is {encoding!r}; give one that Python knows, such as 'utf-8-sig' or 'cp1252'"
        ) from None
    return ENCODING if codec == "utf-8" else codec  # the one that drops a byte-order mark


def _unpacked(data: bytes, path: Path) -> bytes:
    if data.startswith(_ZIP_MAGIC):
        # A workbook is a zip archive too; the names of its parts are never compressed.
        if b"xl/" in data or os.fsdecode(path).lower().endswith((".xlsx", ".xlsm")):
            raise RankwiseFormatError("this is an Excel workbook", path=path, cure="Save it as CSV UTF-8.")
        raise RankwiseFormatError("this is a zip archive", path=path, cure="Unpack it.")
    return _inflate(data, path)


def _inflate(data: bytes, path: Path) -> bytes:
    limit = min(max(SMALL, len(data)) * MOST_INFLATION, most_bytes())
    text = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while len(text) <= limit and (chunk := file.read(_CHUNK)):
                text += chunk
    except (OSError, EOFError, zlib.error) as error:
        raise RankwiseFormatError(
            f"the gzip data are damaged after {len(text):,} bytes of text ({error})",
            path=path,
            cure="Download or compress the file again.",
        ) from None
    if len(text) <= limit:
        return bytes(text)
    if limit < most_bytes():
        problem, cure = f"the file inflates to more than {MOST_INFLATION} times its size", "Unpack it yourself."
    else:
        problem, cure = f"the file inflates to more than {limit:,} bytes", f"Unpack it yourself. {_RAISE}"
    raise RankwiseFormatError(problem, path=path, cure=cure)


def _undecodable(error: UnicodeError, data: bytes, codec: str, path: Path, *, may_choose: bool) -> RankwiseFormatError:
    is_utf16 = codec == ENCODING and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if not is_utf16 and not isinstance(error, UnicodeDecodeError):
        return RankwiseFormatError(f"the file is not valid {codec} ({error})", path=path)
    problem, line = "the file is UTF-16", None
    if not is_utf16 and isinstance(error, UnicodeDecodeError):
        known = "UTF-8" if codec == ENCODING else codec
        problem = f"byte {error.start} (0x{data[error.start]:02x}) is not valid {known}"
        line = data.count(b"\n", 0, error.start) + 1
    other = "utf-16" if is_utf16 else "cp1252"
    if not may_choose or codec == other or codec.startswith(("utf-16", "utf-32")):
        return RankwiseFormatError(problem, path=path, line=line, cure="Save the file as UTF-8.")
    who = "" if is_utf16 else ", if Excel on Windows wrote it,"
    cure = f"Save the file as UTF-8; or{who} give encoding={other!r}."
    return RankwiseFormatError(problem, path=path, line=line, cure=cure, choices=[{"encoding": other}])
