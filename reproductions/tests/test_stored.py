"""What is stored in the repository is whole and judged as the pages say, and the pages show its pictures."""

from __future__ import annotations

import re

import pytest
from reproductions.tests.stored import INPUTS, RESULTS, ROOT, STORED

from rankwise_reproductions.catalog import PAPERS, experiments
from rankwise_reproductions.experiment import Results, key_of
from rankwise_reproductions.outcome import Outcome
from rankwise_reproductions.outputs import store_of
from rankwise_reproductions.store import complete_scale, made, read_store

PAGES = ROOT / "docs" / "papers"
SHOWN = sorted((PAGES / "pictures").glob("*.png"))


def words(text: str) -> str:
    """Text without line breaks, emphasis and code marks, in lower case."""
    return " ".join(re.sub("[*`_]", "", text).lower().split())


def section(page: str, heading: str) -> str:
    """What stands below a heading of a page, up to the next one of its level."""
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def stored_outcome(experiment) -> Outcome:
    if experiment.cells_from_data and any(getattr(INPUTS, name) is None for name in experiment.needs):
        pytest.skip("its cells may depend on data that are not here")
    path = store_of(RESULTS, experiment)
    kept = complete_scale(path, experiment, INPUTS)
    assert kept, f"no scale is complete: run it again with --out {RESULTS}"
    scale, cells = kept
    stored = read_store(path, experiment).cells
    return Outcome.of(experiment, scale, Results([(cell, stored[key_of(cell)]) for cell in cells]), made(path))


@pytest.mark.parametrize("experiment", STORED, ids=lambda one: one.id)
def test_stored_results_are_whole_and_judged_with_reasons(experiment):
    outcome = stored_outcome(experiment)
    assert outcome.scale in ("full", "quick")
    assert outcome.failed == []
    assert [claim.text for claim in outcome.claims if claim.known and claim.holds] == []
    assert [row.quantity for row in outcome.comparisons if row.verdict == "differs" and not row.reason] == []
    path = store_of(RESULTS, experiment)
    pictures = [f"{path.stem}_{name.replace('-', '_')}.png" for name in experiment.pictures]
    assert [name for name in (f"{path.stem}.csv", *pictures) if not path.with_name(name).exists()] == []


@pytest.mark.parametrize("experiment", [one for one in STORED if one.any_scale], ids=lambda one: one.id)
def test_what_is_judged_at_every_scale_has_the_same_verdicts_there(experiment):
    full = stored_outcome(experiment)
    stored = {key_of(cell): values for cell, values in full.results}
    for scale in ("quick", "check"):
        cells = experiment.cells(scale, INPUTS)
        smaller = Outcome.of(experiment, scale, Results([(cell, stored[key_of(cell)]) for cell in cells]), full.made)
        assert [row.verdict for row in smaller.comparisons] == [row.verdict for row in full.comparisons]
        assert [claim.holds for claim in smaller.claims] == [claim.holds for claim in full.claims]


def test_no_experiment_with_the_same_cells_at_every_scale_is_too_small():
    same = [one for one in STORED if one.cells("quick", INPUTS) == one.cells("full", INPUTS) != []]
    assert [one.id for one in same if not one.any_scale] == []
    assert "tree-ranking/examples" in {one.id for one in same}


def test_shares_of_bart_with_fewer_permutations_are_not_judged():
    outcome = stored_outcome(experiments()["tree-ranking/table-1"])
    assert {row.verdict for row in outcome.comparisons if "BART" in row.quantity} == {"too small to judge"}
    assert {claim.holds for claim in outcome.claims if claim.text.startswith("BART includes")} == {None}


@pytest.mark.parametrize("paper", PAPERS)
def test_verdicts_of_the_pages_are_those_that_the_index_lists(paper):
    index = section((PAGES / "index.md").read_text("utf-8"), "Verdicts")
    listed = "|".join(one.lower() for one in re.findall(r"^- \*(.*?)\*", index, re.MULTILINE))
    table = (PAGES / f"{paper}.md").read_text("utf-8").split("| verdict |\n")[1].split("\n\n")[0]
    given = [row.split(" | ")[-1].strip(" |") for row in table.splitlines()[1:]]
    assert given
    assert [one for one in given if not re.fullmatch(rf"({listed})([:( ].*)?", one)] == []


def test_the_readme_names_what_is_not_stored_at_the_full_scale():
    rows = (ROOT / "reproductions" / "README.md").read_text("utf-8")
    listed = re.findall(r"^\| ([a-z-]+/\S+) \|", rows, re.MULTILINE)
    assert set(listed) <= set(experiments())
    smaller = []
    for one in experiments().values():
        kept = complete_scale(store_of(RESULTS, one), one, INPUTS)
        if (kept is None or kept[0] != "full") and not (one in STORED and one.needs and not INPUTS.data):
            smaller.append(one.id)
    assert set(smaller) <= set(listed)


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_lists_the_statements_that_did_not_hold(paper):
    page = (PAGES / f"{paper}.md").read_text("utf-8")
    listed = words(section(page, "Statements that did not hold"))
    known = [claim for one in STORED if one.paper == paper for claim in stored_outcome(one).claims if claim.known]
    assert [claim.text for claim in known if words(claim.text) not in listed] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_ends_with_what_is_missing(paper):
    page = (PAGES / f"{paper}.md").read_text("utf-8")
    assert re.findall("^## (.*)$", page, re.MULTILINE)[-1] == "What the paper has and rankwise does not"
    assert section(page, "What the paper has and rankwise does not").strip()


def test_sections_are_found_by_their_heading():
    page = "# A\n## B\n*one*\n`two`\n### C\nthree\n## D\nfour\n"
    assert words(section(page, "B")) == "one two ### c three"
    assert section(page, "D") == "four\n"
    assert section(page, "E") == ""


@pytest.mark.parametrize("picture", SHOWN, ids=lambda picture: picture.name)
def test_pages_show_the_stored_pictures(picture):
    same = [path for path in RESULTS.glob("*/*.png") if path.read_bytes() == picture.read_bytes()]
    assert same, f"copy it from {RESULTS} again"
