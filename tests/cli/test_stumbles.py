"""What newcomers stumbled over, by number, and the tests that hold each mended.

The first tries of survey teams, juries, search engineers and scientists are numbered 1 to 30: wrong answers without a
word (1 to 6), dead ends (7 to 14), and what was missing where they looked for it (15 to 30).
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FIRST = "cli/test_first_tries.py"
HELD = {
    1: ("scores read as places", FIRST, "test_scores_are_not_places"),
    2: ("cells such as '1st choice' taken for items", FIRST, "test_choices_in_words_are_places"),
    3: ("ties settled by the order of columns", FIRST, "test_a_tie_is_a_tie_in_every_order_of_the_columns"),
    4: ("ids and paradata as features", FIRST, "test_ids_and_paradata_are_no_features"),
    5: ("people who ranked nothing counted", FIRST, "test_who_ranked_nothing_is_set_apart"),
    6: ("blanks of a top-k question", FIRST, "test_blanks_of_a_top_k_question_are_asked_about"),
    7: ("no report of a Qualtrics export", FIRST, "test_a_report_of_a_qualtrics_export_takes_one_command"),
    8: ("rows wines, columns judges", FIRST, "test_a_jury_sheet_is_read_either_way"),
    9: ("judges with a tie and blanks", FIRST, "test_a_jury_sheet_is_read_either_way"),
    10: ("Excel refused", FIRST, "test_a_workbook_is_read_as_it_is"),
    11: ("trials of three refused", FIRST, "test_trials_of_three_are_read"),
    12: ("first steps need more than they install", FIRST, "test_first_steps_need_no_more_than_the_page_installs"),
    13: ("rules of statutes missing", FIRST, "test_rules_of_statutes_are_there"),
    14: ("one tie stops a Mallows model", FIRST, "test_rules_of_statutes_are_there"),
    15: ("men and women not compared", FIRST, "test_men_and_women_are_compared_with_a_p_value"),
    16: ("named judges not in the report", FIRST, "test_named_judges_stand_in_the_report"),
    17: (
        "no leaving out of one judge",
        "analysis/test_robustness.py",
        "test_people_groups_and_items_are_left_out_one_by_one",
    ),
    18: ("no mean ranks", FIRST, "test_means_come_first"),
    19: ("order and means contradict each other", FIRST, "test_means_that_contradict_the_order_are_explained"),
    20: ("trees with cut rankings and codes", FIRST, "test_trees_have_whole_rankings_and_questions"),
    21: ("only trees become pictures", FIRST, "test_results_go_into_files_and_pictures"),
    22: ("tables cannot be written", FIRST, "test_results_go_into_files_and_pictures"),
    23: (
        "rankers judged on what they learned from",
        "cli/test_search_commands.py",
        "test_queries_are_held_out_unless_there_are_others",
    ),
    24: ("no differences per query", "cli/test_search_commands.py", "test_queries_are_listed_worst_first"),
    25: (
        "rankers not explained",
        "cli/test_search_commands.py",
        "test_effects_of_features_add_up_to_the_difference_of_scores",
    ),
    26: (
        "wrong laws without a warning",
        "cli/test_screen_command.py",
        "test_kepler_and_the_column_that_numbers_the_rows",
    ),
    27: ("tables of CatBoost not known", FIRST, "test_a_table_of_another_program_is_told_from_letor"),
    28: (
        "no summary of coefficients",
        "label_ranking/test_linear_plackett_luce.py",
        "test_the_default_fit_has_a_summary",
    ),
    29: ("displays print their address", "cli/test_stumbles.py", "test_displays_say_what_they_show"),
    30: ("a missing file takes long and five lines", FIRST, "test_a_file_that_is_not_there_is_one_short_line"),
}


@cache
def names_of(path: str) -> set[str]:
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_all_thirty_are_listed() -> None:
    assert list(HELD) == list(range(1, 31))


@pytest.mark.parametrize("number", HELD)
def test_a_test_holds_it(number: int) -> None:
    _, path, name = HELD[number]
    assert name in names_of(path)


def test_displays_say_what_they_show() -> None:
    from rankwise import Rankings
    from rankwise.plots import PositionHeatmapDisplay

    display = PositionHeatmapDisplay.from_rankings(Rankings([[1, 2], [2, 1]], items=["tea", "milk"]))
    assert " at 0x" not in repr(display)
