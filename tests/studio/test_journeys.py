"""What people do in the studio, from a file to an answer: the whole program, driven in a browser."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwise.analysis import consensus
from rankwise.data import read_survey
from rankwise.studio.examples import EXAMPLES
from tests.studio.attacks import hostile_csv
from tests.studio.browser import AXE, PATIENCE, chromium, is_too_wide, missing, page_in, violations
from tests.studio.running import workers_of

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]
VIEWS = {
    "Data": "data",
    "Joint ranking": "consensus",
    "Pairs and places": "pairs",
    "Groups": "groups",
    "Segments": "segments",
    "Drivers": "drivers",
    "Raters": "raters",
    "Robustness": "robustness",
    "Downloads": "downloads",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def program() -> Iterator[tuple[int, str]]:
    """The process of a studio, and its address."""
    command = [sys.executable, "-m", "rankwise", "studio", "--no-browser", "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as studio:
        try:
            assert studio.stdout is not None
            found = re.search(r"http://\S+", studio.stdout.readline())
            assert found
            yield studio.pid, found.group()
        finally:
            studio.terminate()
            studio.wait(PATIENCE / 1000)


@pytest.fixture(scope="module")
def address(program: tuple[int, str]) -> str:
    return program[1]


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    with page_in(browser) as found:
        found.goto(address)
        yield found


@pytest.fixture(scope="module")
def drinks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("files") / "drinks.csv"
    path.write_bytes(EXAMPLES["drinks"].content())
    return path


def give(page: Any, name: str, content: bytes) -> None:
    page.set_input_files("#file", {"name": name, "mimeType": "application/octet-stream", "buffer": content})
    arrive(page, "data")


def take_example(page: Any, name: str) -> None:
    page.get_by_role("button", name=EXAMPLES[name].title).click()
    arrive(page, "data")


def arrive(page: Any, view: str) -> None:
    page.wait_for_url(re.compile(f"#/.+/{view}"))
    page.locator(f'.result[data-view="{view}"]:not([aria-busy]) > *').first.wait_for()


def go(page: Any, name: str, view: str) -> None:
    page.locator(".result:not([aria-busy]) > *").first.wait_for()  # what was changed here counts there
    page.get_by_role("link", name=name, exact=True).click()
    arrive(page, view)


def ranking(page: Any) -> list[str]:
    return page.locator(".places").first.locator("li span").all_inner_texts()


def files(path: Path) -> dict[str, bytes]:
    """The survey of drinks in several formats."""
    import pandas as pd

    frame = pd.read_csv(path)
    frame.to_excel(path.with_suffix(".xlsx"), index=False)
    import pyreadstat

    pyreadstat.write_sav(frame, str(path.with_suffix(".sav")))
    names = ["drinks.csv", "drinks.xlsx", "drinks.sav"]
    found = {name: path.with_suffix(Path(name).suffix).read_bytes() for name in names}
    return {**found, "election.soi": EXAMPLES["election"].content()}


def test_files_of_many_kinds_are_understood_and_corrected(page: Any, drinks: Path) -> None:
    from playwright.sync_api import expect

    home = page.url
    for name, content in files(drinks).items():
        page.goto(home)
        give(page, name, content)
        expect(page.get_by_role("heading", name="How the file was understood")).to_be_visible()
        expect(page.locator(".tiles").first).to_contain_text("Alder" if name == "election.soi" else "Tea")
    page.goto(home)
    page.get_by_label("Or paste from a spreadsheet").fill(
        "Tea\tCoffee\tCocoa\n1\t2\t3\n2\t1\t3\n1\t3\t2\n1\t2\t3\n2\t1\t3\n1\t2\t3\n"
    )
    page.get_by_role("button", name="Use these rows").click()
    arrive(page, "data")
    expect(page.get_by_role("radio", name="Ranks: 1 is best")).to_be_checked()
    go(page, "Joint ranking", "consensus")
    assert ranking(page) == ["Tea", "Coffee", "Cocoa"]
    go(page, "Data", "data")
    page.get_by_role("radio", name="Scores: higher is better").check(force=True)
    expect(page.get_by_role("radio", name="Scores: higher is better")).to_be_checked()
    expect(page.locator(".lead").first).to_contain_text("scores")
    go(page, "Joint ranking", "consensus")
    assert ranking(page) == ["Cocoa", "Coffee", "Tea"]


def test_corrections_change_how_the_file_is_read(page: Any, drinks: Path) -> None:
    from playwright.sync_api import expect

    home = page.url
    give(page, drinks.name, drinks.read_bytes())
    page.get_by_role("radio", name="Below those that are ranked").check(force=True)
    expect(page.get_by_role("radio", name="Below those that are ranked")).to_be_checked()
    expect(page.get_by_text("Items without a place rank below the others.")).to_be_visible()
    page.goto(home)
    give(page, "jury.csv", EXAMPLES["jury"].content())
    expect(page.get_by_role("radio", name="Rows are items, columns are people")).to_be_checked()
    expect(page.get_by_role("cell", name="Malbec").or_(page.get_by_role("rowheader", name="Malbec"))).to_be_visible()
    page.get_by_role("radio", name="Scores: higher is better").last.check(force=True)
    go(page, "Joint ranking", "consensus")
    assert ranking(page)[0] == "Zinfandel"
    go(page, "Data", "data")
    page.get_by_role("radio", name="Orders: columns are places").check(force=True)
    expect(page.get_by_role("radio", name="Orders: columns are places")).to_be_checked()
    page.get_by_role("radio", name="Rows are items, columns are people").check(force=True)
    expect(page.locator(".tiles").first).to_contain_text("Malbec, Merlot, Rioja, Syrah, Zinfandel")


def test_hostile_names_are_only_text(page: Any) -> None:
    from playwright.sync_api import expect

    give(page, "<b>x.csv", hostile_csv())
    expect(page.get_by_role("navigation", name="Views")).to_contain_text("<b>x.csv")
    for name, view in VIEWS.items():
        go(page, name, view)
        assert page.locator("main img, main script, main iframe, main b b").count() == 0
        assert "\u202e" not in page.locator("body").inner_text()
        if view in ("data", "consensus"):
            expect(page.locator("main")).to_contain_text("<script>alert(1)</script>")
            expect(page.locator("main")).to_contain_text("txt.exe")


def test_a_file_that_is_far_too_wide_is_one_sentence(page: Any) -> None:
    from playwright.sync_api import expect

    width = 100_000
    lines = [",".join(f"c{number}" for number in range(width)), *[",".join(["1"] * width)] * 3]
    give(page, "wide.csv", "\n".join(lines).encode())
    expect(page.get_by_role("alert")).to_contain_text("The file has 100,000 columns")
    page.get_by_role("link", name="Another file").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("From rankings to an answer")


def test_a_file_of_windows_and_one_that_is_no_table(page: Any) -> None:
    from playwright.sync_api import expect

    home = page.url
    rows = ["Br\u00fccke;6,5;7,0;8,5", "Haus;9,0;8,0;9,5", "Bahnhof;4,0;3,5;5,0", "Park;7,0;6,0;6,5"]
    give(page, "jury.csv", "\n".join(["Projekt;M\u00fcller;Keller;Z\u00fcrcher", *rows]).encode("cp1252"))
    expect(page.get_by_role("alert")).to_contain_text("some letters of the file cannot be read", ignore_case=True)
    expect(page.get_by_role("table")).to_contain_text("Br\u00fccke")  # as it would be read
    page.get_by_role("button", name="Read it as Western European letters (Windows)").click()
    page.get_by_role("button", name="Each row is an item, each column a judge; numbers are scores", exact=True).click()
    expect(page.get_by_role("radio", name="Rows are items, columns are people")).to_be_checked()
    go(page, "Joint ranking", "consensus")
    assert ranking(page) == ["Haus", "Br\u00fccke", "Park", "Bahnhof"]
    for name, content, what in (("a.pdf", b"%PDF-1.7\n\xff", "a PDF"), ("old.xls", b"\xd0\xcf\x11\xe0\xa1", "(.xls")):
        page.goto(home)
        give(page, name, content)
        expect(page.get_by_role("alert")).to_contain_text(what)
        expect(page.get_by_role("alert")).to_contain_text("not a table; save the table as .xlsx or CSV.")


def test_a_file_that_fits_nothing_can_be_said_what_it_is(page: Any) -> None:
    from playwright.sync_api import expect

    give(page, "one.csv", b"Tea\n1\n2\n3\n")
    expect(page.get_by_role("alert")).to_contain_text("In Data, say what the cells hold")
    page.get_by_role("radio", name="Scores: higher is better").check(force=True)
    expect(page.get_by_role("radio", name="As it was")).to_be_visible()
    page.get_by_role("radio", name="As it was").click(force=True)  # it goes with what it takes back
    expect(page.get_by_role("radio", name="As it was")).to_have_count(0)
    expect(page.get_by_role("alert")).to_contain_text("In Data, say what the cells hold")


def test_a_tie_for_the_first_place_is_declared(page: Any) -> None:
    from playwright.sync_api import expect

    give(page, "tie.csv", b"rank_a,rank_b,rank_c\n1,2,3\n2,1,3\n")
    go(page, "Joint ranking", "consensus")
    expect(page.locator(".lead").first).to_have_text("a and b share the first place.")
    expect(page.locator(".places").first.locator("li b")).to_have_text(["1", "1", "3"])


def test_columns_and_filters_change_what_counts(page: Any, drinks: Path) -> None:
    from playwright.sync_api import expect

    give(page, drinks.name, drinks.read_bytes())
    expect(page.get_by_label("Role of person")).to_have_value("name")
    page.get_by_label("Role of city").select_option("Groups to compare")
    expect(page.get_by_label("Role of city")).to_have_value("group")
    page.get_by_label(re.compile(r"^no \(\d+\)")).uncheck()
    expect(page.get_by_text("Only rows with finished = yes.")).to_be_visible()
    survey = read_survey(drinks, where={"finished": ["yes"]})
    expect(page.locator(".tiles").first).to_contain_text(str(len(survey.rankings)))
    page.get_by_label("Role of rank_Milk").select_option("Ignore")
    expect(page.locator(".tiles").first).to_contain_text("4Tea, Coffee, Juice, Water")
    expect(page.get_by_role("radio", name="Ranks: 1 is best")).to_be_checked()
    go(page, "Joint ranking", "consensus")
    found = consensus(read_survey(drinks, where={"finished": ["yes"]}, ignore=["rank_Milk"]), "kemeny")
    assert ranking(page) == [found.items[i] for i in np.argsort(found.positions, kind="stable")]
    go(page, "Data", "data")
    page.get_by_label("Role of rank_Milk").select_option("Ranking")
    expect(page.locator(".tiles").first).to_contain_text("5Tea, Coffee, Juice, Water, Milk")
    page.get_by_label("Role of age").select_option("Weight")
    expect(page.get_by_label("Role of age")).to_have_value("weight")
    weighted = read_survey(drinks, where={"finished": ["yes"]}, weight="age")
    expect(page.locator(".tiles").first).to_contain_text(f"that count as {weighted.rankings.weights.sum():,.10g}")


def test_the_data_check_counts_what_should_be_looked_at(page: Any) -> None:
    from playwright.sync_api import expect

    rows = ["Ann,1,2,3", "Bob,2,1,3", "Cid,1,1,9", "Ann,1,2,3", "Eve,,,"]
    give(page, "check.csv", "\n".join(["name,rank_Tea,rank_Coffee,rank_Milk", *rows, *["Fay,3,1,2"] * 3]).encode())
    expect(page.get_by_role("alert")).to_contain_text("'9' is not a place among 3 items.")
    page.get_by_role("button", name="9 means that nothing was answered", exact=True).click()
    expect(page.locator(".tiles").first).to_contain_text("Ranked nothing1set apart")
    found = page.get_by_role("region", name="Data check").get_by_role("table")
    expect(found).to_contain_text("ranked nothing1line 6")


def test_answers_of_spss_are_ticked_by_their_labels(page: Any, drinks: Path, tmp_path: Path) -> None:
    import pandas as pd
    import pyreadstat
    from playwright.sync_api import expect

    frame = pd.read_csv(drinks)
    frame["city"] = frame["city"].map({"Bonn": 1, "Oslo": 2, "Rome": 3})
    labels = ["Where do you live?" if name == "city" else name for name in frame]
    values = {"city": {1: "Bonn", 2: "Oslo", 3: "Rome"}}
    path = tmp_path / "drinks.sav"
    pyreadstat.write_sav(frame, str(path), column_labels=labels, variable_value_labels=values)
    give(page, path.name, path.read_bytes())
    answers = page.get_by_role("group", name="Where do you live?")
    expect(answers.get_by_role("checkbox")).to_have_count(3)
    answers.get_by_label(re.compile(r"^Oslo \(\d+\)")).uncheck()
    expect(page.get_by_text("Only rows with city = Bonn or Rome.")).to_be_visible()
    survey = read_survey(path, where={"city": ["Bonn", "Rome"]})
    expect(page.locator(".tiles").first).to_contain_text(f"Rankings{len(survey.rankings)}")
    go(page, "Groups", "groups")
    page.get_by_label("Compare by").select_option("Where do you live?")
    expect(page.locator("figure.slopes svg")).to_contain_text("Rome")
    expect(page.get_by_label("Compare by").locator("option:checked")).to_have_text("Where do you live?")


def test_places_stay_places_when_an_item_is_left_out(page: Any) -> None:
    """The places of three of four items may look like scores; what they mean was settled before."""
    from playwright.sync_api import expect

    rows = ["1,2,3,4", "4,3,2,1", "2,1,4,3", "4,1,2,3", "3,4,1,2"]
    give(page, "plain.csv", "\n".join(["Tea,Coffee,Cocoa,Milk", *rows]).encode())
    page.get_by_label("Role of Milk").select_option("Ignore")
    expect(page.locator(".tiles").first).to_contain_text("3Tea, Coffee, Cocoa")
    expect(page.get_by_role("radio", name="Ranks: 1 is best")).to_be_checked()
    expect(page.get_by_role("alert")).to_have_count(0)
    go(page, "Joint ranking", "consensus")
    assert ranking(page) == ["Coffee", "Cocoa", "Tea"]
    go(page, "Data", "data")
    page.get_by_role("radio", name="Scores: higher is better").check(force=True)
    expect(page.get_by_role("radio", name="Scores: higher is better")).to_be_checked()
    expect(page.locator(".tiles").first).to_contain_text("3Tea, Coffee, Cocoa")


def test_a_judge_is_left_out_in_the_list_of_columns(page: Any) -> None:
    from playwright.sync_api import expect

    take_example(page, "jury")
    expect(page.get_by_label("Role of Wine")).to_be_disabled()
    page.get_by_label("Role of Ben").select_option("Ignore")
    expect(page.locator(".tiles").first).to_contain_text("Rankings6")
    expect(page.get_by_label("Role of Ben")).to_have_value("ignore")


def test_consensus_with_intervals_proof_and_rules_side_by_side(page: Any, drinks: Path) -> None:
    from playwright.sync_api import expect

    take_example(page, "drinks")
    page.get_by_role("link", name="This is right: show the joint ranking").click()
    arrive(page, "consensus")
    found = consensus(read_survey(drinks), "kemeny", random_state=0)
    order = sorted(range(5), key=lambda i: found.positions[i])
    assert ranking(page) == [found.items[i] for i in order]
    expect(page.locator(".places + .note")).to_contain_text("Proven: no order contradicts the answers less")
    for heading in ("mean rank", "first choice", "top three"):
        expect(page.get_by_role("columnheader", name=heading).first).to_be_visible()
    first = page.locator("figure.dots").first
    expect(first.locator(".mark")).to_have_count(5)
    expect(first.locator(".interval")).to_have_count(5)
    header = page.get_by_role("columnheader", name="Borda")
    expect(header.first).to_be_visible()
    page.get_by_label("Borda: mean rank", exact=True).uncheck()
    expect(header).to_have_count(0)


def test_a_cell_shows_the_numbers_and_who_says_so(page: Any) -> None:
    from playwright.sync_api import expect

    take_example(page, "jury")
    go(page, "Pairs and places", "pairs")
    page.locator('.mark[aria-label*="put Syrah before Merlot"]').click()
    panel = page.get_by_role("dialog")
    expect(panel.get_by_role("table")).to_contain_text("Syrah before Merlot")
    expect(panel).to_contain_text("Ben")
    page.keyboard.press("Escape")
    cell = page.locator('.mark[aria-label*="put Rioja in place 1"]')
    cell.focus()
    page.keyboard.press("Enter")
    expect(panel).to_contain_text("Fay")


def test_a_cell_of_items_that_begin_alike_counts_the_two_that_were_clicked(page: Any) -> None:
    from playwright.sync_api import expect

    asked = "How much do you agree that the city should spend more money on"
    rows = ["1,2,3"] * 3 + ["2,1,3", "3,1,2"]
    give(page, "city.csv", "\n".join([f"{asked} trams,{asked} buses,Parks", *rows]).encode())
    page.get_by_role("button", name="These are places: 1 is best", exact=True).click()  # agreement may be ratings
    expect(page.get_by_role("radio", name="Ranks: 1 is best")).to_be_checked()
    go(page, "Pairs and places", "pairs")
    page.locator('.mark[aria-label^="60% put"][aria-label*="... trams before"][aria-label*="... buses"]').click()
    rows_shown = page.get_by_role("dialog").get_by_role("row")
    expect(rows_shown).to_have_text(
        [
            "peopleshare",
            "How much do you agree ... trams before How much do you agree ... buses360%",
            "How much do you agree ... buses before How much do you agree ... trams240%",
        ]
    )


def test_groups_are_compared_with_a_test_and_a_slope_picture(page: Any) -> None:
    from playwright.sync_api import expect

    take_example(page, "drinks")
    go(page, "Groups", "groups")
    page.get_by_label("Compare by").select_option("city")
    expect(page.locator("figure.slopes .mark")).to_have_count(5)
    expect(page.locator("figure.slopes svg")).to_contain_text("Oslo")
    expect(page.locator(".lead").first).to_contain_text(re.compile(r"p [=<]"))
    effects = page.get_by_role("table").filter(has_text="difference").first
    expect(effects).to_contain_text("95% interval")
    expect(effects).to_contain_text("large")


def test_segments_are_chosen_by_bic_or_by_a_slider(page: Any, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    take_example(page, "drinks")
    go(page, "Segments", "segments")
    expect(page.get_by_label("Let the data choose")).to_be_checked()
    expect(page.locator("figure.lines .mark").first).to_be_attached()
    page.get_by_role("slider", name="Number of segments").fill("2")
    expect(page.get_by_role("heading", name="Profiles")).to_be_visible()
    expect(page.get_by_role("button", name="Download memberships.csv")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download memberships.csv").click()
    saved.value.save_as(tmp_path / "members.csv")
    assert len((tmp_path / "members.csv").read_text(encoding="utf-8").splitlines()) > 200


def test_drivers_have_a_tree_and_predict_for_a_person(page: Any, drinks: Path, tmp_path: Path) -> None:
    import pandas as pd
    import pyreadstat
    from playwright.sync_api import expect

    frame, questions = pd.read_csv(drinks), {"age": "How old are you?", "city": "Where do you live?"}
    labels = [questions.get(name, name.removeprefix("rank_")) for name in frame]
    pyreadstat.write_sav(frame, str(tmp_path / "drinks.sav"), column_labels=labels)
    give(page, "drinks.sav", (tmp_path / "drinks.sav").read_bytes())
    go(page, "Drivers", "drivers")
    tree = page.locator("figure.tree")
    expect(tree.locator(".mark").first).to_have_attribute("aria-label", re.compile(r"How old are you\?"))
    expect(tree.locator(".leaf").first).to_have_attribute("aria-label", re.compile("ranking: .*Milk"))
    expect(page.get_by_role("table").first).to_contain_text("Where do you live?")
    page.locator("form").get_by_label("How old are you?").fill("20")
    page.get_by_role("button", name="Predict the ranking").click()
    expect(page.locator("form ~ div .places li")).to_have_count(5)
    assert page.locator("form ~ div .places li").first.inner_text().split()[-1] == "Juice"


def test_leaving_a_rater_out_moves_the_joint_ranking(page: Any, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    take_example(page, "jury")
    go(page, "Raters", "raters")
    places = page.locator("#joint-ranking .places li")
    expect(places).to_have_count(5)
    expect(page.locator("figure.map .mark")).to_have_count(7)
    expect(page.locator("figure.map .ring")).to_have_count(1)
    expect(page.get_by_text("Fay ranks no nearer to the others than a random order")).to_be_visible()
    expect(places.locator("b")).to_have_text(["1", "2", "3", "4", "5"])
    page.get_by_role("checkbox", name="Counts: Ben").uncheck()
    expect(page.get_by_text("One rater is left out")).to_be_visible()
    expect(page.get_by_role("checkbox", name="Counts: Ben")).not_to_be_checked()
    path = tmp_path / "jury.csv"
    path.write_bytes(EXAMPLES["jury"].content())
    left = consensus(read_survey(path, layout="judges", leave_out=["Ben"]), "kemeny", random_state=0)
    standing = 1 + (left.positions < left.positions[:, np.newaxis]).sum(axis=1)
    order = np.argsort(standing, kind="stable")
    expect(places).to_have_text([f"{standing[i]}{left.items[i]}" for i in order])
    expect(places.locator("b")).to_have_text(["1", "1", "3", "4", "5"])
    page.get_by_role("checkbox", name="Counts: Ben").check()
    expect(places.locator("b")).to_have_text(["1", "2", "3", "4", "5"])


def test_raters_without_names_keep_their_numbers(page: Any) -> None:
    from playwright.sync_api import expect

    rows = ["1,2,3", "2,1,3", "1,3,2", "3,1,2", "1,2,3", "2,3,1"]
    give(page, "plain.csv", "\n".join(["Tea,Coffee,Cocoa", *rows]).encode())
    go(page, "Raters", "raters")
    for number, left_out in ((2, ["2"]), (5, ["2", "5"]), (1, ["1", "2", "5"])):
        with page.expect_request(lambda request: request.method == "PATCH") as sent:
            page.get_by_role("checkbox", name=f"Counts: row {number}", exact=True).uncheck()
        assert sorted(json.loads(sent.value.post_data)["options"]["leave_out"]) == left_out
        expect(page.get_by_role("checkbox", checked=False)).to_have_count(len(left_out))
        expect(page.get_by_role("checkbox")).to_have_count(6)


def test_search_results_are_measured_compared_and_explained(page: Any) -> None:
    from playwright.sync_api import expect

    take_example(page, "search")
    expect(page.locator(".lead").first).to_contain_text("queries")
    go(page, "Metrics", "metrics")
    expect(page.get_by_role("table").first).to_contain_text("lambdamart")
    for metric in ("ndcg@5", "precision@10", "recall@100"):
        page.get_by_label(metric, exact=True).check()
        expect(page.get_by_role("columnheader", name=metric).first).to_be_visible()
    go(page, "Queries", "queries")
    expect(page.locator("figure.dots .mark").first).to_be_attached()
    go(page, "Compare runs", "compare")
    expect(page.get_by_role("table").first).to_contain_text(re.compile(r"\d\.\d"))
    go(page, "Explain", "explain")
    expect(page.locator(".lead").first).to_contain_text(re.compile(r"puts .+ (above|below) .+, mostly by feature \d+"))
    page.go_back()
    arrive(page, "compare")
    go(page, "Queries", "queries")
    worst = page.locator("tbody a").first
    query = worst.inner_text()
    worst.click()
    arrive(page, "explain")
    expect(page.locator(".lead").first).to_contain_text(f"Query {query}:")
    page.get_by_label("Query").select_option(index=1)
    expect(page.locator(".lead").first).to_contain_text(f"Query {page.get_by_label('Query').input_value()}:")


def test_a_run_is_added_to_judgments(page: Any) -> None:
    from playwright.sync_api import expect

    qrels = "".join(f"q{q} 0 d{d} {int(d == q)}\n" for q in range(1, 7) for d in range(1, 7))
    give(page, "judged.qrels", qrels.encode())
    for system, better in (("good", True), ("bad", False)):
        lines = [
            f"q{q} Q0 d{d} {d} {10 - abs(d - q) if better else d} {system}" for q in range(1, 7) for d in range(1, 7)
        ]
        run = {"name": f"{system}.run", "mimeType": "text/plain", "buffer": ("\n".join(lines) + "\n").encode()}
        page.set_input_files("#attach-run", run)
        expect(page.get_by_text(f"{system}.run is a run")).to_be_visible()
    expect(page.get_by_label("Add another run to compare")).to_be_visible()
    go(page, "Metrics", "metrics")
    expect(page.locator(".lead").first).to_contain_text("good.run is ahead")
    go(page, "Queries", "queries")
    worst = [float(cell) for cell in page.locator("tbody tr td:last-child").all_inner_texts()[:6]]
    assert worst == sorted(worst)
    go(page, "Compare runs", "compare")
    expect(page.locator(".lead").first).to_contain_text(re.compile(r"\(p [=<] [\d.]+\)"))
    go(page, "Data", "data")
    third = "\n".join(f"q{q} Q0 d{d} {d} {-d} third" for q in range(1, 7) for d in range(1, 7)) + "\n"
    page.set_input_files("#attach-run", {"name": "third.run", "mimeType": "text/plain", "buffer": third.encode()})
    expect(page.get_by_text("third.run is a run")).to_be_visible()
    go(page, "Compare runs", "compare")
    expect(page.get_by_label("with", exact=True)).to_have_value("third.run")
    expect(page.locator("tbody tr")).to_have_count(3)  # one pair by three metrics
    page.get_by_label("Compare", exact=True).select_option("bad.run")
    expect(page.get_by_role("rowheader", name="bad.run - third.run").first).to_be_visible()
    expect(page.locator(".lead").first).to_contain_text(re.compile(r"\(p [=<] [\d.]+\)"))
    page.get_by_text("For programmers").click()
    expect(page.locator("#command")).to_contain_text("rank-evaluate judged.qrels bad.run third.run")


def test_everything_is_downloaded_and_the_project_opens_again(page: Any, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    home = page.url
    take_example(page, "jury")
    go(page, "Raters", "raters")
    page.get_by_role("checkbox", name="Counts: Fay").uncheck()
    expect(page.get_by_text("One rater is left out")).to_be_visible()
    go(page, "Downloads", "downloads")
    expect(page.locator("#python")).to_contain_text("read_survey('jury.csv', layout='judges'")
    expect(page.locator("#command")).to_contain_text("rankwise report jury.csv")
    for name in ("report.html", "tables.xlsx", "pictures.zip", "project.rankwise"):
        with page.expect_download() as saved:
            page.get_by_role("button", name=f"Download {name}").click()
        saved.value.save_as(tmp_path / name)
    assert "Syrah" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert all(zipfile.is_zipfile(tmp_path / name) for name in ("tables.xlsx", "pictures.zip"))
    page.goto(home)
    give(page, "project.rankwise", (tmp_path / "project.rankwise").read_bytes())
    expect(page.get_by_text("One rater is left out")).to_be_visible()


def test_long_work_survives_a_reload_and_is_cancelled(page: Any, drinks: Path, program: tuple[int, str]) -> None:
    from playwright.sync_api import expect

    other = page.context.new_page()
    other.goto(page.url)
    take_example(other, "jury")
    head, *rows = drinks.read_text(encoding="utf-8").splitlines()
    many = [head, *(row.replace("P", f"{number}-", 1) for number in range(40) for row in rows)]
    give(page, "many.csv", "\n".join(many).encode())
    page.get_by_role("link", name="Drivers", exact=True).click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_role("status").first).not_to_be_empty()
    # The work is not done before the page is there again, however long that takes.
    workers = workers_of(program[0])
    assert workers
    for pid in workers:
        os.kill(pid, signal.SIGSTOP)
    try:
        page.reload()
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("alert")).to_contain_text("Cancelled.")
    finally:
        for pid in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
    expect(other.get_by_role("heading", name="How the file was understood")).to_be_visible()
    go(other, "Joint ranking", "consensus")
    assert len(ranking(other)) == 5


@pytest.mark.skipif(AXE is None, reason="there is no axe-core: pip install axe-core-python")
@pytest.mark.parametrize(("example", "scheme"), [("jury", "dark"), ("drinks", "light"), ("search", "dark")])
def test_real_answers_are_accessible_and_fit_a_phone(browser: Any, address: str, example: str, scheme: str) -> None:
    survey = ["consensus", "pairs", "groups", "segments", "drivers", "raters", "robustness", "downloads"]
    views = ["metrics", "queries", "compare", "explain", "downloads"] if example == "search" else survey
    found = {}
    with page_in(browser, color_scheme=scheme, viewport={"width": 360, "height": 740}) as page:
        page.goto(address)
        take_example(page, example)
        for view in ["data", *views]:
            page.evaluate("(view) => { location.hash = location.hash.replace(/[^/]*$/, view) }", view)
            arrive(page, view)
            page.evaluate("document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
            found[view] = [*violations(page), *["too wide"] * is_too_wide(page)]
    assert {view: wrong for view, wrong in found.items() if wrong} == {}
