"""Answers that have an order are found, and other texts are left alone."""

from __future__ import annotations

import random

import pytest

from rankwise.data.formats.ordered_texts import is_no_answer, ordered_levels


@pytest.mark.parametrize(
    "levels",
    [
        ["Under 18", "18 - 24", "25 - 34", "35 - 44", "85 or older"],
        ["18-24", "25-34", "35+"],
        ["unter 18", "18 bis 24 Jahre", "25-64", "65 und älter"],
        ["moins de 18 ans", "18 à 64 ans", "65 ans et plus"],
        ["Less than $10,000", "$10,000 - $19,999", "$20,000 - $29,999", "More than $150,000"],
        ["0", "[1,3]", "[4,6]", "12 or more"],
        ["[6,7)", "[7,8)", "[8,9.5)", "[9.5,10]"],
        ["lower than 4", "4 to 8", "9 to 15", "more than 15"],
        ["1 - bad", "2", "3", "4", "5 - good"],
        ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"],
        ["never", "Sometimes", "ALWAYS"],
        ["nie", "manchmal", "immer"],
        ["jamais", "parfois", "toujours"],
        ["nunca", "a veces", "siempre"],
        ["Lt High School", "High School", "Junior College", "Bachelor", "Graduate"],
        ["Far Below Average", "Below Average", "Average", "Above Average", "Far Above Average"],
        ["small", "medium", "large"],
    ],
)
def test_the_order_is_found_whatever_the_order_of_the_rows(levels: list[str]) -> None:
    for seed in range(3):
        shuffled = random.Random(seed).sample(levels, len(levels))
        assert ordered_levels(shuffled) == levels
        assert ordered_levels([*shuffled, "Prefer not to say"]) == levels


@pytest.mark.parametrize(
    "texts",
    [
        ["tea", "milk", "juice"],
        ["Male", "Female", "Non-binary / third gender"],
        ["iPhone 4", "iPhone 5", "iPhone 6"],
        ["TMS1", "TMS2", "TMS3"],
        ["North", "South", "East"],
        ["18 - 24", "20 - 30", "25 - 40"],  # they overlap
        ["10115", "80331", "20095"],  # postal codes are points, not intervals
        ["agree", "never", "large"],  # of three scales
        ["18 - 24", "25 - 34"],  # two answers can be read in either order
        ["12 High Street", "3 Main Road", "250 Park Lane"],
    ],
)
def test_other_texts_have_no_order(texts: list[str]) -> None:
    assert ordered_levels(texts) is None


def test_no_answer() -> None:
    assert is_no_answer("Don\u2019t know")
    assert is_no_answer(" prefer NOT to say. ")
    assert not is_no_answer("never")
