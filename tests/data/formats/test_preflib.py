from __future__ import annotations

import csv
import io
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise import Rankings, RankwiseFormatError
from rankwise.data.formats import preflib
from rankwise.data.formats.preflib import read_preflib, write_preflib
from tests.data.formats.mutations import damaged
from tests.strategies import position_matrices

MALFORMED = Path(__file__).parent / "malformed" / "preflib"

VALID = b"""# FILE NAME: drinks.toi
# TITLE: Drinks
# DATA TYPE: toi
# NUMBER ALTERNATIVES: 4
# NUMBER VOTERS: 8
# NUMBER UNIQUE ORDERS: 3
# ALTERNATIVE NAME 1: tea
# ALTERNATIVE NAME 2: milk, hot
# ALTERNATIVE NAME 3: {juice}: fresh
# ALTERNATIVE NAME 4: caf\xc3\xa9
5: 1,{2,3},4
2: 4
1: {1, 3}, 2
"""

# file: line, column, what is wrong, what to do
PROBLEMS = {
    "bad_name_number.soc": (10, None, "'x' is not the number of an alternative", "Write '# ALTERNATIVE NAME 1: name'"),
    "binary.soc": (2, None, "binary", "as text"),
    "categories.cat": (3, None, "the data type is 'cat', which is not rankings", "soc, soi, toc or toi"),
    "cut_off.soi": (11, 3, "an item is missing here", "cut off"),
    "damaged.soc.gz": (None, None, "the gzip data are damaged", "Download"),
    "double_braces.toc": (10, 2, "braces inside braces at '{{1'", "Close one tie"),
    "duplicate_item.soc": (11, 4, "item 3 is listed twice", "remove one"),
    "empty.soc": (None, None, "no header and no orders", "Download"),
    "empty_braces.toi": (10, 3, "the braces are empty", "remove the braces"),
    "empty_name.soc": (8, None, "the name of alternative 2 is empty", "after the colon"),
    "empty_order.soi": (11, 2, "the order is empty", "cut off"),
    "endless_count.soc": (10, 1, "is not a number of voters", "whole number"),
    "fractional_count.soc": (10, 1, "'1.5' is not a number of voters", "whole number"),
    "gap_in_names.soc": (None, None, "alternative 2 has no name", "Add the line '# ALTERNATIVE NAME 2: name'"),
    "incomplete.soc": (11, None, "does not list all 3 items", "Name the file .soi"),
    "incomplete.toc": (11, None, "does not list all 3 items", "Name the file .toi"),
    "item_by_name.soc": (10, 2, "'tea' is not the number of an item", "by number"),
    "item_zero.soc": (11, 2, "item 0 is not declared", "Items are 1 to 3"),
    "joined.soc": (11, None, "a header line follows an order", "two files joined"),
    "latin1.soc": (2, None, "byte 50 (0xe9) is not valid UTF-8", "Save the file as UTF-8"),
    "named_twice.soc": (10, None, "alternative 3 is named twice", "Keep one name"),
    "negative_count.soc": (10, 1, "'-1' is not a number of voters", "whole number"),
    "nested_braces.toc": (10, 3, "braces inside braces at '{2'", "Close one tie"),
    "no_colon.soc": (10, None, "'1,1,2,3' has no colon", "Write 'count: item,item,...'"),
    "no_count.soc": (10, 1, "'' is not a number of voters", "whole number"),
    "no_header.soc": (1, None, "the header is missing", "'# NUMBER ALTERNATIVES: 3'"),
    "no_names.soc": (None, None, "names no alternatives", "Add a line '# ALTERNATIVE NAME 1: name'"),
    "no_voters.soc": (None, None, "the header gives no NUMBER VOTERS", "strict=False"),
    "number_is_text.soc": (5, None, "NUMBER VOTERS is 'two', but the file holds 2", "strict=False"),
    "old_format.soc": (1, None, "the PrefLib format from before 2022", "Download the file again from preflib.org"),
    "other_digits.soc": (10, 2, "is not the number of an item", "by number"),
    "repeated_header.soc": (10, None, "says 'NUMBER VOTERS' again, after line 5", "Keep one"),
    "same_names.soc": (9, None, "alternatives 1 and 3 are both named 'tea'", "strict=False"),
    "same_order_twice.toc": (12, None, "the order of line 10 comes again", "strict=False"),
    "stray_brace.toc": (10, 3, "a brace closes that was never opened", "Write ties as {1,2}"),
    "ties.soc": (11, None, "the order has ties, but soc is for strict orders", "Name the file .toc"),
    "ties.soi": (11, None, "the order has ties, but soi is for strict orders", "Name the file .toi"),
    "ties_and_incomplete.soc": (11, None, "the order has ties", "Name the file .toi"),
    "ties_without_extension": (10, None, "the order has ties", "Write '# DATA TYPE: toc'"),
    "too_many_voters.soc": (None, None, "more than 9,007,199,254,740,992 voters", "Divide"),
    "unclosed_brace.toc": (11, 4, "a brace is never closed", "cut off"),
    "unknown_item.soc": (11, 4, "item 4 is not declared", "Items are 1 to 3"),
    "utf16.soc": (None, None, "UTF-16", "UTF-8"),
    "wrong_alternatives.soc": (4, None, "NUMBER ALTERNATIVES is '4', but the file holds 3", "strict=False"),
    "wrong_data_type.soc": (3, None, "DATA TYPE is 'toi', but the file is .soc", "strict=False"),
    "wrong_orders.soc": (6, None, "NUMBER UNIQUE ORDERS is '5', but the file holds 2", "strict=False"),
    "wrong_voters.soc": (5, None, "NUMBER VOTERS is '3', but the file holds 2", "strict=False"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("preflib")


def put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def test_a_file_with_everything(folder):
    rankings = read_preflib(put(folder, "drinks.toi", VALID))
    assert rankings.items == ("tea", "milk, hot", "{juice}: fresh", "café")
    inf = np.inf
    np.testing.assert_array_equal(rankings.positions, [[1, 2, 2, 3], [inf, inf, inf, 1], [1, 2, 1, inf]])
    np.testing.assert_array_equal(rankings.weights, [5, 2, 1])


def test_unlisted_items_may_be_missing(folder):
    rankings = read_preflib(put(folder, "drinks.toi", VALID), unlisted="missing")
    np.testing.assert_array_equal(rankings.positions[2], [1, 2, 1, np.nan])
    with pytest.raises(ValueError, match="choose 'below'"):
        read_preflib(folder / "drinks.toi", unlisted="last")


@pytest.mark.parametrize("name", ["drinks", "drinks.txt", "drinks.TOI"])
def test_the_data_type_stands_in_for_the_extension(folder, name):
    assert read_preflib(put(folder, name, VALID)) == read_preflib(put(folder, "drinks.toi", VALID))


def test_neither_extension_nor_data_type(folder):
    data = VALID.replace(b"# DATA TYPE: toi\n", b"")
    assert len(read_preflib(put(folder, "drinks", data))) == 3


def test_blank_lines_and_a_missing_last_line_end(folder):
    data = VALID.replace(b"\n", b"\r\n\r\n").rstrip()
    assert read_preflib(put(folder, "spaced.toi", data)) == read_preflib(put(folder, "drinks.toi", VALID))


def test_an_order_that_nobody_gave(folder):
    # PrefLib publishes such lines (its Netflix series) and counts them among the unique orders.
    data = VALID.replace(b"2: 4\n", b"0: 4\n").replace(b"VOTERS: 8", b"VOTERS: 6")
    np.testing.assert_array_equal(read_preflib(put(folder, "zero.toi", data)).weights, [5, 0, 1])


def test_every_malformed_file_has_its_problem():
    assert {path.name for path in MALFORMED.iterdir()} == set(PROBLEMS)


@pytest.mark.parametrize("name", PROBLEMS)
def test_malformed(name):
    line, column, problem, cure = PROBLEMS[name]
    with pytest.raises(RankwiseFormatError) as caught:
        read_preflib(MALFORMED / name)
    error = caught.value
    assert problem in error.problem
    assert cure in error.cure
    assert (error.line, error.column) == (line, column)
    assert error.path == str(MALFORMED / name)


@pytest.mark.parametrize("name", [name for name, problem in PROBLEMS.items() if problem[3] == "strict=False"])
def test_contradictions_are_warnings_if_not_strict(name):
    with pytest.warns(UserWarning, match=PROBLEMS[name][2].partition("'")[0]) as caught:
        rankings = read_preflib(MALFORMED / name, strict=False)
    assert rankings.n_items == 3
    assert all(warning.filename == __file__ for warning in caught)


def test_same_names_get_their_numbers_if_not_strict(folder):
    names = [b"tea", b"tea", b"tea (2)", b"tea (2)"]
    lines = [b"# ALTERNATIVE NAME %d: %s" % (i, name) for i, name in enumerate(names, 1)]
    lines += [b"# NUMBER ALTERNATIVES: 4", b"# NUMBER VOTERS: 1", b"# NUMBER UNIQUE ORDERS: 1", b"1: 1,2,3,4"]
    path = put(folder, "same.soc", b"\n".join(lines))
    with pytest.warns(UserWarning, match="both named"):
        items = read_preflib(path, strict=False).items
    assert items == ("tea (1)", "tea (2) (2)", "tea (2) (3)", "tea (2) (4)")


def test_a_table_that_is_too_large_is_refused_before_it_is_made(folder, monkeypatch):
    monkeypatch.setattr(preflib, "MOST_CELLS", 11)
    with pytest.raises(RankwiseFormatError, match=r"3 orders of 4 items are more than 11 positions\. Split the file"):
        read_preflib(put(folder, "large.toi", VALID))


@settings(max_examples=300)
@given(damaged(VALID, VALID.replace(b"toi", b"soi").replace(b"{", b"").replace(b"}", b"")), st.booleans())
def test_damaged_files_give_valid_rankings_or_a_format_error(folder, data, strict):
    path = put(folder, "damaged.toi", data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if not strict else "error")
        try:
            rankings = read_preflib(path, strict=strict)
        except RankwiseFormatError:
            return
    assert Rankings(rankings.positions.copy(), rankings.items, rankings.weights) == rankings
    assert np.isfinite(rankings.positions).any(axis=1).all()
    lines = [line for line in data.decode("utf-8-sig").replace("\r", "\n").split("\n") if line.strip()]
    assert len(rankings) == sum(not line.startswith("#") for line in lines)


def extension(rankings: Rankings) -> str:
    """From the definition: a tie is two equal finite places in a row; incomplete is a place that is not finite."""
    places = np.sort(np.where(np.isfinite(rankings.positions), rankings.positions, np.nan), axis=1)
    ties = (places[:, 1:] == places[:, :-1]).any()
    return ("t" if ties else "s") + "o" + ("c" if np.isfinite(rankings.positions).all() else "i")


NAMES = st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), min_size=1, max_size=6)
ODD_NAMES = NAMES | st.sampled_from(
    [" leading", "trailing ", "a,b", "1: {2,3}", "# NUMBER VOTERS: 7", "\ufeffx", "Ω\u2028"]
)


