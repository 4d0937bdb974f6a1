"""Readers and writers of ranking files: PrefLib, xarff, LETOR, TREC and survey tables.

Every reader returns valid data or raises `rankwise.RankwiseFormatError`, which names file, line, column and cure.
"""

from rankwise.data.formats.data_check import DataCheck
from rankwise.data.formats.detect import read_rankings
from rankwise.data.formats.letor import read_letor, write_letor
from rankwise.data.formats.preflib import read_preflib, write_preflib
from rankwise.data.formats.reading import Reading
from rankwise.data.formats.survey import read_orders_csv, read_positions_csv, read_scores_csv
from rankwise.data.formats.survey_choices import read_best_worst_csv, read_tricot_csv
from rankwise.data.formats.survey_data import Survey
from rankwise.data.formats.survey_duels import read_pairwise_csv
from rankwise.data.formats.survey_file import read_survey
from rankwise.data.formats.survey_judges import read_judges_csv
from rankwise.data.formats.survey_long import read_long_csv
from rankwise.data.formats.survey_strings import read_ordered_strings_csv
from rankwise.data.formats.trec import (
    JudgedRun,
    Qrels,
    Run,
    judged_run,
    read_qrels,
    read_run,
    write_run,
)
from rankwise.data.formats.xarff import read_xarff

__all__ = [
    "DataCheck",
    "JudgedRun",
    "Qrels",
    "Reading",
    "Run",
    "Survey",
    "judged_run",
    "read_best_worst_csv",
    "read_judges_csv",
    "read_letor",
    "read_long_csv",
    "read_ordered_strings_csv",
    "read_orders_csv",
    "read_pairwise_csv",
    "read_positions_csv",
    "read_preflib",
    "read_qrels",
    "read_rankings",
    "read_run",
    "read_scores_csv",
    "read_survey",
    "read_tricot_csv",
    "read_xarff",
    "write_letor",
    "write_preflib",
    "write_run",
]
