from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise import RankwiseFormatError
from rankwise.data.formats.trec import Qrels, Run, judged_run, read_qrels, read_run, write_run
from tests.data.formats.mutations import damaged

MALFORMED = Path(__file__).parent / "malformed" / "trec"

QRELS = b"301 0 FT911-1 2\n301 0 FT911-2 0\n\n302\t0\tFT911-1\t-1\n303 0 caf\xc3\xa9 1\n"
RUN = b"301 Q0 FT911-3 1 2.5 base\n301\tQ0\tFT911-1\t9\t  1e-3\tbase\n302 Q0 FT911-1 1 -4 base\n304 Q0 x 1 1 base\n"

# file: line, column, what is wrong, what to do
PROBLEMS = {
    "qrels_duplicate.txt": (4, 3, "document 'FT911-1' of query '301' is on line 1 already", "Keep one"),
    "qrels_empty.txt": (None, None, "no lines", "Download"),
    "qrels_endless.txt": (1, 4, "is not an integer", "Round"),
    "qrels_five_fields.txt": (2, None, "5 fields, not 4", "Write 'qid iteration doc_id relevance'"),
    "qrels_fraction.txt": (2, 4, "the relevance '0.5' is not an integer", "Round"),
    "qrels_long_id.txt": (2, None, "has 600 characters", "Ids may have 512"),
    "qrels_one_field.txt": (1, None, "1 field, not 4", "Write 'qid iteration doc_id relevance'"),
    "qrels_text.txt": (2, 4, "the relevance 'yes' is not an integer", "Round"),
    "qrels_three_fields.txt": (2, None, "3 fields, not 4", "Write 'qid iteration doc_id relevance'"),
    "run_duplicate.txt": (3, 3, "document 'FT911-1' of query '301' is on line 1 already", "Keep one"),
    "run_empty.txt": (None, None, "no lines", "Download"),
    "run_five_fields.txt": (2, None, "5 fields, not 6", "Write 'qid Q0 doc_id rank score tag'"),
    "run_inf.txt": (2, 5, "the score '-inf' is not a finite number", "Drop documents"),
    "run_latin1.txt": (1, None, "byte 10 (0xe9) is not valid UTF-8", "Save the file as UTF-8"),
    "run_long_tag.txt": (2, None, "has 600 characters", "Ids may have 512"),
    "run_nan.txt": (2, 5, "the score 'nan' is not a finite number", "Drop documents"),
    "run_qrels.txt": (1, None, "4 fields, not 6", "Write 'qid Q0 doc_id rank score tag'"),
    "run_seven_fields.txt": (2, None, "7 fields, not 6", "no blanks inside a field"),
    "run_text.txt": (2, 5, "the score 'high' is not a finite number", "Drop documents"),
    "run_underscore.txt": (2, 5, "the score '1_5' is not a finite number", "Drop documents"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("trec")


def put(folder: Path, data: bytes) -> Path:
    path = folder / "file.txt"
    path.write_bytes(data)
    return path


def test_qrels(folder):
    qid, doc_id, relevance = read_qrels(put(folder, QRELS))
    assert qid.tolist() == ["301", "301", "302", "303"]
    assert doc_id.tolist() == ["FT911-1", "FT911-2", "FT911-1", "café"]
    assert relevance.tolist() == [2, 0, -1, 1]
    assert relevance.dtype == np.int64


def test_run(folder):
    qid, doc_id, score, tag = read_run(put(folder, RUN))
    assert qid.tolist() == ["301", "301", "302", "304"]
    assert doc_id.tolist() == ["FT911-3", "FT911-1", "FT911-1", "x"]
    assert score.tolist() == [2.5, 0.001, -4, 1]
    assert set(tag) == {"base"}


def test_every_malformed_file_has_its_problem():
    assert {path.name for path in MALFORMED.iterdir()} == set(PROBLEMS)


@pytest.mark.parametrize("name", PROBLEMS)
def test_malformed(name):
    line, column, problem, cure = PROBLEMS[name]
    with pytest.raises(RankwiseFormatError) as caught:
        (read_run if name.startswith("run") else read_qrels)(MALFORMED / name)
    error = caught.value
    assert problem in error.problem
    assert cure in error.cure
    assert (error.line, error.column) == (line, column)
    assert error.path == str(MALFORMED / name)


@pytest.mark.parametrize(("read", "valid"), [(read_qrels, QRELS), (read_run, RUN)])
@settings(max_examples=200)
@given(data=st.data())
def test_damaged_files_give_valid_data_or_a_format_error(folder, read, valid, data):
    damage = data.draw(damaged(valid))
    path = put(folder, damage)
    try:
        table = read(path)
    except RankwiseFormatError:
        return
    lines = damage.decode("utf-8-sig").replace("\r", "\n").split("\n")
    rows = [line.split() for line in lines if line.strip()]
    assert table.qid.tolist() == [fields[0] for fields in rows]
    assert table.doc_id.tolist() == [fields[2] for fields in rows]
    assert len(set(zip(table.qid, table.doc_id, strict=True))) == len(rows)
    values = table.relevance if read is read_qrels else table.score
    assert values.tolist() == [float(fields[3 if read is read_qrels else 4]) for fields in rows]
    assert np.isfinite(values).all()


IDS = st.text(st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"]), min_size=1, max_size=4).filter(
    lambda text: text.split() == [text]
)
SCORES = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 1.0])