@st.composite
def writable_rankings(draw: st.DrawFn) -> Rankings:
    positions = draw(position_matrices(min_rankings=0))
    blank = draw(st.sampled_from([np.inf, np.nan]))
    positions[~np.isfinite(positions)] = blank
    positions = positions[np.isfinite(positions).any(axis=1)]
    k = positions.shape[1]
    items = draw(st.lists(ODD_NAMES, min_size=k, max_size=k, unique=True))
    weights = draw(st.lists(st.integers(0, 2**40), min_size=len(positions), max_size=len(positions)))
    return Rankings(positions, items, weights)


@given(writable_rankings(), st.sampled_from(["", ".gz"]))
def test_rankings_survive_writing_and_reading(rankings, gz):
    unlisted = "missing" if np.isnan(rankings.positions).any() else "below"
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / f"file.{extension(rankings)}{gz}"
        write_preflib(rankings, path, title="Any: title")
        assert read_preflib(path, unlisted=unlisted) == rankings.group()


def test_the_file_itself(tmp_path):
    rankings = Rankings.from_buckets([[0, [1, 2]], [2, 1, 0], [0, [2, 1]]], weights=[2, 1, 3])
    write_preflib(rankings, tmp_path / "small.toc", title="Small")
    assert (tmp_path / "small.toc").read_text().splitlines() == [
        "# FILE NAME: small.toc",
        "# TITLE: Small",
        "# DATA TYPE: toc",
        "# NUMBER ALTERNATIVES: 3",
        "# NUMBER VOTERS: 6",
        "# NUMBER UNIQUE ORDERS: 2",
        "# ALTERNATIVE NAME 1: 0",
        "# ALTERNATIVE NAME 2: 1",
        "# ALTERNATIVE NAME 3: 2",
        "5: 1,{2,3}",
        "1: 3,2,1",
    ]


