"""Write the survey of the page First steps: ``python docs/make_survey.py`` writes docs/survey.csv."""

from pathlib import Path

import numpy as np

from rankwise import Rankings
from rankwise.datasets import make_incomplete

rng = np.random.default_rng(0)
n = 200
drinks = ["tea", "coffee", "juice", "water", "milk"]
age, city = rng.integers(18, 80, n), rng.choice(["Bonn", "Oslo", "Rome"], n)
liking = np.column_stack([age / 20, 1 + 2.5 * (city == "Oslo"), 4.5 - age / 20, np.full(n, 1.8), 2.2 - age / 40])
answers = Rankings.from_scores(liking + rng.gumbel(0, 0.7, liking.shape), items=drinks)
# Milk was on half of the questionnaires; for the other drinks, one answer in twenty is blank.
seen = make_incomplete(answers, [0.95, 0.95, 0.95, 0.95, 0.5], random_state=rng).positions

rows = ["age,city," + ",".join(f"rank_{drink}" for drink in drinks)]
for years, town, places in zip(age, city, seen, strict=True):
    rows.append(f"{years},{town}," + ",".join("" if np.isnan(place) else f"{place:.0f}" for place in places))
(Path(__file__).parent / "survey.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