@given(st.dictionaries(st.tuples(IDS, IDS), SCORES, min_size=1, max_size=8), st.sampled_from(["r", "r.gz"]))
def test_runs_survive_writing_and_reading(scores, name):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write_run(path, [q for q, _ in scores], [d for _, d in scores], list(scores.values()), tag="x")
        run = read_run(path)
    back = {(q, d): s for q, d, s in zip(run.qid.tolist(), run.doc_id.tolist(), run.score.tolist(), strict=True)}
    assert {key: repr(value) for key, value in back.items()} == {key: repr(value) for key, value in scores.items()}
    # Queries in order of appearance; within one, better scores first and then larger ids.
    assert list(dict.fromkeys(run.qid.tolist())) == list(dict.fromkeys(q for q, _ in scores))
    rows = list(zip(run.qid.tolist(), run.score.tolist(), run.doc_id.tolist(), strict=True))
    for (query, score, document), (next_query, next_score, next_document) in pairwise(rows):
        assert query != next_query or score > next_score or (score == next_score and document > next_document)


def test_the_file_itself(tmp_path):
    write_run(tmp_path / "run", [2, 1, 2, 2], ["a", "b", "c", "b"], [1, 5, 1, 3])
    assert (tmp_path / "run").read_text().splitlines() == [
        "2 Q0 b 1 3.0 rankwise",
        "2 Q0 c 2 1.0 rankwise",
        "2 Q0 a 3 1.0 rankwise",
        "1 Q0 b 1 5.0 rankwise",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a b"], ["d"], [1]), r"qid\[0\] is 'a b'"),
        ((["q"], [""], [1]), r"doc_id\[0\] is ''"),
        ((["q"], ["d"], [1], "my run"), r"tag\[0\]"),
        ((["q"], ["d"], [-np.inf]), r"score\[0\] is -inf; drop documents"),
        ((["q", "q"], ["d", "d"], [1, 2]), "document 'd' of query 'q' more than once"),
        ((["q"], ["d", "e"], [1, 2]), "one of each"),
        ((["q"], ["d"], [[1]]), "one of each"),
        (([], [], []), "no documents"),
    ],
)
def test_what_a_run_cannot_say(tmp_path, arguments, message):
    with pytest.raises(ValueError, match=message):
        write_run(tmp_path / "run", *arguments)
    assert not list(tmp_path.iterdir())


def test_judged_run(folder):
    qrels, run = read_qrels(put(folder, QRELS)), read_run(put(folder, RUN))
    joined = judged_run(qrels, run)
    assert joined.qid.tolist() == ["301", "301", "302", "301"]  # 303 was not run, 304 not judged
    assert joined.doc_id.tolist() == ["FT911-3", "FT911-1", "FT911-1", "FT911-2"]
    assert joined.y_true.tolist() == [0, 2, 0, 0]  # unjudged; 2; -1 counts as 0; 0
    assert joined.y_score.tolist() == [2.5, 0.001, -4, -np.inf]
    complete = judged_run(qrels, run, complete=True)
    assert complete.qid.tolist() == [*joined.qid.tolist(), "303"]
    assert complete.y_true[-1] == 1
    assert complete.y_score[-1] == -np.inf


def test_ids_of_any_type_meet():
    joined = judged_run(Qrels([1, 1], [7, 8], [1, 0]), Run(["1"], ["7"], [0.5], ["t"]))
    assert joined.y_true.tolist() == [1, 0]
    assert joined.y_score.tolist() == [0.5, -np.inf]