@pytest.mark.parametrize(
    ("positions", "right"),
    [
        ([[1, 2]], "soc"),
        ([[1, 1]], "toc"),
        ([[1, np.inf]], "soi"),
        ([[1, 1, np.nan]], "toi"),
        ([[1, 1], [np.inf, 1]], "toi"),
    ],
)
def test_the_extension_is_that_of_the_rankings(tmp_path, positions, right):
    for kind in {"soc", "soi", "toc", "toi", "csv"} - {right}:
        with pytest.raises(ValueError, match=rf"make a \.{right} file"):
            write_preflib(Rankings(positions), tmp_path / f"file.{kind}")
        assert not list(tmp_path.iterdir())
    write_preflib(Rankings(positions), tmp_path / f"file.{right}")


@pytest.mark.parametrize(
    ("rankings", "message"),
    [
        (Rankings([[1, np.inf, np.nan]]), "cannot tell apart"),
        (Rankings([[1, np.inf], [1, np.nan]]), "cannot tell apart"),
        (Rankings([[1, 2], [np.inf, np.inf]]), "ranking 1 of the different ones lists no item"),
        (Rankings([[1, 2]], weights=[1.5]), "weighs 1.5, but PrefLib counts voters in whole numbers"),
        (Rankings([[1, 2], [2, 1]], weights=[2.0**53, 1e10]), "divide them"),
        (Rankings([[1, 2]], items=["a\nb", "c"]), "cannot stand in one line of text; rename it"),
        (Rankings([[1, 2]], items=["a\0b", "c"]), "cannot stand in one line of text; rename it"),
        (Rankings([[1, 2]], items=["1", 1]), "the same as text"),
    ],
)
def test_what_preflib_cannot_say(tmp_path, rankings, message):
    with pytest.raises(ValueError, match=message):
        write_preflib(rankings, tmp_path / f"file.{extension(rankings)}")
    assert not list(tmp_path.iterdir())


