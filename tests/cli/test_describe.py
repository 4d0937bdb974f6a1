"""``rankwise describe``: numbers recomputed by hand."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.cli.running import problem, run, run_json
from tests.data.formats import survey_exports

VOTES = "rank_tea,rank_milk,rank_juice\n1,2,3\n1,2,3\n2,1,3\n1,2,2\n2,1,\n"


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES, encoding="utf-8")
    return path


def test_what_rankings_hold(votes: Path) -> None:
    facts = run_json("describe", votes)
    assert facts["data"] == str(votes)
    assert (facts["n_rankings"], facts["n_items"], facts["n_distinct"]) == (5, 3, 4)
    assert facts["items"] == ["tea", "milk", "juice"]
    assert facts["kind"] == "incomplete"
    assert (facts["n_with_ties"], facts["n_with_unlisted"], facts["n_with_missing"]) == (1, 0, 1)
    assert facts["features"] == []


def test_what_pairs_say(votes: Path) -> None:
    # tea before milk: 3 of 5; tea before juice: 4 of 4; milk before juice: 3 of 4, and one tie
    pairs = run_json("describe", votes)["pairs"]
    assert (pairs["n_pairs"], pairs["n_compared"]) == (3, 3)
    assert (pairs["fewest_comparisons"], pairs["most_comparisons"]) == (4, 5)
    assert pairs["mean_comparisons"] == pytest.approx(13 / 3)
    assert pairs["share_tied"] == pytest.approx(1 / 13)
    assert pairs["transitive"] is True
    assert pairs["strictly_transitive"] is True
    assert pairs["noise_margin"] == pytest.approx(0.1)
    assert pairs["dispersion"] == pytest.approx(0.6 * 0.4 + 0 + 3.5 / 4 * 0.5 / 4)
    assert pairs["most_dispersion"] == 0.75


def test_tables_show_the_same(votes: Path) -> None:
    shown = run("describe", votes).stdout
    for words in ("5 (4 distinct)", "incomplete", "1 (20%)", "3 of 3", "4 to 5", "7.7%", "fit together: one"):
        assert words in shown
    assert "60.0% against 40.0%" in shown  # tea before milk
    assert "disagreement           46.6% (0% if all" in shown  # 0.349 of 0.75
    assert not any(words in shown for words in ("noise margin", "dispersion", "stochastically"))
    # How the file was understood comes first, then what a survey reports.
    order = ["Survey: ", "read as", "mean rank", "first choice", "Kendall's W", "Data: ", "closest majority"]
    assert [*map(shown.index, order)] == sorted(map(shown.index, order))


def test_places_and_pairs_in_json(votes: Path) -> None:
    facts = run_json("describe", votes)
    places = {one["item"]: one["places"] for one in facts["marginals"]}
    assert places["tea"] == pytest.approx([3 / 5, 2 / 5, 0])
    assert places["milk"] == pytest.approx([2 / 5, (2 + 1 / 2) / 5, 1 / 2 / 5])  # a tie shares two places
    assert [one["unlisted"] for one in facts["marginals"]] == pytest.approx([0, 0, 0])
    matrix = facts["pairs"]["matrix"]
    assert matrix["items"] == ["tea", "milk", "juice"]
    assert matrix["n"] == [[0, 5, 4], [5, 0, 4], [4, 4, 0]]
    assert matrix["before"] == [[None, 3 / 5, 1], [2 / 5, None, 3 / 4], [0, 0, None]]
    assert matrix["tied"] == [[None, 0, 0], [0, None, 1 / 4], [0, 1 / 4, None]]


def test_places_and_pairs_in_files(votes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    for suffix in ("xlsx", "md", "csv"):
        done = run("describe", votes, "-o", tmp_path / f"means.{suffix}")
        assert done.exit_code == 0
    book = openpyxl.load_workbook(tmp_path / "means.xlsx")
    cells = [[cell.value for cell in row] for row in book["Who is before whom"].iter_rows(max_row=4)]
    assert cells == [
        ["item", "tea", "milk", "juice"],
        ["tea", None, 0.6, 1],
        ["milk", 0.4, None, 0.75],
        ["juice", 0, 0, None],
    ]
    assert book["People who compare them"]["C2"].value == 5
    assert book["How often each item is at which"]["B2"].value == 0.6
    text = (tmp_path / "means.md").read_text(encoding="utf-8")
    assert "## Who is before whom" in text
    assert "| milk | 40.0% |  | 75.0% |" in text
    # A CSV file holds one table, so that the others have files of their own, and a line says so.
    assert all(f"means-{name}.csv" in done.stderr for name in ("places", "before", "n"))
    assert (tmp_path / "means-before.csv").read_text("utf-8").splitlines()[2] == "milk,0.4,,0.75"
    assert (tmp_path / "means-n.csv").read_text("utf-8").splitlines()[1] == "tea,,5,4"
    assert (tmp_path / "means-places.csv").read_text("utf-8").splitlines()[1] == "tea,0.6,0.4,0.0"
    places = votes.rename(tmp_path / "new-places.csv")
    assert "would replace the data" in problem("describe", places, "-o", tmp_path / "new.csv")
    # A matrix of thousands of items is for nobody.
    monkeypatch.setattr("rankwise.cli.survey_commands._MOST_IN_MATRICES", 2)
    done = run("describe", places, "-o", tmp_path / "few.csv", "--json")
    assert "places and pairs of more than 2 items are left out" in done.stderr
    assert not (tmp_path / "few-n.csv").exists()
    assert "marginals" not in json.loads(done.stdout)


def test_mean_ranks_have_standard_errors() -> None:
    shown = run("describe", "-", stdin="rank_a,rank_b\n" + "1,2\n" * 3 + "2,1\n").stdout
    header, row = (line.split("  ") for line in shown.splitlines() if "mean rank " in line or line.startswith("a "))
    assert [word.strip() for word in header if word][:3] == ["item", "mean rank", "standard error"]
    assert row[0].strip() == "a"
    assert "1.25" in shown
    assert " 0.25 " in shown  # sqrt(3/16 * 4/3 / 4)


def test_mean_ranks_in_json(votes: Path) -> None:
    facts = run_json("describe", votes)
    ranks = [one["mean_rank"] for one in facts["mean_ranks"]]
    assert ranks == sorted(ranks)
    assert {one["item"] for one in facts["mean_ranks"]} == set(facts["items"])
    assert facts["concordance"]["test"] == "Skillings-Mack"


@pytest.mark.parametrize(
    ("rows", "transitive", "words"),
    [
        ("1,2,3\n2,3,1\n3,1,2\n", False, "run in a circle"),
        ("1,2,3\n2,1,3\n", True, "with even pairs: several rankings"),
        # a before b and b before c, 3 to 1 each, and a even with c: not transitive, but no circle either
        ("1,2,3\n1,2,3\n2,3,1\n3,1,2\n", False, "with even pairs: a ranking follows them all"),
        ("1,2,\n1,2,\n", None, "some pair is never compared"),
    ],
)
def test_majorities(rows: str, transitive: bool | None, words: str) -> None:
    text = f"rank_a,rank_b,rank_c\n{rows}"
    assert run_json("describe", "-", stdin=text)["pairs"]["transitive"] is transitive
    shown = run("describe", "-", stdin=text).stdout
    assert words in shown
    assert "Data: standard input" in shown


def test_standard_input_is_read_as_a_file_is(votes: Path) -> None:
    from_stdin = run_json("describe", "-", stdin=VOTES)
    assert from_stdin.pop("data") == "standard input"
    from_file = run_json("describe", votes)
    del from_file["data"]
    assert from_stdin == from_file


def test_a_preflib_file_by_standard_input() -> None:
    facts = {"FILE NAME": "a.soc", "NUMBER ALTERNATIVES": 2, "NUMBER VOTERS": 3, "NUMBER UNIQUE ORDERS": 1}
    facts |= {"ALTERNATIVE NAME 1": "x", "ALTERNATIVE NAME 2": "y"}
    header = "".join(f"# {name}: {value}\n" for name, value in facts.items())
    found = run_json("describe", "-", stdin=f"{header}3: 1,2\n")
    assert (found["total_weight"], found["items"]) == (3, ["x", "y"])
    bad = problem("describe", "-", stdin=f"{header}2: 1,2\n")
    assert "--read strict=False" in bad


def test_a_single_item_has_no_pairs() -> None:
    pairs = run_json("describe", "-", "--read", "items=rank_tea", stdin="rank_tea\n1\n1\n")["pairs"]
    assert (pairs["n_pairs"], pairs["n_compared"], pairs["dispersion"]) == (0, 0, None)


def test_a_built_in_data_set() -> None:
    assert run_json("describe", "iris")["n_rankings"] == 150


def test_columns_are_features_or_rankings(drinks: Path) -> None:
    facts = run_json("describe", drinks)
    assert facts["features"] == ["age", "city"]
    assert facts["notes"] == ["not used as features: name (name)"]
    assert facts["survey"]["roles"]["name"] == {"role": "name", "reason": "the names of those who rank"}
    two = run_json("describe", drinks, "--target", "rank_tea,rank_milk", "--layout", "positions")
    assert two["items"] == ["rank_tea", "rank_milk"]
    assert two["features"] == ["age", "city"]
    assert two["survey"]["roles"]["rank_juice"]["role"] == "answer"
    assert run_json("describe", drinks, "--target", "rank_")["items"] == ["tea", "milk", "juice"]


def test_targets_of_every_layout() -> None:
    orders = "first,second\ntea,milk\nmilk,tea\n"
    assert run_json("describe", "-", "--target", "first,second", stdin=orders)["items"] == ["tea", "milk"]
    strings = "who,vote\na,tea>milk\nb,milk>tea\n"
    assert run_json("describe", "-", "--target", "vote", stdin=strings)["items"] == ["tea", "milk"]
    numbers = "a,b\n1,2\n2,1\n"
    read = ["--read", "layout=orders"]
    assert run_json("describe", "-", "--target", "a,b", *read, stdin=numbers)["items"] == ["1", "2"]


def test_arguments_of_the_reader() -> None:
    text = "votes;rank_tea;rank_milk\n3;1;2\n1;2;0\n"
    read = ["--read", "weights=votes", "--read", "missing_values=0", "--read", "delimiter=;"]
    facts = run_json("describe", "-", *read, stdin=text)
    assert facts["total_weight"] == 4
    assert facts["kind"] == "incomplete"
    assert run_json("describe", "-", "--read", "weights=none", stdin=text.replace("0", "1"))["features"] == ["votes"]


def test_bad_input_is_told_in_a_line(tmp_path: Path, drinks: Path) -> None:
    assert "there is no file" in problem("describe", tmp_path / "no.csv")
    assert "standard input, line 3" in problem("describe", "-", stdin="rank_a,rank_b\n1,2\n1,x\n1,2\n")
    assert "is empty" in problem("describe", "-", stdin="")
    assert "no column is named 'taste'" in problem("describe", drinks, "--target", "taste")
    assert "there is no column 'milk'" in problem("describe", drinks, "--target", "rank_tea,milk")
    assert "has no option 'foo'" in problem("describe", drinks, "--read", "foo=1", code=2)
    assert "is not NAME=VALUE" in problem("describe", drinks, "--read", "foo", code=2)
    doubtful = problem("describe", "-", stdin="count,rank_a,rank_b\n3,1,2\n1,2,1\n")
    assert "--read weights=count\n" in doubtful


def test_how_the_file_was_understood_comes_first(tmp_path: Path) -> None:
    path = survey_exports.qualtrics(tmp_path / "phones.csv")
    lines = run("describe", path, "--layout", "positions", "--target", "Q12_", "--by", "Q2").stdout.splitlines()
    assert lines[0] == f"Survey: {path}"
    text = "\n".join(lines)
    assert "ranked nothing  4, set apart" in text
    assert "positions: a column per item holds its place" in text
    assert "groups          What is your gender?: Female 19, Male 18, Prefer not to say 19" in text
    assert "How old are you? [Q1] (Under 18 < ... < 65 or older)" in text
    assert "Data check" in text
    assert "lines 4, 5, 6, 7" in text
    assert "Mean ranks by What is your gender?" in text


def test_advice_is_given_as_options(tmp_path: Path) -> None:
    text = run("describe", survey_exports.jury(tmp_path / "jury.csv")).stdout
    assert 'If they say "below the others", give --read unlisted=below.' in text


def test_columns_in_their_roles_on_the_command_line(tmp_path: Path) -> None:
    path = survey_exports.qualtrics(tmp_path / "phones.csv")
    words = ["describe", path, "--layout", "positions", "--target", "Q12_"]
    assert run_json(*words, "--features", "Q2", "--features", '"Q3",Q1')["features"] == [
        "How old are you?",
        "What is your gender?",
        "Would you recommend us?",
    ]
    assert run_json(*words, "--ignore", "Q1,Q3")["features"] == ["What is your gender?"]
    assert run_json(*words, "--ignore", "Q1,Q2,Q3")["features"] == []
    assert run_json(*words, "--weight", "Progress")["total_weight"] == 5600
    assert run_json(*words, "--id", "Q20")["survey"]["roles"]["Q20"]["role"] == "id"
    assert "features names 'Q12_1', which holds the rankings. Name another" in problem(*words, "--features", "Q12_1")
    assert "by names 'q22', but there is no such column. Did you mean 'Q2'?" in problem(*words, "--by", "q22")
    assert "by has 60 groups, more than 50, in column 'Q20'" in problem(*words, "--by", "Q20")
    assert "'Q1' is among both features and ignore" in problem(*words, "--features", "Q1", "--ignore", "Q1")


@pytest.mark.parametrize("command", [["describe"], ["consensus", "--seed", "3"], ["tree", "--no-prune"]])
def test_choices_are_commands_to_paste(command: list[str], tmp_path: Path) -> None:
    path = tmp_path / "my votes.csv"
    path.write_text("q 1,q 2,q 3\n1,2,3\n3,1,2\n2,1,3\n", encoding="utf-8")
    name, *options = command
    done = run(name, path, *options)
    assert done.exit_code == 1
    problem_line, *commands = done.stderr.splitlines()
    assert problem_line.endswith("Choose one of these:")
    assert len(commands) > 1
    for line in commands:
        words = shlex.split(line)
        assert words[:3] == ["rankwise", name, str(path)]
        again = run(*words[1:])
        assert again.exit_code == (0 if name != "tree" else 1), again.stderr  # there are no features for a tree
        assert "Choose" not in again.stderr
        assert set(options) <= set(words)
