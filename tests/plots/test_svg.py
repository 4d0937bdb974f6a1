"""Pictures inside pages: for people who do not see them, in light and dark, side by side."""

from __future__ import annotations

import re

import matplotlib.pyplot as plt
import pytest

from rankwise.plots import PairwisePreferenceDisplay
from rankwise.plots.svg import PAGE_SETTINGS, inline_svg
from tests.pages import Page


@pytest.fixture
def svg() -> str:
    with plt.rc_context(PAGE_SETTINGS):
        display = PairwisePreferenceDisplay.from_rankings([[1, 2, 3], [1, 3, 2]])
        return inline_svg(display.figure_, "who wins", title="Who < whom", description="A & B")


def test_a_picture_has_a_role_a_title_and_a_description(svg: str) -> None:
    assert svg.startswith('<svg role="img" aria-labelledby="who-wins-title who-wins-desc"')
    assert '<title id="who-wins-title">Who &lt; whom</title><desc id="who-wins-desc">A &amp; B</desc>' in svg
    assert "Who < whom" in Page(svg).text
    assert svg.count("<svg") == 1


def test_words_take_the_color_of_the_page_but_not_in_colored_cells(svg: str) -> None:
    label = re.search(r"<text[^>]*>[^<]*before this item", svg)
    assert label
    assert "fill: var(--ink, #1b2733)" in label[0]
    cells = re.findall(r"<text([^>]*)>(?:100|50|0)%</text>", svg)
    inside = [style for style in cells if "font" in style and "var(" not in style]
    assert len(inside) == 6  # the color bar has labels, too


def test_only_ids_that_are_referred_to_are_kept(svg: str) -> None:
    ids = re.findall(r'\bid="([^"]*)"', svg)
    assert len(ids) == len(set(ids))
    assert all(f"#{name}" in svg for name in ids if not name.startswith("who-wins"))
    assert 'class="cells"' in svg


def test_the_same_picture_gives_the_same_text(svg: str) -> None:
    with plt.rc_context(PAGE_SETTINGS):
        again = PairwisePreferenceDisplay.from_rankings([[1, 2, 3], [1, 3, 2]])
        assert inline_svg(again.figure_, "who wins", title="Who < whom", description="A & B") == svg