def test_fractions_that_add_up_to_whole_voters_are_fine(tmp_path):
    write_preflib(Rankings([[1, 2], [1, 2]], weights=[0.5, 1.5]), tmp_path / "file.soc")
    assert read_preflib(tmp_path / "file.soc").weights.tolist() == [2]


def test_all_files_of_the_archive(benchmark_data, tmp_path):
    index = {
        row["file"]: row for row in csv.DictReader(io.StringIO((benchmark_data / "preflib/INDEX.csv").read_text()))
    }
    read = 0
    for archive in sorted((benchmark_data / "preflib").glob("*.zip")):
        with zipfile.ZipFile(archive) as files:
            for member in files.namelist():
                name = Path(member).name
                if Path(name).suffix not in (".soc", ".soi", ".toc", ".toi"):
                    continue
                rankings = read_preflib(put(tmp_path, name, files.read(member)))
                expected = index[name]
                found = (rankings.n_items, rankings.weights.sum(), len(rankings))
                assert found == (int(expected["n_items"]), int(expected["n_voters"]), int(expected["n_unique"])), name
                assert extension(rankings) == name[-3:]
                if len(rankings) < 100:
                    write_preflib(rankings, tmp_path / f"again.{name[-3:]}")
                    assert read_preflib(tmp_path / f"again.{name[-3:]}") == rankings
                read += 1
    assert read >= 300


@pytest.mark.parametrize("line", ["# ALTERNATIVE NAME", "# ALTERNATIVE NAME 2 milk"])
def test_names_without_a_colon_are_not_passed_over(line, tmp_path):
    path = tmp_path / "votes.soc"
    path.write_text(f"# DATA TYPE: soc\n# ALTERNATIVE NAME 1: tea\n{line}\n1: 1\n")
    with pytest.raises(RankwiseFormatError, match="line 3: a name of an alternative has no colon"):
        read_preflib(path)
