from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_matrix, issparse

from rankwise import RankwiseFormatError
from rankwise.data.formats import letor
from rankwise.data.formats.letor import read_letor, write_letor
from tests.data.formats.mutations import damaged

MALFORMED = Path(__file__).parent / "malformed" / "letor"

VALID = b"""# a remark
2 qid:10 1:0.5 3:-1e-3 # docid = A
0 qid:2 2:7

1.5 qid:10 3:1 1:2#B
0 qid:10
"""

# file: line, column, what is wrong, what to do
PROBLEMS = {
    "duplicate_index.txt": (2, 5, "feature 2 comes twice", "Keep one"),
    "empty.txt": (None, None, "no documents", "Download"),
    "empty_qid.txt": (2, 2, "the query id is empty", "Write qid:1"),
    "grade_nan.txt": (2, 1, "the grade 'nan' is not a finite number", "start with the grade"),
    "grade_text.txt": (2, 1, "the grade 'good' is not a finite number", "start with the grade"),
    "index_endless.txt": (1, 3, "is not index:value", "Write 3:0.5"),
    "index_huge.txt": (2, 4, "feature index 2147483647 is above 2147483646", "Renumber the features"),
    "index_negative.txt": (2, 3, "feature index -3 is below 1", "Correct it"),
    "index_text.txt": (2, 3, "'bm25:0.5' is not index:value", "Write 3:0.5"),
    "index_zero.txt": (2, 3, "feature index 0 is below 1", "zero_based=True"),
    "late_qid.txt": (2, 2, "this line has a qid, but line 1 has none", "on every line, or on none"),
    "latin1.txt": (1, None, "byte 17 (0xe9) is not valid UTF-8", "Save the file as UTF-8"),
    "long_id.txt": (2, None, "has 600 characters", "Ids may have 512"),
    "missing_qid.txt": (3, 2, "this line has no qid, but line 1 has one", "on every line, or on none"),
    "no_colon.txt": (2, 4, "'7' is not index:value", "Write 3:0.5"),
    "no_grade.txt": (1, 1, "the grade 'qid:1' is not a finite number", "start with the grade"),
    "no_value.txt": (2, 3, "'1:' is not index:value", "Write 3:0.5"),
    "only_remarks.txt": (None, None, "no documents", "Download"),
    "other_digits.txt": (1, 3, "is not index:value", "Write 3:0.5"),
    "qid_in_wrong_place.txt": (1, 3, "qid stands in the wrong place", "Put it second"),
    "too_wide.txt": (2, None, "2 rows and 200,000,000 features is too large for 3 entries", "sparse=True"),
    "two_colons.txt": (1, 3, "'1:2:3' is not index:value", "Write 3:0.5"),
    "value_inf.txt": (2, 4, "'2:1e999' is not index:value with a finite value", "omit"),
    "value_nan.txt": (2, 3, "'1:nan' is not index:value with a finite value", "omit"),
    "value_text.txt": (1, 3, "'1:low' is not index:value", "Write 3:0.5"),
    "value_underscore.txt": (1, 3, "'1:1_0' is not index:value", "Write 3:0.5"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("letor")


def put(folder: Path, data: bytes) -> Path:
    path = folder / "file.txt"
    path.write_bytes(data)
    return path


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def test_a_file_with_everything(folder):
    X, y, qid, comments = read_letor(put(folder, VALID), return_comments=True)
    np.testing.assert_array_equal(X, [[0.5, 0, -0.001], [0, 7, 0], [2, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(y, [2, 0, 1.5, 0])
    np.testing.assert_array_equal(qid, [10, 2, 10, 10])
    assert qid.dtype == np.int64
    assert comments == ["docid = A", "", "B", ""]


def test_sparse_is_the_same_matrix(folder):
    path = put(folder, VALID)
    sparse = read_letor(path, sparse=True)[0]
    assert issparse(sparse)
    assert sparse.has_sorted_indices
    assert sparse.nnz == 5
    np.testing.assert_array_equal(sparse.toarray(), read_letor(path)[0])


def test_number_of_features_and_base(folder):
    path = put(folder, VALID)
    assert read_letor(path, n_features=7)[0].shape == (4, 7)
    assert read_letor(path, n_features=7, sparse=True)[0].shape == (4, 7)
    assert read_letor(path, zero_based=True)[0].shape == (4, 4)
    with pytest.raises(RankwiseFormatError, match=r"line 2, column 4: feature index 3 is above 2\. Give a larger n_f"):
        read_letor(path, n_features=2)
    with pytest.raises(ValueError, match="must not be negative"):
        read_letor(path, n_features=-1)
    X, _, _ = read_letor(put(folder, b"1 0:5 1:6\n"), zero_based=True)
    np.testing.assert_array_equal(X, [[5, 6]])


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["7", "-3"], np.array([7, -3])),
        (["7", "07"], np.array(["7", "07"])),  # two queries, not one
        (["a:b", "é"], np.array(["a:b", "é"])),
        (["1", "99999999999999999999"], np.array(["1", "99999999999999999999"])),
    ],
)
def test_query_ids_are_integers_or_text(folder, ids, expected):
    qid = read_letor(put(folder, "".join(f"1 qid:{text} 1:1\n" for text in ids).encode()))[2]
    assert qid.dtype == expected.dtype
    np.testing.assert_array_equal(qid, expected)


def test_no_queries(folder):
    assert read_letor(put(folder, b"1 1:1\n0 2:1\n"))[2] is None


def test_large_finite_values_are_no_false_alarm(folder):
    X, _, _ = read_letor(put(folder, b"1 1:1.7e308 2:1.7e308\n"))
    np.testing.assert_array_equal(X, [[1.7e308, 1.7e308]])


def test_a_dense_matrix_that_is_too_large_is_refused(folder, monkeypatch):
    path = put(folder, b"1 200000000:1\n0 1:1\n")
    assert read_letor(path, sparse=True)[0].shape == (2, 200_000_000)
    with pytest.raises(RankwiseFormatError, match="line 1: a dense matrix of 2 rows and 200,000,000"):
        read_letor(path)
    # Asking for many features is not the same as a file that claims them; the larger cap holds even so.
    with pytest.raises(RankwiseFormatError, match="too large"):
        read_letor(path, n_features=2**28)
    monkeypatch.setattr(letor, "_SMALL_CELLS", 10)
    path = put(folder, b"1 5000:1\n")
    assert read_letor(path, n_features=5000)[0].shape == (1, 5000)
    with pytest.raises(RankwiseFormatError, match=r"Read it with sparse=True"):
        read_letor(path)


def test_agreement_with_scikit_learn(benchmark_data):
    from sklearn.datasets import load_svmlight_file

    path = benchmark_data / "ltr/lightgbm_example/rank.train.gz"
    X, y, qid = read_letor(path)
    X_peer, y_peer = load_svmlight_file(str(path))
    assert qid is None
    assert X.shape == (3005, 300)
    np.testing.assert_array_equal(X, X_peer.toarray())
    np.testing.assert_array_equal(y, y_peer)


def test_every_malformed_file_has_its_problem():
    assert {path.name for path in MALFORMED.iterdir()} == set(PROBLEMS)


@pytest.mark.parametrize("name", PROBLEMS)
def test_malformed(name):
    line, column, problem, cure = PROBLEMS[name]
    with pytest.raises(RankwiseFormatError) as caught:
        read_letor(MALFORMED / name)
    error = caught.value
    assert problem in error.problem
    assert cure in error.cure
    assert (error.line, error.column) == (line, column)
    assert error.path == str(MALFORMED / name)


@settings(max_examples=300)
@given(damaged(VALID, VALID.replace(b"qid:10", b"qid:a").replace(b"#", b" # ")), st.booleans())
def test_damaged_files_give_valid_data_or_a_format_error(folder, data, zero_based):
    path = put(folder, data)
    try:
        X, y, qid, comments = read_letor(path, sparse=True, zero_based=zero_based, return_comments=True)
    except RankwiseFormatError:
        return
    lines = data.decode("utf-8-sig").replace("\r", "\n").split("\n")
    documents = [line.partition("#")[0].split() for line in lines if line.partition("#")[0].strip()]
    assert X.shape[0] == len(y) == len(comments) == len(documents)
    assert X.nnz == sum(len(tokens) - 1 - (qid is not None) for tokens in documents)
    assert np.isfinite(X.data).all()
    assert np.isfinite(y).all()
    if qid is not None:
        assert [str(entry) for entry in qid] == [tokens[1].removeprefix("qid:") for tokens in documents]


FINITE = st.floats(allow_nan=False, allow_infinity=False)
IDS = st.text(st.characters(exclude_characters="#\0\ufeff", exclude_categories=["Cs"]), min_size=1, max_size=5).filter(
    lambda text: text.split() == [text]
)


@st.composite
def letor_data(draw: st.DrawFn):
    n, k = draw(st.integers(1, 5)), draw(st.integers(0, 4))
    X, y = draw(hnp.arrays(float, (n, k), elements=FINITE)), draw(hnp.arrays(float, n, elements=FINITE))
    kind = draw(st.sampled_from(["none", "int", "text"]))
    ids = st.integers(-(10**17), 10**17) if kind == "int" else IDS
    qid = None if kind == "none" else np.array(draw(st.lists(ids, min_size=n, max_size=n)))
    comment = st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=5).map(str.strip)
    return X, y, qid, draw(st.lists(comment, min_size=n, max_size=n))


@given(letor_data(), st.booleans(), st.booleans(), st.sampled_from(["a.txt", "a.txt.gz"]))
def test_data_survive_writing_and_reading(data, sparse, zero_based, name):
    X, y, qid, comments = data
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write_letor(path, csr_matrix(X) if sparse else X, y, qid, comments, zero_based)
        X2, y2, qid2, comments2 = read_letor(
            path, n_features=X.shape[1] if sparse else None, zero_based=zero_based, return_comments=True
        )
    assert np.array_equal(X, X2) if sparse else same_bits(X, X2)  # SciPy does not store -0.0
    assert same_bits(y, y2)
    assert comments == comments2
    assert (qid is None) == (qid2 is None)
    if qid is not None:
        assert list(map(str, qid)) == list(map(str, qid2))


def test_the_file_itself(tmp_path):
    write_letor(tmp_path / "a", [[1.0, -0.0], [0.1, 1e30]], [2, 0.5], ["x", "y"], ["doc 1", ""])
    assert (tmp_path / "a").read_text() == "2 qid:x 1:1 2:-0 # doc 1\n0.5 qid:y 1:0.1 2:1e+30\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0, np.nan]], [1]), r"X\[0, 1\] is nan"),
        ((csr_matrix([[0, 0], [0, np.inf]]), [1, 1]), r"X\[1, 1\] is inf"),
        (([1.0, 2.0], [1, 1]), "one row per document"),
        ((np.empty((0, 3)), []), "no rows"),
        (([[1.0]], [1, 2]), "y has shape"),
        (([[1.0]], [np.nan]), r"y\[0\] is not finite"),
        (([[1.0]], [1], ["a b"]), r"qid\[0\] is 'a b'"),
        (([[1.0]], [1], ["a#"]), r"qid\[0\] is 'a#'"),
        (([[1.0]], [1], [1, 2]), "qid has shape"),
        (([[1.0]], [1], None, ["a\nb"]), r"comments\[0\]"),
        (([[1.0]], [1], None, []), "comments has shape"),
    ],
)
def test_what_letor_cannot_say(tmp_path, arguments, message):
    with pytest.raises(ValueError, match=message):
        write_letor(tmp_path / "a", *arguments)
    assert not list(tmp_path.iterdir())
