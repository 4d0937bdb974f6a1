from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise import Rankings, RankwiseFormatError
from rankwise.data.formats.xarff import read_xarff
from tests.data.formats.mutations import damaged
from tests.strategies import position_matrices

MALFORMED = Path(__file__).parent / "malformed" / "xarff"
nan, inf = np.nan, np.inf

VALID = rb"""% Two people and three drinks
@RELATION 'drinks, hot and cold'

@attribute age  numeric
@attribute "home town" {Ulm, 'Bad Ems', "L\"Aquila"}
@attribute note string
@ATTRIBUTE drinks RANKING {tea, milk, 'orange juice'}
@data
31, 'Bad Ems', ?, tea>milk>orange juice
% a comment
?,"L\"Aquila",'?, and more',milk~tea
4.5e1,?,x,?
"""

# file: line, column, what is wrong, what to do
PROBLEMS = {
    "empty.xarff": (None, None, "there is no @data line", "Write @data"),
    "no_data_line.xarff": (None, None, "there is no @data line", "Write @data"),
    "no_attribute.xarff": (2, None, "no @attribute comes before @data", ""),
    "no_rows.xarff": (None, None, "no row below @data", ""),
    "stray_line.xarff": (2, None, "'x numeric' is not part of a header", "Before @data come @relation"),
    "unknown_type.xarff": (2, None, "the type 'complex' is not known", "Types are numeric"),
    "no_name.xarff": (2, None, "the attribute has no name", "Write @attribute name type"),
    "open_brace.xarff": (2, None, "the brace does not close", "Write {a,b,c}"),
    "repeated_value.xarff": (2, None, "listed twice", "Write {a,b,c}"),
    "repeated_attribute.xarff": (2, None, "two attributes are named 'x'", "Rename one"),
    "no_ranking.xarff": (None, None, "no attribute holds rankings", "ranking {L1,L2,L3}"),
    "two_rankings.xarff": (None, None, "the attributes 'y', 'z' all hold rankings", "Declare one"),
    "short_row.xarff": (7, None, "2 value(s), but there are 3 attributes", "? where it is missing"),
    "sparse_row.xarff": (6, None, "sparse rows are not read", "Write every value out"),
    "not_a_number.xarff": (7, 1, "'one' is not a number, as 'x' is declared", "?"),
    "undeclared_value.xarff": (6, 2, "'blue' is not among the values of 'colour'", "They are 'red', 'green'"),
    "undeclared_label.xarff": (6, 3, "item 'd' is not declared", "Correct the name"),
    "repeated_label.xarff": (6, 3, "item 'a' is listed twice", "one place"),
    "empty_label.xarff": (6, 3, "an item has no name", "Write L1>L2>L3"),
    "open_quote.xarff": (6, 2, "a quote does not close", "Quote the whole value"),
    "text_after_quote.xarff": (6, 2, "a quote does not close", "Quote the whole value"),
    "latin1.xarff": (6, None, "is not valid UTF-8", "Save the file as UTF-8"),
}


def written(folder, data, name="toy.xarff"):
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_malformed_files_are_refused_with_place_and_cure(name):
    line, column, problem, cure = PROBLEMS[name]
    with pytest.raises(RankwiseFormatError) as caught:
        read_xarff(MALFORMED / name)
    error = caught.value
    assert (error.line, error.column) == (line, column)
    assert problem in error.problem
    assert cure in (error.cure or "")
    assert name in str(error)


def test_every_malformed_file_has_an_expectation():
    assert {path.name for path in MALFORMED.iterdir()} == set(PROBLEMS)


def test_attributes_quotes_comments_and_missing_values(tmp_path):
    X, y = read_xarff(written(tmp_path, VALID))
    assert list(X) == ["age", "home town", "note"]
    np.testing.assert_array_equal(X["age"], [31, nan, 45])
    assert X["age"].dtype == np.float64
    assert X["home town"].tolist() == ["Bad Ems", 'L"Aquila', None]
    assert X["note"].tolist() == [None, "?, and more", "x"]
    assert y.items == ("tea", "milk", "orange juice")
    np.testing.assert_array_equal(y.positions, [[1, 2, 3], [1, 1, nan], [nan, nan, nan]])


def test_unlisted_labels_can_rank_below(tmp_path):
    _, y = read_xarff(written(tmp_path, VALID), unlisted="below")
    np.testing.assert_array_equal(y.positions, [[1, 2, 3], [1, 1, inf], [inf, inf, inf]])


@pytest.mark.parametrize("kind", [b"{L1>L2, L2>L1}", b"string", b"ranking"])
def test_rankings_in_an_attribute_that_does_not_declare_labels(tmp_path, kind):
    data = b"@attribute x {a,b}\n@attribute y " + kind + b"\n@data\na,L2>L1\nb,L1>L2\n"
    X, y = read_xarff(written(tmp_path, data))
    assert X["x"].tolist() == ["a", "b"]
    assert y.items == ("L2", "L1")
    assert y.positions.tolist() == [[1, 2], [2, 1]]


def test_equals_sign_ties(tmp_path):
    _, y = read_xarff(written(tmp_path, b"@attribute y ranking {a,b,c}\n@data\nc>a=b\n"))
    assert y.positions.tolist() == [[2, 2, 1]]


def test_attributes_make_data_frames(tmp_path):
    import pandas
    import polars
    import pyarrow

    X, _ = read_xarff(written(tmp_path, VALID))
    assert pandas.DataFrame(X).shape == (3, 3)
    assert polars.DataFrame(X).shape == (3, 3)
    assert pyarrow.table(X).shape == (3, 3)


def _quoted(name):
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


@given(values=position_matrices(kinds=("full", "tied", "top-k"), min_items=1), data=st.data())
@settings(max_examples=60)
def test_rankings_survive_a_file(values, data):
    n, k = values.shape
    letters = st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters=">~=[]")
    names = data.draw(st.lists(st.text(letters, min_size=1), min_size=k, max_size=k, unique=True))
    x = data.draw(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=n, max_size=n))
    y = Rankings(values, names)
    orders = [">".join("~".join(names[i] for i in bucket) for bucket in row) or None for row in y.buckets()]
    lines = ["@relation toy", "@attribute x real", f"@attribute y ranking {{{','.join(map(_quoted, names))}}}", "@data"]
    lines += [f"{v!r},{'?' if order is None else _quoted(order)}" for v, order in zip(x, orders, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        X, read = read_xarff(written(Path(folder), "\n".join(lines).encode()), unlisted="below")
    assert X["x"].tolist() == x
    assert read == y


@given(data=damaged(VALID, b"@attribute x real\n@attribute y {a>b,b>a}\n@data\n1,a>b\n2,b>a\n"))
@settings(max_examples=300)
def test_any_bytes_give_rankings_or_a_format_error(data):
    with tempfile.TemporaryDirectory() as folder:
        try:
            X, y = read_xarff(written(Path(folder), data))
        except RankwiseFormatError:
            return
    assert isinstance(y, Rankings)
    assert all(len(column) == len(y) for column in X.values())
