"""Files as survey tools export them, with few respondents: every column that the tool adds is there."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

AGES = ("Under 18", "18 - 24", "25 - 34", "35 - 44", "65 or older")
GENDERS = ("Male", "Female", "Prefer not to say")
ITEMS = ("Price", "Camera", "Battery life", "Brand")


def qualtrics(path: Path, n: int = 60, n_empty: int = 4) -> Path:
    """Three header rows, seventeen columns of paradata, age, gender, NPS, a comment, and ranks of four items."""
    header = ["StartDate", "EndDate", "Status", "IPAddress", "Progress", "Duration (in seconds)", "Finished"]
    header += ["RecordedDate", "ResponseId", "RecipientLastName", "RecipientFirstName", "RecipientEmail"]
    header += ["ExternalReference", "LocationLatitude", "LocationLongitude", "DistributionChannel", "UserLanguage"]
    header += ["Q1", "Q2", "Q3_NPS_GROUP", "Q3", "Q12_1", "Q12_2", "Q12_3", "Q12_4", "Q20"]
    texts = [*header[:17], "How old are you?", "What is your gender?", "NPS group", "Would you recommend us?"]
    texts += [f"Put these into order (1 = most important). - {item}" for item in ITEMS]
    texts += ["Is there anything else that you would like to tell us about the phone of your dreams?"]
    rng = np.random.default_rng(1)
    rows = [header, texts, [f'{{"ImportId":"{name}"}}' for name in header]]
    for i in range(n):
        ranks = [""] * 4 if i < n_empty else [str(rank) for rank in rng.permutation(4) + 1]
        time = f"2024-03-{1 + i % 28:02} 10:{i % 60:02}:07"
        row = [time, time, "IP Address", f"81.2.{i}.4", "100", str(200 + 7 * i), "True", time, f"R_{i:04}xYz"]
        row += ["", "", "", "", f"{50 + i / 10:.2f}", f"{8 + i / 7:.2f}", "anonymous", ("EN", "DE")[i % 2]]
        row += [AGES[i % 5], GENDERS[i % 3], "Promoter", str(i % 11), *ranks, f"I would like number {i} to be blue."]
        rows.append(row)
    return _written(path, rows)


def limesurvey(path: Path, n: int = 40) -> Path:
    """Names of columns as texts, semicolons, and a column per place that holds the item."""
    header = ["Response ID", "Date submitted", "Last page", "Start language", "Seed", "Date started", "Total time"]
    header += ["What is your age?", *(f"Please rank [Rank {place}]" for place in (1, 2, 3, 4))]
    rng = np.random.default_rng(2)
    rows = [header]
    for i in range(n):
        order = [ITEMS[k] for k in rng.permutation(4)]
        stamp = f"2024-03-01 11:{i % 60:02}:00"
        rows.append(
            [
                str(5 + 2 * i),
                stamp,
                "3",
                "en",
                str(rng.integers(10**9)),
                stamp,
                f"{30 + i}.5",
                str(rng.integers(18, 80)),
            ]
        )
        rows[-1] += order
    return _written(path, rows, ";")


def google_forms(path: Path, n: int = 30) -> Path:
    """A time stamp, an e-mail address, a scale of five answers, and a column per place."""
    header = ["Zeitstempel", "Username", "How often do you cook?", "Rank [1st choice]", "Rank [2nd choice]"]
    header += ["Rank [3rd choice]", "Rank [4th choice]"]
    rng = np.random.default_rng(3)
    often = ("Never", "Rarely", "Sometimes", "Often", "Always")
    rows = [header]
    for i in range(n):
        order = [ITEMS[k] for k in rng.permutation(4)]
        rows.append([f"3/{1 + i % 28}/2024 9:{i % 60:02}:15", f"p{i}@example.org", often[i % 5], *order])
    return _written(path, rows)


def kobo(path: Path, n: int = 30) -> Path:
    """The columns of KoboToolbox around two answers and ranks of four items."""
    header = ["start", "end", "today", "deviceid", "district", "status", *(f"rank_{item}" for item in ITEMS)]
    header += ["__version__", "_id", "_uuid", "_submission_time", "_validation_status", "_notes", "_status"]
    header += ["_submitted_by", "_tags", "_index"]
    rng = np.random.default_rng(4)
    rows = [header]
    for i in range(n):
        ranks = [str(rank) for rank in rng.permutation(4) + 1]
        stamp = f"2024-03-01T11:{i % 60:02}:00.000+01:00"
        rows.append([stamp, stamp, "2024-03-01", "ee.x:abc", ("North", "South")[i % 2], "married", *ranks])
        rows[-1] += ["vGq", str(9000 + 13 * i), f"uuid-{i}-f00", stamp, "", "", "submitted_via_web", "", "", str(i + 1)]
    return _written(path, rows)


def jury(path: Path) -> Path:
    """Judges with names and the places that they give to four wines; one ties two, one leaves one out."""
    rows = [["judge", "rank_Rioja", "rank_Merlot", "rank_Malbec", "rank_Syrah"]]
    places = ("1234", "1243", "2134", "1324", "4321", "1234", "1223", "123 ", "2143", "1342", "1423", "1234")
    names = ["Anna", "Ben", "Cem", "Dora", "Eve", "Fay", "Gus", "Hal", "Ida", "Jack", "Kim", "Lou"]
    rows += [[name, *own.replace(" ", "_")] for name, own in zip(names, places, strict=True)]
    rows = [["" if cell == "_" else cell for cell in row] for row in rows]
    return _written(path, rows)


def _written(path: Path, rows: Sequence[Sequence[str]], delimiter: str = ",") -> Path:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")
    return path
