"""Views: plain data of the contract, with the numbers of the analysis."""

import contextlib
import io
import json
import re
import shlex
import zipfile
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwise import analyze
from rankwise._tables import short_name
from rankwise.analysis import compare_groups, consensus, summary
from rankwise.data import read_survey
from rankwise.exceptions import RankwiseFormatError
from rankwise.studio import people_views, search_views
from rankwise.studio.code import code_of, search_code_of
from rankwise.studio.downloads import make_files
from rankwise.studio.examples import EXAMPLES
from rankwise.studio.search_roles import search_role
from rankwise.studio.search_views import SEARCH_VIEWS, SearchFile
from rankwise.studio.surveys import problem_of, told_apart
from rankwise.studio.views import VIEWS, show

DRINKS = ("Tea", "Coffee", "Juice", "Water", "Milk")
CHARTS = {
    "dots": {"rows", "axis"},
    "heatmap": {"rows", "columns", "values", "texts", "hints", "scale", "cell", "items"},
    "slopes": {"columns", "rows"},
    "map": {"points"},
    "tree": {"nodes"},
    "lines": {"x", "x_label", "y_label", "series", "marked", "flipped"},
}


@pytest.fixture(scope="module")
def drinks(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("studio") / "stored"
    path.write_bytes(EXAMPLES["drinks"].content())
    return path


def view(name: str, path: Path, options: dict[str, Any] | None = None, **params: Any) -> dict[str, Any]:
    result = show(name, path, "drinks.csv", options or {}, params, lambda step, share: None)
    json.dumps(result, allow_nan=False)  # what the page gets
    return result


def blocks_of(result: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [block for block in result["blocks"] if block["kind"] == kind]


def block(result: dict[str, Any], name: str) -> dict[str, Any]:
    return next(block for block in result["blocks"] if block.get("id") == name)


@pytest.mark.parametrize("name", ["consensus", "pairs", "groups", "segments", "drivers", "raters", "robustness"])
def test_views_keep_the_contract(drinks, name):
    result = view(name, drinks, {"by": "city"})
    assert blocks_of(result, "text")[0]["tone"] == "lead"
    for table in blocks_of(result, "table"):
        assert len(table["columns"]) == len(table["numeric"])
        assert all(len(row) == len(table["columns"]) for row in table["rows"])
        assert all(isinstance(cell, str) for row in table["rows"] for cell in row)
    ids = [block["id"] for block in result["blocks"] if "id" in block]
    assert len(set(ids)) == len(ids), ids
    for chart in blocks_of(result, "chart"):
        drawn = chart["chart"]
        assert set(drawn) - {"type"} == CHARTS[drawn["type"]]
        assert chart["caption"]
        assert chart["description"]


def test_every_view_is_there():
    assert set(VIEWS) == {
        *("consensus", "pairs", "cell", "groups", "segments", "drivers", "predict", "raters", "robustness"),
        "downloads",
    }


def test_data_says_how_the_file_was_understood(drinks):
    result = view("data", drinks)
    assert result["problem"] is None
    assert blocks_of(result, "text")[0]["text"].startswith("Read as positions")
    roles = {column["name"]: column["role"] for column in result["columns"]}
    assert roles["rank_Tea"] == "ranking"
    assert roles["age"] == "feature"
    assert roles["person"] == "name"
    finished = next(one for one in result["filters"] if one["column"] == "finished")
    assert sum(answer["n"] for answer in finished["answers"]) == 240
    assert not any("unlisted=" in block["text"] for block in blocks_of(result, "text"))


def test_columns_say_what_they_may_be(tmp_path):
    rows = {
        "jury.csv": ("Wine,Anna,Ben,Cleo\nMalbec,3,3,2\nMerlot,1,2,1\nRioja,2,1,3\n", "Wine", "Anna", "ignore"),
        "duels.csv": ("winner,loser,city\nTea,Milk,Bonn\nMilk,Tea,Oslo\nTea,Cocoa,Bonn\n", "winner", "city", "group"),
    }
    for name, (text, fixed, free, possible) in rows.items():
        (tmp_path / name).write_text(text)
        columns = {column["name"]: column for column in view("data", tmp_path / name)["columns"]}
        assert columns[fixed]["roles"] == ["ranking"]
        assert possible in columns[free]["roles"]
    (tmp_path / "places.csv").write_text("age,rank_a,rank_b,rank_c\n31,1,2,3\n42,2,1,3\n23,3,1,2\n")
    result = view("data", tmp_path / "places.csv")
    assert result["reading"]["named"] == {"prefix": "rank_"}
    assert [column["roles"] for column in result["columns"]] == [None] * 4


def test_columns_of_a_file_that_is_not_clear_keep_what_was_chosen(tmp_path):
    path = tmp_path / "unclear.csv"
    path.write_text("who,town,a,b,c\nx,Bonn,9,7,8\ny,Oslo,8,9,3\n")
    options = {"target": ["a", "b"], "ignore": ["c"], "by": "town", "id": "who"}
    result = view("data", path, options)
    assert result["problem"]["choices"]
    roles = {column["name"]: column["role"] for column in result["columns"]}
    assert roles == {"who": "name", "town": "group", "a": "ranking", "b": "ranking", "c": "ignore"}
    roles = {column["name"]: column["role"] for column in view("data", path)["columns"]}
    assert set(roles.values()) == {""}


def test_consensus_has_the_numbers_of_the_library(drinks):
    survey = read_survey(drinks)
    result = view("consensus", drinks)
    found, facts = consensus(survey, random_state=0), summary(survey)
    assert [row["name"] for row in blocks_of(result, "places")[0]["places"]] == found.order
    drawn = block(result, "mean-rank")["chart"]["rows"]
    means = dict(zip(facts.items, facts.mean_rank, strict=True))
    assert [row["value"] for row in drawn] == sorted(means.values())
    assert all(row["value"] == means[row["label"]] for row in drawn)
    assert all(row["low"] <= row["value"] <= row["high"] for row in drawn)


def test_a_tie_is_declared(tmp_path):
    path = tmp_path / "tie.csv"
    path.write_text("rank_a,rank_b,rank_c\n1,2,3\n2,1,3\n")
    result = view("consensus", path)
    assert blocks_of(result, "text")[0]["text"] == "a and b share the first place."
    assert [row["place"] for row in blocks_of(result, "places")[0]["places"]] == [1, 1, 3]


def test_a_cell_says_who(drinks):
    survey = read_survey(drinks, by="city")
    tea, milk = (survey.rankings.items.index(name) for name in ("Tea", "Milk"))
    positions = survey.rankings.positions
    result = view("cell", drinks, {"by": "city"}, a=tea, b=milk)
    rows = {row[0]: row[1:] for row in blocks_of(result, "table")[0]["rows"]}
    assert rows["Tea before Milk"][0] == str(int((positions[:, tea] < positions[:, milk]).sum()))
    assert sum(int(n) for n in rows["Tea before Milk"][2:]) == int(rows["Tea before Milk"][0])
    in_place = view("cell", drinks, item=tea, place=1)
    first = blocks_of(in_place, "table")[0]["rows"][0]
    assert first[:2] == ["Tea in place 1", str(int((positions[:, tea] == 1).sum()))]


def test_an_unknown_item_is_refused(drinks):
    with pytest.raises(ValueError, match="there is no item 5; items have the numbers 0 to 4"):
        view("cell", drinks, a=5, b=0)
    with pytest.raises(ValueError, match="there is no item 'Tea'"):
        view("cell", drinks, item="Tea", place=1)


ASKED = "How much do you agree that the city should spend more money on"


def test_items_that_begin_alike_are_told_apart(tmp_path):
    path = tmp_path / "city.csv"
    items = [f"{ASKED} trams", f"{ASKED} buses", "Parks"]
    path.write_text(",".join(items) + "\n" + "1,2,3\n" * 3 + "2,1,3\n" + "3,1,2\n")
    result = view("pairs", path, {"layout": "positions"})
    names = block(result, "pairs")["chart"]["rows"]
    assert sorted(names) == ["How much do you agree ... buses", "How much do you agree ... trams", "Parks"]
    assert [row[1] for row in block(view("consensus", path, {"layout": "positions"}), "joint")["rows"]] == [
        "How much do you agree ... trams",
        "How much do you agree ... buses",
        "Parks",
    ]
    drawn = block(result, "pairs")["chart"]
    survey = read_survey(path, layout="positions")
    for row, name in zip(drawn["items"], names, strict=True):
        assert survey.rankings.items[row].endswith(name.split()[-1])
        for column, other in zip(drawn["items"], names, strict=True):
            if row != column:
                before = int((survey.rankings.positions[:, row] < survey.rankings.positions[:, column]).sum())
                cell = block(view("cell", path, {"layout": "positions"}, a=row, b=column), "cell")
                said = {row[0]: row[1:] for row in cell["rows"]}
                assert said.get(f"{name} before {other}", ["0", "0%"]) == [str(before), f"{before / 5:.0%}"]
                assert len(said) == 1 + (0 < before < 5)
    place = block(result, "all-places")["chart"]
    assert place["items"] == drawn["items"]


@pytest.mark.parametrize(
    "items",
    [
        [f"{ASKED} trams", f"{ASKED} buses"],
        [f"{ASKED} {'very ' * 20}{end}" for end in "abc"],
        ["x" * 200 + end for end in "abc"],
        ["a b", "a  b", "a b (1)"],
        [f"{ASKED} {'1' * 80}", f"{ASKED} {'1' * 70}", f"{ASKED} 2"],
    ],
)
def test_names_of_items_are_distinct_and_not_shortened_again(items):
    found = told_apart(items)
    assert len(set(found)) == len(items)
    assert list(map(short_name, found)) == list(found)
    assert told_apart(["Tea", 2, "y" * 100]) == ("Tea", 2, "y" * 100)


def test_groups_have_the_test_of_the_library(drinks):
    result = view("groups", drinks, by="city")
    test = compare_groups(read_survey(drinks, by="city"), random_state=0)
    assert blocks_of(result, "text")[0]["text"] == test.sentences[0]
    assert {"value": "city", "label": "city"} in view("groups", drinks)["columns"]


def test_rows_left_out_move_the_consensus(tmp_path):
    path = tmp_path / "jury.csv"
    path.write_bytes(EXAMPLES["jury"].content())
    options = {"layout": "judges"}
    before = blocks_of(view("consensus", path, options), "places")[0]["places"]
    after = blocks_of(view("consensus", path, {**options, "leave_out": ["Dora"]}), "places")[0]["places"]
    assert before[0] == {"place": 1, "name": "Syrah"}
    assert after != before
    table = block(view("raters", path, {**options, "leave_out": ["Dora"]}), "people")
    assert sorted(table["toggle"]["ids"]) == ["Anna", "Ben", "Cleo", "Dora", "Emil", "Fay", "Gus"]
    assert table["toggle"]["off"] == ["Dora"]
    assert [row[0] for row in table["rows"]] == table["toggle"]["ids"]


def test_people_without_names_are_left_out_by_their_row(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("age,rank_a,rank_b,rank_c\n30,1,2,3\n40,,,\n50,2,1,3\n30,1,3,2\n40,2,1,3\n")
    ticks = block(view("raters", path), "people")["toggle"]
    assert sorted(ticks["ids"]) == ["1", "3", "4", "5"]
    again = block(view("raters", path, {"leave_out": ["4"]}), "people")
    assert again["toggle"]["off"] == ["4"]
    assert sorted(again["toggle"]["ids"]) == ["1", "3", "4", "5"]
    assert {row[0] for row in again["rows"]} == {"row 1", "row 3", "row 4", "row 5"}


def test_a_person_gets_a_prediction(drinks):
    form = view("drivers", drinks)["form"]
    assert {field["name"]: field["type"] for field in form}["city"] == "choice"
    young = view("predict", drinks, person={"age": 20, "city": "Rome", "finished": "yes"})
    old = view("predict", drinks, person={"age": 75, "city": "Rome", "finished": "yes"})
    place = [
        {row["name"]: row["place"] for row in blocks_of(result, "places")[0]["places"]}["Juice"]
        for result in (young, old)
    ]
    assert place[0] < place[1]
    assert blocks_of(view("predict", drinks), "places")  # nothing known of the person


def test_what_cannot_be_told_is_a_choice(tmp_path):
    path = tmp_path / "hack.csv"
    path.write_text("judge,Alpha,Beta,Gamma\nA,9,7,8\nB,10,6,7\nC,8,9,6\n")
    result = view("data", path)
    problem = result["problem"]
    assert problem is not None
    assert result["columns"]
    assert block(result, "preview")["rows"][0] == ["A", "9", "7", "8"]
    labels = [choice["label"] for choice in problem["choices"]]
    scores = next(choice for choice in problem["choices"] if choice["options"]["layout"] == "scores")
    assert any("higher is better" in label for label in labels)
    again = view("consensus", path, scores["options"])
    assert blocks_of(again, "places")[0]["places"][0]["name"] == "Alpha"
    with pytest.raises(RankwiseFormatError) as error:
        view("consensus", path)
    assert problem_of(error.value)["choices"] == problem["choices"]
    assert str(tmp_path) not in json.dumps(problem)


def test_the_tree_has_whole_rankings(drinks):
    nodes = block(view("drivers", drinks), "tree")["chart"]["nodes"]
    leaves = [node for node in nodes if node["ranking"]]
    assert len(leaves) > 1
    assert all(len(leaf["ranking"]) == 5 for leaf in leaves)
    assert sum(leaf["n"] for leaf in leaves) == nodes[0]["n"]


def test_drivers_are_named_by_their_questions(drinks, tmp_path):
    import pandas as pd
    import pyreadstat

    labels = {"age": "How old are you?", "city": "Where do you live?"}
    frame = pd.read_csv(drinks)
    pyreadstat.write_sav(frame, str(tmp_path / "drinks.sav"), column_labels=[labels.get(c, c) for c in frame])
    result = view("drivers", tmp_path / "drinks.sav")
    assert [row[0] for row in block(result, "importances")["rows"][:2]] == list(labels.values())
    assert {field["title"] for field in result["form"]} >= set(labels.values())
    asked = {(node["title"], node["branch"]) for node in block(result, "tree")["chart"]["nodes"]}
    assert ("How old are you?", "") in asked
    assert ("Where do you live?", "more than 34.5") in asked
    assert {("", "34.5 or less"), ("", "Oslo"), ("", "Bonn or Rome")} <= asked


@pytest.mark.parametrize(
    ("condition", "asked", "branches"),
    [
        ("age <= 34.5, p < 0.001", "age", ["34.5 or less", "more than 34.5"]),
        ("city in {Oslo, Rome}", "city", ["Oslo or Rome", "Bonn or Wien"]),
        ("town in {Oslo, Rome}", "town", ["Oslo or Rome", "any other answer"]),
        ("city in {Oslo, ... 2 more}", "city", ["Oslo or ... 2 more", "any other answer"]),
        ("how often? <= rarely", "how often?", ["never or rarely", "often"]),
        ("years <= c", "years", ["a or b or c", "from d up to g"]),
        ("a <= b <= 3", "a <= b", ["3 or less", "more than 3"]),
        ("age is known", "age is known", ["yes", "no"]),
    ],
)
def test_splits_in_words(condition, asked, branches):
    levels = {"city": ["Bonn", "Oslo", "Rome", "Wien"], "how often?": ["never", "rarely", "often"], "years": "abcdefg"}
    title, p_value, sides = people_views._asked(condition, levels)
    assert (title, [words for words, _ in sides]) == (asked, branches)
    assert p_value == ("p < 0.001" if "p <" in condition else "")


def test_branches_name_only_answers_that_are_left():
    from rankwise.label_ranking import RankingTree

    ages = ["18 to 29", "30 to 44", "45 to 64", "65 or older"]
    X = np.repeat(ages, 10)[:, np.newaxis]
    orders = {"18 to 29": [1, 2, 3], "30 to 44": [2, 1, 3], "45 to 64": [2, 1, 3], "65 or older": [3, 2, 1]}
    tree = RankingTree(categorical_features={0: ages}, max_depth=2).fit(X, [orders[age] for age in X[:, 0]])
    chart = people_views.tree_chart(tree, {"x0": ages})
    branches = {node["branch"] for node in chart["nodes"]}
    assert {"18 to 29", "30 to 44 or 45 to 64", "65 or older"} <= branches
    heard = people_views._tree_text(chart["nodes"])
    assert "x0: 65 or older (10 people): " in heard
    assert heard.count(" people): ") == 3


def test_a_cell_has_the_share_of_the_picture(tmp_path):
    path = tmp_path / "a.csv"
    rows = ["1,2,3"] * 6 + ["2,1,3"] * 2 + [",1,2"] * 4
    path.write_text("rank_a,rank_b,rank_c\n" + "\n".join(rows) + "\n")
    assert "75% put a before b" in str(view("pairs", path))
    assert block(view("cell", path, a=0, b=1), "cell")["rows"] == [
        ["a before b", "6", "75%"],
        ["b before a", "2", "25%"],
        ["not compared", "4", ""],
    ]
    assert [row[2] for row in block(view("cell", path, item=0, place=1), "cell")["rows"]] == ["75%", "25%", ""]


def test_blanks_are_counted_where_their_meaning_is_chosen(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("who,rank_a,rank_b,rank_c\n" + "x,1,2,3\ny,,1,2\nz,3,2,1\n" * 2)
    tiles = {tile["label"]: tile["value"] for tile in blocks_of(view("data", path), "tiles")[0]["tiles"]}
    assert tiles["Left items blank"] == "2"
    path.write_text("who,rank_a,rank_b,rank_c\n" + "x,1,2,3\nz,3,2,1\n" * 3)
    assert len(blocks_of(view("data", path), "tiles")[0]["tiles"]) == 3


def test_votes_that_weigh_the_same_are_told_in_a_sentence(tmp_path):
    path = tmp_path / "a.csv"
    rows = ["1,2,3"] * 30 + ["2,1,3"] * 20 + [",1,2"]  # the last one says nothing of the pair that decides
    path.write_text("rank_a,rank_b,rank_c\n" + "\n".join(rows) + "\n")
    result = view("robustness", path)
    assert "Influence of each vote" not in [table["title"] for table in blocks_of(result, "table")]
    words = [text["text"] for text in blocks_of(result, "text")]
    assert "a leads b by 10 votes; 30 of 51 votes add to that, 20 take from it." in words
    margins = block(result, "robustness-0")  # without ten votes they tie
    assert margins["rows"][0][5] == "a, b"
    assert margins["note"] == "Items with a comma between them share the first place."


def test_codes_of_spss_are_shown_and_filtered_by_their_labels(tmp_path):
    import pandas as pd
    import pyreadstat

    n = 40
    frame = pd.DataFrame({f"Q1_{item}": [1 + (item + row) % 3 for row in range(n)] for item in (1, 2, 3)})
    frame["AGE"] = [1 + row % 4 for row in range(n)]
    frame["SEX"] = [None if row % 8 == 0 else row % 2 for row in range(n)]
    asked = "Please rank what matters most to you when you take the bus at peak times: "
    labels = [*(asked + item for item in ("Price", "Speed", "Comfort")), "How old are you?", "Are you a woman?"]
    values = {"AGE": {1: "18 to 29", 2: "30 to 44", 3: "45 to 64", 4: "65 or older"}, "SEX": {0: "No", 1: "Yes"}}
    pyreadstat.write_sav(frame, str(tmp_path / "a.sav"), column_labels=labels, variable_value_labels=values)
    result = view("data", tmp_path / "a.sav")
    columns = {column["name"]: column for column in result["columns"]}
    assert columns["Q1_3"]["title"] == asked + "Comfort"  # the end tells it from the others
    assert columns["AGE"]["examples"] == ["18 to 29", "30 to 44", "45 to 64"]
    age, sex = result["filters"]
    assert age["title"] == "How old are you?"
    assert [each["value"] for each in age["answers"]] == list(values["AGE"].values())
    assert sex["answers"] == [
        {"value": "No", "label": "No", "n": 15},
        {"value": "Yes", "label": "Yes", "n": 20},
        {"value": "", "label": "no answer", "n": 5},
    ]
    for one in result["filters"]:
        for answer in one["answers"]:
            some = view("data", tmp_path / "a.sav", {"where": {one["column"]: [answer["value"]]}})
            assert blocks_of(some, "tiles")[0]["tiles"][0]["value"] == str(answer["n"])
    choice = view("groups", tmp_path / "a.sav")["columns"]
    assert choice == [{"value": "AGE", "label": "How old are you?"}, {"value": "SEX", "label": "Are you a woman?"}]


@pytest.mark.parametrize("name", ["consensus", "groups", "drivers", "raters"])
def test_code_gives_the_same_numbers(drinks, name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drinks.csv").write_bytes(drinks.read_bytes())
    options = {"by": "city", "where": {"finished": ["yes"]}}
    shown = view(name, drinks, options)
    code = code_of(name, "drinks.csv", options, shown.get("used", {}))
    exec(compile(code["python"], "code", "exec"), {})  # our own code
    printed = capsys.readouterr().out
    tables = {
        "consensus": ("joint", "rules", "ranks"),
        "groups": ("tests", "item-differences"),
        "drivers": ("importances",),
        "raters": ("people",),
    }
    for row in [row for table in tables[name] for row in block(shown, table)["rows"][:30]]:
        assert " ".join(filter(None, row)) in " ".join(printed.split())


# Tables of the views whose rows the commands print; a terminal shows the first 30 people.
PRINTED = {
    "data": [],
    "consensus": ["ranks", "joint", "rules", "agreement"],
    "pairs": ["pair-facts"],
    "groups": ["means", "item-differences", "pair-differences", "tests"],
    "segments": ["profiles", "sizes", "criteria"],
    "drivers": ["importances"],
    "raters": ["people"],
    "robustness": ["robustness-0", "robustness-1", "robustness-2"],
}


@pytest.mark.parametrize("name", list(PRINTED))
def test_commands_print_the_numbers_of_the_page(drinks, name, tmp_path, monkeypatch):
    """What the page offers to paste runs, whatever was clicked, and prints what the page shows."""
    from typer.testing import CliRunner

    from rankwise.cli.app import app

    monkeypatch.chdir(tmp_path)
    text = (
        drinks.read_text(encoding="utf-8").replace("rank_Juice", '"rank_Juice, fresh"').replace(",yes,", ',"yes, all",')
    )
    Path("drinks.csv").write_text(text, encoding="utf-8")
    options = {
        "layout": "positions",
        "read": {"prefix": "rank_"},
        "unlisted": "missing",
        "id": "person",
        "by": "city",
        "ignore": ["rank_Milk", "rank_Juice, fresh"],
        "features": ["age", "city"],
        "where": {"finished": ["yes, all"]},
        "leave_out": ["P002", "P001"],
    }
    shown = view(name, Path("drinks.csv"), options, **({"n": 2} if name == "segments" else {}))
    code = code_of(name, "drinks.csv", options, shown.get("used", {}))
    printed = []
    for command in code["command"].splitlines():
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, (command, done.output)
        printed += [" ".join(line.split()) for line in done.output.splitlines()]
    for table in PRINTED[name]:
        rows = [row for row in block(shown, table)["rows"] if len(list(filter(None, row))) > 1]
        assert rows
        for row in rows[:30]:
            cells = re.compile(".*".join(map(re.escape, filter(None, row))))
            assert any(map(cells.search, printed)), (table, row)


def test_columns_with_commas_are_named_in_commands(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from rankwise.cli.app import app

    monkeypatch.chdir(tmp_path)
    Path("odd.csv").write_text('"tea, green","coffee",cocoa\n1,2,3\n2,1,3\n1,3,2\n')
    command = code_of("data", "odd.csv", {"layout": "positions", "target": ["tea, green", "cocoa"]}, {})["command"]
    done = CliRunner().invoke(app, shlex.split(command)[1:])
    assert done.exit_code == 0, done.output
    assert "tea, green" in done.output
    assert "3 of 2 items" in done.output


def test_the_command_of_pairs_writes_all_places(drinks, tmp_path, monkeypatch):
    from openpyxl import load_workbook
    from typer.testing import CliRunner

    from rankwise.cli.app import app

    monkeypatch.chdir(tmp_path)
    Path("drinks.csv").write_bytes(drinks.read_bytes())
    command = code_of("pairs", "drinks.csv", {}, {})["command"]
    assert CliRunner().invoke(app, shlex.split(command)[1:]).exit_code == 0
    sheet = next(sheet for sheet in load_workbook("tables.xlsx") if sheet.title.startswith("How often each item"))
    header, *rows = sheet.iter_rows(values_only=True)
    written = {row[0]: row[1:] for row in rows if row[0] in DRINKS}
    shown = block(view("pairs", drinks), "all-places-table")
    assert list(header) == shown["columns"]
    assert sorted(written) == sorted(row[0] for row in shown["rows"])
    for item, *shares in shown["rows"]:
        assert [float(share.rstrip("%")) for share in shares] == pytest.approx(100 * np.array(written[item]), abs=0.56)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("ignore", ["a", "b"], ["--ignore", "a,b"]),
        ("ignore", ["a, b", "c"], ["--read", 'ignore=["a, b", "c"]']),
        ("leave_out", ["Ann", "Bo"], ["--read", "leave_out=Ann,Bo"]),
        ("drop", ["a", "b"], ["--read", 'drop=["a", "b"]']),
        ("where", {"a": ["x", "y"]}, ["--read", "where=a=x|y"]),
        ("where", {"a=b": ["x|y"]}, ["--read", 'where={"a=b": ["x|y"]}']),
        ("sheet", "2020", ["--read", 'sheet="2020"']),
        ("sheet", "Answers", ["--read", "sheet=Answers"]),
        ("weight", "2020", ["--weight", "2020"]),
        ("weights", None, ["--read", "weights=None"]),
        ("invalid", "drop", ["--drop-bad-rows"]),
    ],
)
def test_arguments_as_words_of_a_command(key, value, said):
    from rankwise.cli.options import LISTS, settings
    from rankwise.studio.code import _option

    words = _option(key, value, ("weight", "ignore"))
    assert words == said
    if words[0] == "--read":
        read = settings(words[1:], "--read")[key]
        is_text = key in LISTS and isinstance(read, str)  # the command line cuts it at the commas
        assert (read.split(",") if is_text and key != "where" else read) == (value if read != "a=x|y" else read)


def test_the_segments_of_the_code_are_those_of_the_page(tmp_path, monkeypatch, capsys, drinks):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drinks.csv").write_bytes(drinks.read_bytes())
    shown = view("segments", drinks, n=2)
    code = code_of("segments", "drinks.csv", {}, {"n": 2, **shown["used"]})
    exec(compile(code["python"], "code", "exec"), {})  # our own code
    printed = " ".join(capsys.readouterr().out.split())
    for row in block(shown, "profiles")["rows"]:
        assert " ".join(filter(None, row)) in printed


def test_the_page_and_the_report_have_the_same_intervals(drinks):
    survey = read_survey(drinks)
    spread = analyze(survey, random_state=0).consensus.bootstrap
    rows = block(view("consensus", drinks), "places")["chart"]["rows"]
    ends = {item: (low, high) for item, low, high in zip(spread.items, spread.low, spread.high, strict=True)}
    assert {row["label"]: (row["low"], row["high"]) for row in rows} == ends


def test_few_people_have_no_segments(tmp_path):
    path = tmp_path / "jury.csv"
    path.write_bytes(EXAMPLES["jury"].content())
    result = view("segments", path, {"layout": "judges"})
    assert "too few" in result["blocks"][0]["text"]


@pytest.mark.parametrize(("name", "example"), [("queries", "letor"), ("compare", "letor"), ("queries", "trec")])
def test_code_and_commands_measure_search_results_as_the_page_does(tmp_path, monkeypatch, name, example):
    monkeypatch.chdir(tmp_path)
    given = {"letor": {"search.txt": ("letor", EXAMPLES["search"].content())}, "trec": _trec()}[example]
    shown, printed = _shown_and_printed(name, given, tmp_path)
    tables = blocks_of(shown, "table")
    assert tables
    for row in (row for table in tables for row in table["rows"]):
        for words in printed:
            assert " ".join(row) in words


def test_code_and_commands_explain_as_the_page_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"search.txt": ("letor", EXAMPLES["search"].content())}
    shown, (in_python, on_command_line) = _shown_and_printed("explain", given, tmp_path)
    numbers = dict(re.findall(r"feature (\d+) (\S+)", on_command_line))
    for row in block(shown, "why")["chart"]["rows"]:
        assert f"{row['label']}: {row['text']}" in in_python
        assert row["value"] == pytest.approx(float(numbers[row["label"].split()[1]]), abs=6e-5)
    for document in block(shown, "documents")["rows"]:
        assert f"{float(document[1]):g}" in in_python


@pytest.mark.parametrize("person", [{"age": 20, "city": "Rome", "finished": "yes"}, {"city": "Oslo"}])
def test_code_and_commands_predict_as_the_page_does(tmp_path, monkeypatch, drinks, person):
    from typer.testing import CliRunner

    from rankwise.cli.app import app

    monkeypatch.chdir(tmp_path)
    (tmp_path / "drinks.csv").write_bytes(drinks.read_bytes())
    shown = view("predict", drinks, person=person)
    code = code_of("predict", "drinks.csv", {}, shown.pop("used"))
    with contextlib.redirect_stdout(io.StringIO()) as in_python:
        exec(compile(code["python"], "code", "exec"), {})  # our own code
    rows = block(shown, "prediction")["rows"]
    assert in_python.getvalue().splitlines() == [" ".join(row) for row in rows]
    fit, predict = code["command"].splitlines()
    assert CliRunner().invoke(app, shlex.split(fit)[1:]).exit_code == 0
    piped, command = predict.split(" | ")
    lines = shlex.split(piped)[2:]
    done = CliRunner().invoke(app, shlex.split(command)[1:], input="\n".join(lines) + "\n")
    names, numbers = done.stdout.splitlines()[-2:]
    assert dict(zip(names.split(","), numbers.split(","), strict=True)) == {row[1]: row[0] for row in rows}


def test_code_predicts_from_numbers_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{20 + row},{'1,2,3' if row < 15 else '3,2,1'}\n" for row in range(30))
    (tmp_path / "votes.csv").write_text(f"age,rank_a,rank_b,rank_c\n{rows}")
    for person in ({"age": 22}, {}):
        shown = view("predict", tmp_path / "votes.csv", person=person)
        code = code_of("predict", "votes.csv", {}, shown.pop("used"))
        exec(compile(code["python"], "code", "exec"), {})  # our own code
        rows = block(shown, "prediction")["rows"]
        assert capsys.readouterr().out.splitlines() == [" ".join(row) for row in rows]


def test_documents_of_one_name_are_explained_by_their_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = EXAMPLES["search"].content().decode().splitlines()
    content = "\n".join(f"{line.partition('#')[0]}# doc{number % 2}" for number, line in enumerate(lines)) + "\n"
    shown, (_, on_command_line) = _shown_and_printed("explain", {"search.txt": ("letor", content.encode())}, tmp_path)
    numbers = dict(re.findall(r"feature (\d+) (\S+)", on_command_line))
    assert "does not name each of them" in block(shown, "documents")["note"]
    for row in block(shown, "why")["chart"]["rows"]:
        assert row["value"] == pytest.approx(float(numbers[row["label"].split()[1]]), abs=6e-5)


def test_the_feature_that_is_named_speaks_for_the_upper_document(tmp_path):
    path = tmp_path / "stored"
    path.write_bytes(EXAMPLES["search"].content())
    for query in ("1", "2", "3"):
        shown = search_views.show(
            "explain", [SearchFile("letor", "s.txt", path)], {}, {"query": query}, lambda *_: None
        )
        named = blocks_of(shown, "text")[0]["text"].rpartition("mostly by ")[2].rstrip(".")
        effects = {row["label"]: row["value"] for row in block(shown, "why")["chart"]["rows"]}
        assert effects[named] == max(effects.values())


def _shown_and_printed(name, given, folder):
    """A view of search results, and what its code and its commands print, with single spaces."""
    from typer.testing import CliRunner

    from rankwise.cli.app import app

    for file, (_, content) in given.items():
        (folder / file).write_bytes(content)
    files = [SearchFile(role, file, folder / file) for file, (role, _) in given.items()]
    shown = search_views.show(name, files, {}, {}, lambda step, share: None)
    code = search_code_of(name, files, {}, shown.pop("used", {}))
    with contextlib.redirect_stdout(io.StringIO()) as in_python:
        exec(compile(code["python"], "code", "exec"), {})  # our own code
    done = [CliRunner().invoke(app, shlex.split(line)[1:]) for line in code["command"].splitlines()]
    assert [one.exit_code for one in done] == [0] * len(done)
    printed = (in_python.getvalue(), "".join(one.stdout for one in done))
    return shown, [" ".join(text.split()) for text in printed]


def _trec():
    """Judgments and two runs."""
    rng = np.random.default_rng(0)
    lines = {"judged.qrels": [], "old.run": [], "new.run": []}
    for query, document in np.ndindex(12, 8):
        grade = rng.integers(0, 3)
        lines["judged.qrels"].append(f"{query} 0 d{document} {grade}")
        for name, noise in (("old.run", 2.0), ("new.run", 0.5)):
            lines[name].append(f"{query} Q0 d{document} 1 {grade + noise * rng.normal():.4f} {name}")
    roles = {"judged.qrels": "qrels", "old.run": "run", "new.run": "run"}
    return {name: (roles[name], "\n".join([*found, ""]).encode()) for name, found in lines.items()}


def test_commands_name_every_option():
    options = {"layout": "judges", "where": {"a b": ["x", "y"]}, "leave_out": ["Ben"], "invalid": "drop", "seed": 3}
    assert code_of("raters", "my file.csv", options, {})["command"] == (
        "rankwise raters 'my file.csv' --layout judges --read 'where=a b=x|y' --read leave_out=Ben --drop-bad-rows "
        "--seed 3"
    )


@pytest.mark.parametrize(
    ("content", "role"),
    [
        (b"2 qid:1 1:0.5 2:3 # docid = G1\n0 qid:1 1:0 2:1\n", "letor"),
        (b"1 0 doc1 2\n1 0 doc2 0\n", "qrels"),
        (b"1 Q0 doc1 1 9.5 bm25\n1 Q0 doc2 2 -1e3 bm25\n", "run"),
        (b"tea,milk\n1,2\n", None),
        (b"", None),
    ],
)
def test_search_files_are_recognized(content, role):
    assert search_role(content) == role


@pytest.mark.parametrize("name", list(SEARCH_VIEWS))
def test_search_views_of_graded_documents(tmp_path, name):
    path = tmp_path / "stored"
    path.write_bytes(EXAMPLES["search"].content())
    files = [SearchFile("letor", "search.txt", path)]
    result = search_views.show(name, files, {}, {}, lambda step, share: None)
    json.dumps(result, allow_nan=False)
    assert blocks_of(result, "text")[0]["tone"] == "lead"


def test_two_runs_are_compared(tmp_path):
    rng = np.random.default_rng(0)
    qrels, runs = [], {"good": [], "bad": []}
    for query in range(12):
        grades = rng.integers(0, 3, size=8)
        for document, grade in enumerate(grades):
            qrels.append(f"{query} 0 d{document} {grade}")
            runs["good"].append(f"{query} Q0 d{document} 1 {grade + rng.random():.4f} good")
            runs["bad"].append(f"{query} Q0 d{document} 1 {rng.random():.4f} bad")
    (tmp_path / "q").write_text("\n".join(qrels) + "\n")
    files = [SearchFile("qrels", "qrels.txt", tmp_path / "q")]
    for name, lines in runs.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        files.append(SearchFile("run", name, tmp_path / name))
    result = search_views.show("compare", files, {}, {}, lambda step, share: None)
    assert blocks_of(result, "text")[0]["text"].startswith("good is ahead")
    queries = search_views.show("queries", files, {}, {}, lambda step, share: None)
    lost = [row["value"] for row in block(queries, "queries")["chart"]["rows"]]
    assert lost == sorted(lost)
    alone = search_views.show("data", files[:1], {}, {}, lambda step, share: None)
    assert blocks_of(alone, "text")[-1]["text"] == "Add a run to measure."


@pytest.mark.parametrize(
    ("example", "pictures"), [("letor", {"systems", "queries", "why"}), ("trec", {"systems", "queries"})]
)
def test_search_results_have_a_report_a_workbook_and_pictures(tmp_path, example, pictures):
    given = {"letor": {"search.txt": ("letor", EXAMPLES["search"].content())}, "trec": _trec()}[example]
    for file, (_, content) in given.items():
        (tmp_path / file).write_bytes(content)
    files = [SearchFile(role, file, tmp_path / file) for file, (role, _) in given.items()]
    folder = tmp_path / "made"
    folder.mkdir()
    make_files("files", files[0].name, "search", files, {}, {}, lambda step, share: None, folder)
    report = unescape(re.sub(r"<[^>]+>", " ", (folder / "report.html").read_text(encoding="utf-8")))
    report = " ".join(report.split())
    offered = {file["name"] for file in search_views.show("downloads", files, {}, {}, lambda *_: None)["files"]}
    assert offered - {"project.rankwise"} == {"report.html", "tables.xlsx", "pictures.zip"}
    for name in ("data", "metrics", "queries", *(["explain"] if example == "letor" else [])):
        shown = search_views.show(name, files, {}, {}, lambda step, share: None)
        assert " ".join(blocks_of(shown, "text")[0]["text"].split()) in report
        for row in (row for table in blocks_of(shown, "table") for row in table["rows"]):
            assert " ".join(filter(None, row)) in report
        assert search_code_of(name, files, {}, shown.get("used", {}))["command"].splitlines()[-1] in report
    with zipfile.ZipFile(folder / "pictures.zip") as archive:
        assert set(archive.namelist()) == {f"{name}.{form}" for name in pictures for form in ("png", "svg")}
        assert all(archive.read(name) for name in archive.namelist())
    assert (folder / "tables.xlsx").read_bytes().startswith(b"PK")


def test_judgments_alone_have_a_report_that_asks_for_a_run(tmp_path):
    _, content = _trec()["judged.qrels"]
    (tmp_path / "judged.qrels").write_bytes(content)
    files = [SearchFile("qrels", "judged.qrels", tmp_path / "judged.qrels")]
    folder = tmp_path / "made"
    folder.mkdir()
    make_files("files", "judged.qrels", "search", files, {}, {}, lambda step, share: None, folder)
    assert "Add a run to measure." in (folder / "report.html").read_text(encoding="utf-8")
    offered = [file["name"] for file in search_views.show("downloads", files, {}, {}, lambda *_: None)["files"]]
    assert offered == ["report.html", "project.rankwise"]


@pytest.mark.parametrize(
    ("comments", "names", "called"),
    [
        (["docid = G1 inc = 0.5", "docid = G2 inc = 1"], ["G1", "G2"], ["G1", "G2"]),
        (["doc7", "doc8"], ["doc7", "doc8"], ["doc7", "doc8"]),
        (["doc7", "doc7"], ["document 1", "document 2"], ["2", "3"]),
        (["", "doc8"], ["document 1", "document 2"], ["2", "3"]),
        (["a note", "on both"], ["document 1", "document 2"], ["2", "3"]),
    ],
)
def test_documents_are_called_as_in_the_file(comments, names, called):
    rows = np.array([1, 2])  # of the file, whose first one is of another query
    assert search_views._document_names(["doc6", *comments], rows) == (names, called)