@pytest.mark.parametrize(
    ("qrels", "run", "message"),
    [
        (Qrels(["1"], ["a"], [1]), Run(["2"], ["a"], [1.0], ["t"]), "no query in common"),
        (Qrels(["1", "1"], ["a", "a"], [1, 2]), Run(["1"], ["a"], [1.0], ["t"]), "qrels has document 'a'"),
        (Qrels(["1"], ["a"], [1]), Run(["1", "1"], ["a", "a"], [1.0, 2.0], ["t", "t"]), "the run has document 'a'"),
        (Qrels(["1"], ["a"], [1, 2]), Run(["1"], ["a"], [1.0], ["t"]), "one of each"),
        (Qrels(["1"], ["a"], [1]), Run(["1"], ["a"], [np.nan], ["t"]), r"score\[0\] is nan"),
    ],
)
def test_what_cannot_be_judged(qrels, run, message):
    with pytest.raises(ValueError, match=message):
        judged_run(qrels, run)


def by_definition(joined, query: str) -> dict[str, float]:
    """Average precision, recall at 10 and NDCG at 10 of one query, trec_eval's way, from the flat arrays."""
    rows = [row for row in range(len(joined.qid)) if joined.qid[row] == query]
    # Descending by score, then by id; text cannot be negated, hence two sorts.
    ranked = sorted(
        (row for row in rows if joined.y_score[row] > -np.inf), key=lambda row: joined.doc_id[row], reverse=True
    )
    ranked.sort(key=lambda row: -joined.y_score[row])
    gains = [float(joined.y_true[row]) for row in ranked]
    ideal = sorted((float(joined.y_true[row]) for row in rows), reverse=True)
    relevant = sum(gain > 0 for gain in ideal)
    hits = [sum(gain > 0 for gain in gains[: place + 1]) / (place + 1) for place, gain in enumerate(gains) if gain > 0]
    discounted = [sum(gain / np.log2(place + 2) for place, gain in enumerate(values[:10])) for values in (gains, ideal)]
    return {
        "map": sum(hits) / relevant if relevant else 0.0,
        "recall_10": sum(gain > 0 for gain in gains[:10]) / relevant if relevant else 0.0,
        "ndcg_cut_10": discounted[0] / discounted[1] if discounted[1] else 0.0,
    }


def agrees_with_trec_eval(qrels: Qrels, run: Run) -> None:
    judgments: dict[str, dict[str, int]] = {}
    for query, document, relevance in zip(*(column.tolist() for column in qrels), strict=True):
        judgments.setdefault(query, {})[document] = relevance
    retrieved: dict[str, dict[str, float]] = {}
    for query, document, score, _ in zip(*(column.tolist() for column in run), strict=True):
        retrieved.setdefault(query, {})[document] = score
    expected = pytrec_eval.RelevanceEvaluator(judgments, {"map", "recall.10", "ndcg_cut.10"}).evaluate(retrieved)
    joined = judged_run(qrels, run)
    assert set(joined.qid.tolist()) == set(expected)
    for query, values in expected.items():
        assert by_definition(joined, query) == pytest.approx(values, abs=1e-12)


def test_agreement_with_trec_eval_on_its_own_files(benchmark_data):
    folder = benchmark_data / "ltr/trec_eval_fixture"
    qrels, run = read_qrels(folder / "qrels.test.gz"), read_run(folder / "results.test.gz")
    assert (len(qrels.qid), len(run.qid)) == (3681, 1500)
    agrees_with_trec_eval(qrels, run)


def test_agreement_with_trec_eval_on_random_runs():
    rng = np.random.default_rng(0)
    for _ in range(20):
        pairs = [(q, f"d{d}") for q in ("1", "2", "3") for d in range(15)]
        judged = [pair for pair in pairs if rng.random() < 0.5]
        found = [pair for pair in pairs if rng.random() < 0.5]
        qrels = Qrels(*map(np.array, zip(*judged, strict=True)), rng.integers(-1, 4, len(judged)))
        # Quarters, since trec_eval rounds scores to 32 bits; few of them, so that ties are common.
        run = Run(
            *map(np.array, zip(*found, strict=True)), rng.integers(0, 8, len(found)) / 4, np.full(len(found), "t")
        )
        agrees_with_trec_eval(qrels, run)
