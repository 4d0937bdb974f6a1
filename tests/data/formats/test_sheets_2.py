"""Sheets as people keep them, continued: repeated ids, previews, points in long form, notes below a table."""

from __future__ import annotations

import pytest

from rankwise.data import read_survey
from tests.cli.running import run
from tests.data.formats.survey_files import written

TWICE = "Respondent ID,rank_Tea,rank_Milk,rank_Juice,Gender\n7,1,2,3,f\n8,2,1,3,m\n7,1,2,3,f\n9,3,1,2,f\n5,1,3,2,m\n"


@pytest.mark.parametrize("command", [["consensus"], ["compare", "--by", "Gender"]])
def test_results_say_that_ids_repeat(tmp_path, command):
    path = written(tmp_path, TWICE)
    done = run(command[0], path, *command[1:])
    assert "1 row has the id in 'Respondent ID' of an earlier row, and every row counts" in done.stderr
    once = run(
        command[0], written(tmp_path, TWICE.replace("\n7,1,2,3,f\n9", "\n4,1,2,3,f\n9"), "once.csv"), *command[1:]
    )
    assert "of an earlier row" not in once.stderr


def test_the_id_that_was_asked_for_is_named(tmp_path):
    path = written(tmp_path, "id,mail,rank_a,rank_b\n1,x,1,2\n2,y,2,1\n3,x,1,2\n")
    assert read_survey(path).cautions == []
    assert read_survey(path, id="mail").cautions == [
        "1 row has the id in 'mail' of an earlier row, and every row counts"
    ]


def test_previews_of_qualtrics_are_said(tmp_path):
    text = "StartDate,Status,ResponseId,rank_a,rank_b\n1,IP Address,R_1,1,2\n"
    text += "2,Survey Preview,R_2,2,1\n3,Survey Test,R_3,1,2\n"
    survey = read_survey(written(tmp_path, text))
    assert survey.check["previews"].rows == (3, 4)
    assert survey.cautions == ["2 rows are previews of the survey, not of respondents, and every row counts"]
