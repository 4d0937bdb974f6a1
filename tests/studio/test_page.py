"""The page's own work, over canned answers: drawing, correcting, keyboard, progress, files, small and dark screens."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import rankwise
from tests.studio.browser import AXE, chromium, is_too_wide, missing, page_in, violations
from tests.studio.canned import HOSTILE, ITEMS, STATIC, canned_studio, table

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]
VIEWS = ["data", "consensus", "pairs", "groups", "segments", "drivers", "raters", "robustness", "downloads"]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with canned_studio() as found:
        yield found


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    with page_in(browser) as found:
        found.goto(address)
        yield found


def upload(page: Any, name: str, content: bytes = b"Tea,Coffee\n1,2\n") -> None:
    page.set_input_files("#file", {"name": name, "mimeType": "text/csv", "buffer": content})


def give(page: Any, name: str = "drinks.csv", view: str = "data") -> None:
    """Give a file, and go to a view."""
    upload(page, name)
    page.wait_for_url(re.compile("#/.+/data"))
    if view != "data":
        page.goto(re.sub("/data$", f"/{view}", page.url))


def go(page: Any, view: str) -> None:
    """Go to another view of the file, and wait until it is there."""
    page.goto(re.sub(r"/[a-z]+(\?.*)?$", f"/{view}", page.url))
    page.locator(f'.result[data-view="{view}"]:not([aria-busy]) > *').first.wait_for()


def test_colors_are_those_of_the_reports() -> None:
    def variables(text: str) -> list[dict[str, str]]:
        text = text.partition("@media print")[0]
        return [dict(re.findall(r"(--[\w-]+): ([^;]+);", part)) for part in text.split("prefers-color-scheme: dark")]

    reports = (Path(rankwise.__file__).parent / "templates" / "page.css").read_text(encoding="utf-8")
    own = (STATIC / "app.css").read_text(encoding="utf-8")
    for ours, theirs in zip(variables(own)[:2], variables(reports)[:2], strict=True):
        shared = {name: value for name, value in theirs.items() if not name.startswith("--tint")}
        assert shared == {name: ours[name] for name in shared}


def test_html_and_scripts_keep_to_the_policy() -> None:
    html = (STATIC / "index.html").read_text(encoding="utf-8")
    assert re.search(r"<script(?![^>]*src=)|\sstyle=|\son\w+=", html) is None
    for path in STATIC.glob("*.js"):
        code = path.read_text(encoding="utf-8")
        assert re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", code) is None
        assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", code)


@pytest.mark.parametrize("way", ["chosen", "dropped", "pasted", "example"])
def test_a_file_is_given_in_four_ways(page: Any, way: str) -> None:
    from playwright.sync_api import expect

    if way == "chosen":
        upload(page, "drinks.csv")
    elif way == "dropped":
        transfer = page.evaluate_handle(
            "() => { const t = new DataTransfer(); t.items.add(new File(['Tea\\n1'], 'drinks.csv')); return t }"
        )
        page.dispatch_event("#drop", "drop", {"dataTransfer": transfer})
    elif way == "pasted":
        page.get_by_label("Or paste from a spreadsheet").fill("Tea\tCoffee\n1\t2")
        page.get_by_role("button", name="Use these rows").click()
    else:
        page.get_by_role("button", name="Drinks").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your data")
    expect(page.get_by_role("heading", name="How the file was understood")).to_be_visible()
    named = "pasted.csv" if way == "pasted" else "drinks.csv"
    expect(page.get_by_role("navigation", name="Views")).to_contain_text(named)


def test_a_file_that_is_no_table_gets_a_sentence_and_a_cure(browser: Any, address: str) -> None:
    from playwright.sync_api import expect

    with page_in(browser, refused=(422,)) as page:
        page.goto(address)
        upload(page, "bad.csv", b"bad")
        expect(page.get_by_role("alert")).to_contain_text("The file holds no table.")
        expect(page.get_by_role("alert")).to_contain_text("Save it as CSV.")


def test_an_unclear_file_is_mended_with_one_click(page: Any) -> None:
    from playwright.sync_api import expect

    give(page, "unclear.csv")
    expect(page.get_by_role("alert")).to_contain_text("The cells may be places or scores.")
    expect(page.get_by_role("table")).to_contain_text("Coffee")
    page.get_by_role("button", name="These are scores").click()
    expect(page.get_by_text("the cells are read as scores")).to_be_visible()


def test_corrections_are_one_click_and_keep_the_focus(page: Any) -> None:
    from playwright.sync_api import expect

    give(page)
    cells = page.get_by_role("group", name="The cells hold")
    expect(cells.get_by_role("radio", name="Ranks: 1 is best")).to_be_checked()
    cells.get_by_role("radio", name="Rows are items").check(force=True)
    expect(page.get_by_text("the cells are read as judges")).to_be_visible()
    expect(cells.get_by_role("radio", name="Rows are items")).to_be_focused()
    page.get_by_role("group", name="A blank cell means").get_by_role("radio", name="Below").check(force=True)
    expect(page.get_by_role("radio", name="Below those that are ranked")).to_be_checked()


def test_a_column_takes_a_role_and_its_former_owner_loses_it(page: Any) -> None:
    from playwright.sync_api import expect

    give(page)
    expect(page.get_by_label("Role of City")).to_have_value("group")
    with page.expect_request(lambda request: request.method == "PATCH") as sent:
        page.get_by_label("Role of Age").select_option("Groups to compare")
    assert json.loads(sent.value.post_data) == {"options": {"by": "Age", "features": ["City", "Sleep"]}}
    expect(page.get_by_label("Role of City")).to_have_value("feature")
    expect(page.get_by_label("Role of Age")).to_have_value("group")


def test_filters_are_said_on_every_view_and_can_be_taken_back(page: Any) -> None:
    from playwright.sync_api import expect

    give(page)
    page.get_by_label("no (2)").uncheck()
    expect(page.get_by_text("Only rows with Finished = yes.")).to_be_visible()
    expect(page.get_by_label("no (2)")).not_to_be_checked()
    page.get_by_role("link", name="Groups").click()
    expect(page.get_by_text("Only rows with Finished = yes.")).to_be_visible()
    page.get_by_role("button", name="Use all rows").click()
    expect(page.get_by_text("Only rows with")).to_have_count(0)


def test_a_change_while_another_view_opens_is_not_lost(page: Any) -> None:
    from playwright.sync_api import expect

    give(page)
    page.get_by_label("no (2)").uncheck()
    expect(page.get_by_role("button", name="Use all rows")).to_be_visible()
    held = []

    def hold_the_first(route: Any) -> None:
        if held:
            route.continue_()
        else:
            held.append((route, route.fetch()))  # with the options as they were

    page.route(re.compile(r"/api/projects/[^/]+$"), hold_the_first)
    page.get_by_role("link", name="Groups").click()
    page.wait_for_url(re.compile("/groups$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Your data")
    with page.expect_response(lambda answer: answer.request.method == "PATCH"):
        page.get_by_role("button", name="Use all rows").click()
    route, answer = held[0]
    route.fulfill(response=answer)
    expect(page.get_by_role("heading", level=1)).to_have_text("Groups")
    expect(page.get_by_text("Only rows with")).to_have_count(0)


def test_every_kind_of_chart_is_drawn_with_marks_that_speak(page: Any) -> None:
    from playwright.sync_api import expect

    expected = {
        ("consensus", "dots"): (6, "Tea: 1.60 (1.40 to 1.80)"),
        ("pairs", "heatmap"): (36, "58% put Tea above Coffee"),
        ("groups", "slopes"): (6, "Tea. 18 to 24 years: place 1; 25 to 49 years: place 2; 50 years or older: place 4"),
        ("segments", "lines"): (5, "number of segments 3: 2080.2 (chosen)"),
        ("drivers", "tree"): (5, "younger than 25. 40 people. ranking: Tea, Coffee, Orange juice, Cocoa"),
        ("drivers", "bars"): (3, "How old are you?: 0.21"),
        ("raters", "map"): (40, "Rater 7: distance 0.07"),
    }
    give(page)
    for (view, kind), (count, label) in expected.items():
        go(page, view)
        figure = page.locator(f"figure.{kind}").first
        expect(figure.locator(".mark")).to_have_count(count)
        expect(figure.locator(f'.mark[aria-label^="{label}"]')).to_have_count(1)


def test_thousands_of_columns_do_not_stop_the_page(page: Any) -> None:
    from playwright.sync_api import expect

    names = [f"c{i}" for i in range(5_000)]
    columns = [{"name": name, "title": "", "role": "ignore", "examples": ["1"], "why": ""} for name in names]
    result = {"blocks": [table("preview", "First rows", names, [["1"] * 5_000] * 8)], "columns": columns}
    job = {"id": "j", "project": "p", "view": "data", "state": "done", "progress": 1, "step": "", "error": None}
    answer = json.dumps(job | {"result": result | {"reading": None, "filters": [], "problem": None}})
    page.route("**/api/projects/*/jobs", lambda route: route.fulfill(body=answer, content_type="application/json"))
    give(page)
    expect(page.get_by_text("The first 60 of 5,000 columns.")).to_be_visible()
    expect(page.get_by_role("columnheader")).to_have_count(60)
    expect(page.get_by_role("combobox")).to_have_count(60)
    page.get_by_role("button", name="Show more of 5,000 columns").click()
    expect(page.get_by_role("combobox")).to_have_count(120)


def test_a_hover_and_the_keyboard_show_the_same_words(page: Any) -> None:
    from playwright.sync_api import expect

    give(page, view="pairs")
    page.get_by_role("button", name="58% put Tea above Coffee").hover()
    expect(page.locator(".tip")).to_have_text("58% put Tea above Coffee")
    page.mouse.move(0, 0)
    expect(page.locator(".tip")).to_be_hidden()
    first = page.locator("figure.heatmap .mark[tabindex='0']").first
    first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".mark:focus")).to_have_attribute("aria-label", "58% put Coffee above Orange juice")
    expect(page.locator(".tip")).to_have_text("58% put Coffee above Orange juice")


def test_a_cell_opens_who_says_so(page: Any) -> None:
    from playwright.sync_api import expect

    give(page, view="pairs")
    page.get_by_role("button", name="58% put Tea above Coffee").click()
    panel = page.get_by_role("dialog", name="Tea and Coffee")
    expect(panel).to_contain_text('asked: {"a": 3, "b": 1}')
    expect(panel.get_by_role("table")).to_contain_text("Ada")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(page.locator(".mark:focus")).to_have_attribute("aria-label", "58% put Tea above Coffee")
    page.get_by_role("button", name="33% put Coffee at place 1").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text('asked: {"item": 1, "place": 1}')


def test_controls_ask_again_and_stay_in_the_address(page: Any) -> None:
    from playwright.sync_api import expect

    give(page, view="segments")
    expect(page.get_by_text("There are 3 segments.")).to_be_visible()
    page.get_by_role("slider", name="Number of segments").fill("2")
    expect(page.get_by_text("There are 2 segments.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("There are 2 segments.")).to_be_visible()
    expect(page.get_by_label("Let the data choose")).not_to_be_checked()
    page.get_by_label("Let the data choose").check()
    expect(page.get_by_text("There are 3 segments.")).to_be_visible()
    go(page, "groups")
    page.get_by_label("Compare by").select_option("City")
    expect(page.get_by_text("Groups of City rank differently")).to_be_visible()
    go(page, "consensus")
    page.get_by_label("Schulze").check()
    expect(page.get_by_role("columnheader", name="schulze")).to_be_visible()


def test_a_form_predicts(page: Any) -> None:
    from playwright.sync_api import expect

    give(page, view="drivers")
    page.get_by_label("How old are you?", exact=True).fill("44")
    page.get_by_label("Where do you live?", exact=True).select_option("Country")
    page.get_by_role("button", name="Predict the ranking").click()
    expect(page.get_by_text('asked: {"person": {"Age": 44, "Home": "Country"}}')).to_be_visible()
    expect(page.locator(".places li").first).to_contain_text(HOSTILE)
    page.get_by_text("code that gives this prediction").click()
    expect(page.locator("#form-python")).to_have_text("forest.predict(person)")
    expect(page.locator("#form-command")).to_have_text("rankwise predict model.rankwise -")


def test_a_rater_is_left_out_with_a_checkbox_and_the_ranking_moves(page: Any) -> None:
    from playwright.sync_api import expect

    give(page, view="raters")
    joint = page.locator("#joint-ranking li").first
    expect(joint).to_contain_text("Tea")
    page.get_by_role("checkbox", name="Counts: Rater 3").uncheck()
    expect(joint).to_contain_text("Coffee")
    expect(page.get_by_text("One rater is left out")).to_be_visible()
    box = page.get_by_role("checkbox", name="Counts: Rater 3")
    expect(box).not_to_be_checked()
    expect(box).to_be_focused()
    box.check()
    expect(joint).to_contain_text("Tea")


def test_pictures_are_handed_out_as_svg_and_png(browser: Any, address: str, tmp_path: Path) -> None:
    from PIL import Image

    with page_in(browser, color_scheme="dark") as page:
        page.goto(address)
        give(page, view="pairs")
        files = {}
        for kind in ("SVG", "PNG"):
            with page.expect_download() as saved:
                page.get_by_role("button", name=f"Download Who is above whom as {kind}").click()
            files[kind] = tmp_path / saved.value.suggested_filename
            saved.value.save_as(files[kind])
    assert [path.name for path in files.values()] == ["pairs.svg", "pairs.png"]
    drawing = ElementTree.parse(files["SVG"]).getroot()
    assert drawing.findtext(f"{SVG}title") == "Who is above whom"
    assert "58%" in [element.text for element in drawing.iter(f"{SVG}text")]
    cells = [rect for rect in drawing.iter(f"{SVG}rect") if rect.get("rx")]
    assert len({cell.get("fill") for cell in cells}) > 5
    assert all("var(" not in value for element in drawing.iter() for value in element.attrib.values())
    assert not any(element.get("class") for element in drawing.iter())
    with Image.open(files["PNG"]) as picture:
        assert picture.width == 3 * int(drawing.get("width", 0))
        assert picture.convert("RGB").getpixel((3, 3)) == (255, 255, 255)


def test_names_are_never_html(page: Any) -> None:
    from playwright.sync_api import expect

    give(page)
    for view in VIEWS:
        go(page, view)
        assert page.locator("img").count() == 0
        if view in ("data", "consensus", "raters"):
            expect(page.locator("main")).to_contain_text(HOSTILE)


def test_progress_survives_a_reload_and_can_be_cancelled(browser: Any, address: str) -> None:
    from playwright.sync_api import expect

    with page_in(browser) as page:
        page.goto(address)
        give(page, "slow.csv", "consensus")
        status = page.get_by_role("status")
        expect(status).to_have_text(re.compile(r"Step (?!1$)\d"))
        share = float(page.get_by_role("progressbar").get_attribute("value") or 0)
        assert 0 < share < 1
        page.reload()
        expect(status).to_have_text(re.compile(r"Step (?!1$)\d"))
        assert float(page.get_by_role("progressbar").get_attribute("value") or 0) > share
        other = page.context.new_page()
        other.goto(address)
        give(other)
        expect(other.get_by_text("the cells are read as positions")).to_be_visible()
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("alert")).to_contain_text("Cancelled.")
        expect(other.get_by_text("the cells are read as positions")).to_be_visible()
        page.get_by_role("button", name="Try again").click()
        expect(status).to_have_text(re.compile("Step"))


def test_a_view_that_fails_says_why(page: Any) -> None:
    from playwright.sync_api import expect

    give(page, "broken.csv", "robustness")
    expect(page.get_by_role("alert")).to_contain_text("There is one person only.")


def test_a_project_that_is_gone_leads_back(browser: Any, address: str) -> None:
    from playwright.sync_api import expect

    with page_in(browser, refused=(404,)) as page:
        page.goto(f"{address}#/nobody/consensus")
        expect(page.get_by_role("alert")).to_contain_text("There is no such project.")
        page.get_by_role("link", name="Give a file").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("From rankings to an answer")


def test_downloads_hand_out_files_and_code(page: Any) -> None:
    from playwright.sync_api import expect

    give(page, view="downloads")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download tables.xlsx").click()
    assert saved.value.suggested_filename == "tables.xlsx"
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy: On the command line").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "rankwise report drinks.csv"


def test_the_focus_follows_and_everything_is_reached_with_the_keyboard(page: Any) -> None:
    from playwright.sync_api import expect

    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the content")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#file")).to_be_focused()
    give(page)
    page.get_by_role("link", name="Groups").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="Groups")).to_be_focused()
    expect(page.get_by_role("link", name="Groups")).to_have_attribute("aria-current", "page")
    assert page.title().startswith("Groups · drinks.csv")


def test_a_phone_has_a_menu_and_no_sideways_scrolling(browser: Any, address: str) -> None:
    from playwright.sync_api import expect

    with page_in(browser, viewport={"width": 360, "height": 740}, has_touch=True) as page:
        page.goto(address)
        assert not is_too_wide(page)
        give(page)
        expect(page.get_by_role("link", name="Pairs and places")).to_be_hidden()
        page.get_by_role("button", name="Menu").click()
        page.get_by_role("link", name="Pairs and places").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Pairs and places")
        expect(page.get_by_role("link", name="Groups")).to_be_hidden()
        for view in VIEWS:
            go(page, view)
            assert not is_too_wide(page), view


def test_on_a_phone_the_names_of_rows_stay_while_the_others_scroll_by(browser: Any, address: str) -> None:
    with page_in(browser, viewport={"width": 360, "height": 740}, has_touch=True) as page:
        page.goto(address)
        give(page, view="raters")
        table = page.locator(".table").first
        name, number = table.locator("tbody th").first, table.locator("tbody td").last
        table.evaluate("(box) => { box.style.width = '180px'; box.scrollLeft = 1000 }")
        assert table.evaluate("(box) => box.scrollLeft") > 20
        box, seen = name.bounding_box(), table.bounding_box()
        assert box is not None
        assert seen is not None
        assert box["x"] == pytest.approx(seen["x"], abs=2)
        shown = number.bounding_box()
        assert shown is not None
        assert shown["x"] >= box["x"] + box["width"] - 2  # nothing is behind the names


def test_print_leaves_out_what_cannot_be_clicked(page: Any) -> None:
    from playwright.sync_api import expect

    give(page, view="consensus")
    expect(page.get_by_role("button", name="Download Mean ranks as SVG")).to_be_visible()
    page.emulate_media(media="print")
    for hidden in (page.locator("#side"), page.locator(".bar"), page.locator(".files").first):
        expect(hidden).to_be_hidden()
    expect(page.get_by_text("Tea comes first.")).to_be_visible()
    expect(page.locator("figure svg")).to_be_visible()
    assert len(io.BytesIO(page.pdf()).getvalue()) > 10_000


@pytest.mark.skipif(AXE is None, reason="there is no axe-core: pip install axe-core-python")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_nothing_wrong(browser: Any, address: str, scheme: str, width: int) -> None:
    with page_in(browser, color_scheme=scheme, viewport={"width": width, "height": 800}) as page:
        page.goto(address)
        page.get_by_role("button", name="Drinks").wait_for()
        found = {"start": violations(page)}
        give(page)
        for view in VIEWS:
            go(page, view)
            if view == "consensus":
                page.get_by_text("All numbers").click()
            found[view] = violations(page)
        go(page, "pairs")
        page.get_by_role("button", name=f"58% put {ITEMS[0]} above").click()
        page.get_by_role("dialog").get_by_role("table").wait_for()
        found["cell"] = violations(page)
    assert {view: wrong for view, wrong in found.items() if wrong} == {}


@pytest.mark.skipif(AXE is None, reason="there is no axe-core: pip install axe-core-python")
def test_axe_sees_what_is_wrong(page: Any) -> None:
    page.evaluate("document.documentElement.removeAttribute('lang')")
    assert any(line.startswith("html-has-lang") for line in violations(page))
