"""What newcomers type first: it gives the right answer, or one line that says what to type instead.

The files are those that people have: exports of survey tools, sheets of juries, files of search engines.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import problem, run, run_json
from tests.data.formats import survey_exports


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands name files without folders, as people do."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def wines() -> str:
    """Eleven judges and five wines, a tie and three blanks."""
    rng = np.random.default_rng(1)
    lines = ["judge,Rioja,Barolo,Chianti,Merlot,Malbec"]
    lines += [
        f"J{i},{','.join(map(str, np.argsort(np.argsort(np.arange(5) + rng.normal(0, 1.5, 5))) + 1))}" for i in range(9)
    ]
    return written("wines.csv", [*lines, "Tie,1,2,2,3,4", "Gap,1,,,,2"])


def written(name: str, lines: list[str]) -> str:
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return name


def ranking(*arguments: str) -> list[tuple[int, str]]:
    return [(row["place"], row["item"]) for row in run_json("consensus", *arguments)["ranking"]]


def test_scores_are_not_places() -> None:
    written("hack.csv", ["judge,Team Alpha,Team Beta,Team Gamma", "Ann,9,7,4", "Bob,8,8,3", "Cid,10,6,5", "Dee,7,9,2"])
    words = problem("consensus", "hack.csv", "--target", "Team ")
    assert "may be scores (higher = better) or places (1 = best)" in words
    assert '  rankwise consensus hack.csv --layout scores --target "Team "' in words
    assert ranking("hack.csv", "--layout", "scores", "--target", "Team ")[0] == (1, "Alpha")


def test_choices_in_words_are_places() -> None:
    asked = [f'"Please rank the features [{item}]"' for item in ("Price", "Camera", "Brand")]
    rows = ["1st choice,2nd choice,3rd choice", "1st choice,3rd choice,2nd choice", "2nd choice,1st choice,3rd choice"]
    written("forms.csv", [",".join(asked), *rows * 4])
    expected = [(1, "Price"), (2, "Camera"), (3, "Brand")]
    assert ranking("forms.csv") == expected
    assert ranking("forms.csv", "--target", "Please rank the features") == expected


@pytest.mark.parametrize(
    "lines", [["rank_A,rank_B,rank_C", "1,2,3", "2,1,3"], ["rank_B,rank_A,rank_C", "1,2,3", "2,1,3"]]
)
def test_a_tie_is_a_tie_in_every_order_of_the_columns(lines: list[str]) -> None:
    assert ranking(written("tie.csv", lines)) == [(1, "A"), (1, "B"), (3, "C")]
    shown = run("consensus", "tie.csv").stdout
    assert "tie between A and B for the first place" in shown
    assert "All 2 rankings of lowest cost" in shown


def test_ids_and_paradata_are_no_features() -> None:
    rng = np.random.default_rng(0)
    lines = ["Response ID,Date submitted,Last page,Seed,age,drinks[1],drinks[2],drinks[3]"]
    for i in range(40):
        order = ",".join(rng.permutation(["tea", "milk", "juice"]))
        lines.append(
            f"{i + 1},2024-01-{1 + i % 28:02d} 10:00:00,3,{rng.integers(10**6, 10**9)},{rng.integers(18, 80)},{order}"
        )
    written("lime.csv", lines)
    done = run("tree", "lime.csv", "--no-prune", "--max-depth", "2", "--min-samples-leaf", "5")
    assert done.stdout.startswith("|-- age <= ")
    assert "Response ID (id), Date submitted (timestamp), Last page (constant), Seed (paradata)" in done.stderr
    assert run_json("describe", "lime.csv", "--ignore", "age")["features"] == []


def test_who_ranked_nothing_is_set_apart() -> None:
    written("drinks.csv", ["rank_tea,rank_milk", *["1,2"] * 12, ",", '"",""', "2,1"])
    facts = run_json("describe", "drinks.csv")
    assert facts["n_rankings"] == 13
    assert "ranked nothing  1, set apart" in run("describe", "drinks.csv").stdout


def test_blanks_of_a_top_k_question_are_asked_about() -> None:
    written("top.csv", ["rank_A,rank_B,rank_C,rank_D", *["1,2,,", "1,,2,", "2,,,1"] * 5])
    shown = run("describe", "top.csv").stdout
    assert "give --read unlisted=below" in shown
    assert "Everybody ranks exactly 2 of 4 items, as if asked for the best only." in shown


def test_a_jury_sheet_is_read_either_way(wines: str) -> None:
    written("sheet.csv", ["wine,Anna,Ben,Cleo,Dan", "Rioja,1,2,1,1", "Merlot,3,1,2,2", "Malbec,2,3,3,3"])
    assert ranking("sheet.csv") == [(1, "Rioja"), (2, "Merlot"), (3, "Malbec")]
    assert len(ranking(wines)) == 5  # with a tie and blanks, and no option


def test_rules_of_statutes_are_there(wines: str) -> None:
    for rule in ("schulze", "instant-runoff", "ranked-pairs", "plurality"):
        assert len(ranking(wines, "--method", rule, "--read", "unlisted=below")) == 5
    assert "--break-ties" in problem("consensus", wines, "--method", "mallows")
    assert len(ranking(wines, "--method", "mallows", "--break-ties")) == 5


def test_a_jury_sees_who_disagrees_and_whose_vote_decides(wines: str) -> None:
    done = run("report", wines, "-o", "report.html")
    assert done.exit_code == 0, done.stderr
    page = Path("report.html").read_text(encoding="utf-8")
    assert "Who disagrees" in page
    assert "J3" in page
    assert "fewer than 10 rankings" not in done.stdout


def test_means_come_first() -> None:
    written("drinks.csv", ["rank_tea,rank_milk,rank_juice", *["1,2,3", "1,3,2", "2,1,3"] * 4])
    shown = run("describe", "drinks.csv").stdout
    assert shown.index("mean rank") < shown.index("Kendall's W") < shown.index("closest majority")
    assert "first choice" in shown


def test_results_go_into_files_and_pictures(wines: str) -> None:
    for command, name in (("describe", "means.png"), ("consensus", "places.svg"), ("consensus", "places.csv")):
        assert run(command, wines, "-o", name).exit_code == 0
        assert Path(name).stat().st_size > 50


def test_a_file_that_is_not_there_is_one_short_line() -> None:
    assert problem("describe", "nofile.csv") == "rankwise: there is no file nofile.csv\n"


@pytest.mark.parametrize("line", ["0\t1\t0.5\t0.2", "0,1,0.5,0.2"])
def test_a_table_of_another_program_is_told_from_letor(line: str) -> None:
    written("rank.tsv", [line, line])
    words = problem("rank-train", "rank.tsv", "-o", "m.rankwise")
    assert "this is a table of columns, as CatBoost reads, and not LETOR (SVMlight)" in words
    assert "'grade qid:QUERY 1:VALUE 2:VALUE'" in words


def test_features_that_count_from_0_are_told_with_the_option() -> None:
    written("zero.txt", ["0 qid:1 0:0.5", "1 qid:1 0:0.3"])
    assert "Give --zero-based if its indices count from 0." in problem("rank-train", "zero.txt", "-o", "m.rankwise")


def test_rows_without_a_cell_are_not_skipped_silently() -> None:
    written("drinks.csv", ["age,rank_tea,rank_milk", *[f"{20 + i},{1 + i // 10},{2 - i // 10}" for i in range(20)]])
    assert run("fit", "drinks.csv", "--model", "tree", "-o", "m.rankwise").exit_code == 0
    written("new.csv", ["age,city", "21,Rome", ",", '39,"two\nlines"', "", "25,", ","])
    done = run("predict", "m.rankwise", "new.csv")
    assert len(done.stdout.splitlines()) == 4
    assert done.stderr == "rankwise: 2 rows without any cell skipped: no prediction for line 3, 6\n"
    written("new.csv", ["age", "21", "39"])
    assert run("predict", "m.rankwise", "new.csv").stderr == ""


def test_models_are_judged_by_group() -> None:
    rng = np.random.default_rng(0)
    lines = ["age,city,rank_tea,rank_milk"]
    for i in range(40):
        city, age = ("Rome", "Bonn")[i % 2], int(rng.integers(18, 80))
        first = 1 + (age > 50) if city == "Rome" else 1 + i // 2 % 2
        lines.append(f"{age},{city},{first},{3 - first}")
    written("drinks.csv", lines)
    options = ("--by", "city", "--models", "consensus,tree", "--cv", "4")
    facts = run_json("evaluate", "drinks.csv", *options)
    groups = {row["group"]: row for row in facts["groups"]}
    assert {name: row["n_rankings"] for name, row in groups.items()} == {"Bonn": 20, "Rome": 20}
    means = {row["model"]: row["tau"] for row in facts["leaderboard"]}
    for model, mean in means.items():
        assert np.mean([row["taus"][model] for row in groups.values()]) == pytest.approx(mean)
    assert len(set(groups["Rome"]["taus"].values())) == 2
    assert "By group: city" in run("evaluate", "drinks.csv", *options).stdout


def test_a_report_of_a_qualtrics_export_takes_one_command(here: Path) -> None:
    survey_exports.qualtrics(here / "qualtrics.csv")
    done = run("report", "qualtrics.csv", "-o", "r.html")
    assert done.exit_code == 0, done.stderr
    page = Path("r.html").read_text(encoding="utf-8")
    items = run_json("describe", "qualtrics.csv")["items"]
    assert not any(item.startswith("Q") for item in items)  # what was asked, not Q12_1
    assert all(item in page for item in items)


def test_a_workbook_is_read_as_it_is() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [["rank_tea", "rank_milk"], [1, 2], [1, 2], [2, 1]]:
        book.active.append(row)
    book.save("out.xlsx")
    assert ranking("out.xlsx") == [(1, "tea"), (2, "milk")]
    assert run_json("describe", "out.xlsx")["n_rankings"] == 3


def test_trials_of_three_are_read() -> None:
    rows = ["1,Sunrise,Amber,Coral,A,C", "2,Amber,Coral,Sunrise,C,B", "3,Coral,Sunrise,Amber,B,A"]
    written("beans.csv", ["farmer,variety_a,variety_b,variety_c,best,worst", *rows])
    assert ranking("beans.csv") == [(1, "Sunrise"), (2, "Amber"), (3, "Coral")]


def test_first_steps_need_no_more_than_the_page_installs() -> None:
    page = Path(__file__).parents[2] / "docs" / "first-steps.md"
    code = "\n".join(line[4:] for line in page.read_text(encoding="utf-8").splitlines() if line.startswith(">>> "))
    imported = set(re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE))
    assert imported
    assert imported <= {"rankwise", "numpy", "sklearn", "matplotlib"}  # no extra


def test_men_and_women_are_compared_with_a_p_value() -> None:
    rows = [f"{'men' if i % 2 else 'women'},{'1,2,3' if i % 2 else '3,2,1'}" for i in range(40)]
    written("drinks.csv", ["gender,rank_tea,rank_milk,rank_juice", *rows])
    assert run_json("compare", "drinks.csv", "--by", "gender")["p_value"] < 0.01
    shown = run("compare", "drinks.csv", "--by", "gender", "-o", "difference.png").stdout
    assert "men" in shown
    assert Path("difference.png").read_bytes().startswith(b"\x89PNG")


def test_named_judges_stand_in_the_report(wines: str) -> None:
    assert run("report", wines, "-o", "r.html").exit_code == 0
    page = Path("r.html").read_text(encoding="utf-8")
    assert "Who disagrees" in page
    assert "No tree" not in page
    assert all(f"J{i}" in page for i in range(9))
    assert "J3" in run("raters", wines).stdout


def test_means_that_contradict_the_order_are_explained() -> None:
    # Majorities: a before b by 3 of 5. Means: b before a, because two put a last.
    written("votes.csv", ["rank_a,rank_b,rank_c", *["1,2,3"] * 3, *["3,1,2"] * 2])
    shown = run("consensus", "votes.csv").stdout
    assert ranking("votes.csv")[0] == (1, "a")
    assert "mean ranks put one pair of items the other way round (b before a)" in shown
    assert run("report", "votes.csv", "-o", "r.html").exit_code == 0
    assert "ean ranks put one pair of items the other way round" in Path("r.html").read_text(encoding="utf-8")


def test_trees_have_whole_rankings_and_questions() -> None:
    items = ["Price", "Battery life", "Camera quality", "Brand", "Screen size"]
    header = ["Q1", *(f"Q2_{i}" for i in range(1, 6))]
    asked = ["How old are you?", *(f"Put into order (1 = best). - {item}" for item in items)]
    rows = [[str(20 + i), *("12345" if i < 20 else "12354")] for i in range(40)]
    written("phones.csv", [",".join(f'"{cell}"' for cell in row) for row in [header, asked, *rows]])
    options = ("--no-prune", "--max-depth", "1", "--features", "Q1")
    text = run("tree", "phones.csv", *options).stdout
    assert "How old are you?" in text
    assert "Price > Battery life > Camera quality > Screen size > Brand" in text
    assert run("tree", "phones.csv", *options, "-o", "tree.svg").exit_code == 0
    drawn = " ".join(re.sub("<[^>]*>", " ", Path("tree.svg").read_text(encoding="utf-8")).split())
    assert "How old" in drawn
    assert "Screen size" in drawn  # the fourth of five
    assert "..." not in drawn


def test_the_table_of_shapes_in_the_docs_holds() -> None:
    text = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
    table = text[text.index("| shape | the file |") : text.index("![The same survey in five shapes")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:] if line]
    shown = [row for row in rows if row[1].startswith("`") and "..." not in row[1]]
    assert len(shown) >= 12
    for shape, file, command, order in shown:
        written("file.csv", re.findall("`([^`]*)`", file))
        found = ranking("file.csv", *shlex.split(command.strip("`")))
        expected = [[item.strip() for item in tied.split("~")] for tied in order.split(" > ")]
        places = {item: 1 + sum(map(len, expected[:i])) for i, tied in enumerate(expected) for item in tied}
        assert {item: place for place, item in found} == places, shape


def test_every_command_has_an_example_and_speaks_of_no_python() -> None:
    from rankwise.cli.app import app

    for command in app.registered_commands:
        name = command.name or command.callback.__name__.replace("_", "-")  # type: ignore[union-attr]
        shown = run(name, "--help").stdout
        assert f"Example: rankwise {name}" in shown
        for word in ("<str>", "<list", "<bool", "<int", "<float", "<path", "x>=", "read_rankings", "None", "True"):
            assert word not in shown, name


def test_the_picture_of_a_consensus_is_the_one_that_is_printed() -> None:
    """Mean ranks put apple first; the constraint, and the picture with it, put cherry there."""
    written("fruit.csv", ["rank_apple,rank_banana,rank_cherry", *["1,2,3", "1,3,2", "2,1,3"] * 2])
    assert run("consensus", "fruit.csv", "--before", "cherry > apple", "-o", "fruit.svg").exit_code == 0
    picture = Path("fruit.svg").read_text("utf-8")
    assert "Place of each item in the consensus" in picture
    assert picture.index(">cherry<") < picture.index(">apple<")
    assert "mean rank" not in picture
    assert "the ranking of one rule" in problem(
        "consensus", "fruit.csv", "--method", "kemeny,borda", "-o", "two.svg", code=2
    )


def test_a_blank_ballot_counts_as_often_as_its_weight_says() -> None:
    written("ballots.csv", ["ballot,count", "Ana>Ben>Cem,12", "Ben>Cem>Ana,9", ",4"])
    options = ("--layout", "strings", "--read", "column=ballot", "--read", "weights=count")
    assert "4 respondents ranked nothing" in run("consensus", "ballots.csv", *options).stderr
