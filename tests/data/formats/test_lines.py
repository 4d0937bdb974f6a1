from __future__ import annotations

import contextlib
import gzip
import io
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise import Rankings, RankwiseFormatError
from rankwise.data.formats import (
    read_letor,
    read_preflib,
    read_qrels,
    read_rankings,
    read_run,
    read_xarff,
    write_preflib,
)
from rankwise.data.formats.lines import (
    check_ids,
    is_writable,
    parse_integer,
    parse_number,
    read_lines,
    read_text,
    shown,
    write_text,
)

# Carriage returns are line ends, and a byte-order mark at the start is none of the text.
TEXTS = st.text(st.characters(exclude_characters="\r\0", exclude_categories=["Cs"])).filter(
    lambda text: not text.startswith("\ufeff")
)


@given(TEXTS, st.sampled_from(["a.txt", "a.txt.gz"]))
def test_text_survives_writing_and_reading(text, name):
    with tempfile.TemporaryDirectory() as folder:
        write_text(Path(folder) / name, text)
        assert read_text(Path(folder) / name) == text


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\n\nb\n", ["a", "", "b"]),
        (b"a\r\nb\rc", ["a", "b", "c"]),
        (b"\xef\xbb\xbfa\n", ["a"]),
        ("a\u2028b\x0bc\x85d".encode(), ["a\u2028b\x0bc\x85d"]),  # only real line ends part lines
        (gzip.compress(b"a\nb", mtime=0), ["a", "b"]),
    ],
)
def test_lines(tmp_path, data, lines):
    path = tmp_path / "file"
    path.write_bytes(data)
    assert read_lines(path) == lines
    assert read_lines(str(path)) == lines


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"a\nb\xe9\n", 2, "byte 3 (0xe9) is not valid UTF-8. Save the file as UTF-8."),
        ("a".encode("utf-16"), None, "UTF-16"),
        (b"a\n\x00", 2, "binary"),
        (gzip.compress(b"a" * 100, mtime=0)[:-4], None, "damaged"),
        (gzip.compress(b"a" * 100, mtime=0)[:-8] + bytes(8), None, "damaged"),
        (gzip.compress(b"a", mtime=0) + b"rest", None, "damaged"),
        (b"\x1f\x8b", None, "damaged"),
    ],
)
def test_what_is_not_text_is_refused(tmp_path, data, line, message):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(RankwiseFormatError) as caught:
        read_text(path)
    assert message in str(caught.value)
    assert caught.value.path == str(path)
    assert caught.value.line == line


def test_a_gzip_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("rankwise.data.formats.lines._SMALL", 1)
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(b"a" * 10**7))
    with pytest.raises(RankwiseFormatError, match=r"inflates to more than .* Unpack it yourself"):
        read_text(path)


def test_missing_files_and_folders_are_format_errors(tmp_path):
    with pytest.raises(RankwiseFormatError, match="no such file"):
        read_text(tmp_path / "nothing")
    with pytest.raises(RankwiseFormatError, match=r"this is a folder\. Give a file in it"):
        read_text(tmp_path)
    with pytest.raises(RankwiseFormatError, match="cannot be read"):
        read_text("a\0b")


@pytest.mark.parametrize(
    "reader", [read_text, read_rankings, read_preflib, read_xarff, read_letor, read_qrels, read_run]
)
def test_whatever_is_given_for_a_path(tmp_path, reader):
    path = os.fsencode(tmp_path / "nothing.csv")
    with pytest.raises(RankwiseFormatError, match="no such file") as caught:
        reader(path)
    assert caught.value.path == os.fsdecode(path)
    for no_path in (3, None, ["a.csv"], io.StringIO("a")):
        with pytest.raises(RankwiseFormatError, match="this is no path"):
            reader(no_path)


def test_paths_of_bytes_are_paths(tmp_path):
    path = os.fsencode(tmp_path / "drinks.soc.gz")
    write_preflib(Rankings([[1, 2]]), path)
    assert read_rankings(path).positions.tolist() == [[1, 2]]
    write_text(path, "# nothing\n")
    with pytest.raises(RankwiseFormatError, match=r"drinks\.soc\.gz"):
        read_rankings(path)


def test_encodings_that_are_none(tmp_path):
    for encoding in ("", "no-such", "base64", "undefined", 3, "a\0b"):
        with pytest.raises(ValueError, match=r"encoding is .*; give one that Python knows"):
            read_text(tmp_path / "file", encoding)


@given(st.binary(max_size=40), st.sampled_from(["ascii", "cp1252", "utf-16", "utf-32", "utf-7", "idna", "punycode"]))
def test_any_bytes_in_any_encoding_give_text_or_a_format_error(data, encoding):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        with contextlib.suppress(RankwiseFormatError):
            assert isinstance(read_text(path, encoding), str)


def test_gzip_output_depends_on_the_text_alone(tmp_path):
    for name in ("a.gz", "b.gz"):
        write_text(tmp_path / name, "text")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@pytest.mark.parametrize("text", ["", "-", "1.0", "1_0", " 1", "\u0661", "²", "0x1", "9" * 19, "nan"])
def test_no_integer(text):
    with pytest.raises(ValueError):  # noqa: PT011 (the readers add the words)
        parse_integer(text)


@pytest.mark.parametrize("text", ["", "1_0", "\u0661", "nan", "inf", "-Infinity", "1e999", "1,5", "0x1"])
def test_no_number(text):
    with pytest.raises(ValueError):  # noqa: PT011 (the readers add the words)
        parse_number(text)


@given(st.integers(-(10**18) + 1, 10**18 - 1), st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_survive(integer, number):
    assert parse_integer(str(integer)) == integer
    assert parse_number(repr(number)) == number


def test_ids_and_quotations():
    assert check_ids([1, "a"], name="qid") == ["1", "a"]
    for bad in ("", " a", "a b", "a\u2003b", "\ufeffa", "a\0", "\ud800", "a\n", "x" * 600):
        with pytest.raises(ValueError, match=r"qid\[0\]"):
            check_ids([bad], name="qid")
    with pytest.raises(ValueError, match="no '#'"):
        check_ids(["a#"], name="qid", forbidden="#")
    assert is_writable("a\u2028 b")
    assert not is_writable("a\rb")
    assert shown("a" * 41) == repr("a" * 40) + "..."
