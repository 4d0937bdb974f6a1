"""Ranking median regression on a survey: what do Americans value in a job? Risk of trees, forests and neighbors.

Respondents of the General Social Survey 1973-2012 ranked five job values (income, security, short hours, promotion,
meaningful work), which are predicted from sex, race, cohort, degree, income, marital status, children, work status and
self-employment. The risk is the mean Kendall distance on the 30 % of the rows that are held out (10 random splits; at
most 10, lower is better), next to reference risks of a prototype on the same rows. The splits of the prototype are not
recorded, and risks vary by 0.03 between splits, so the gain over the marginal median is printed, too. Of five common
ways of splitting, the default is the one for which this median has the risk of the reference.

Needs the environment variable RANKWISE_DATA: the folder that contains
``rankings-with-covariates/gss_job_values.csv.gz``.
"""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
from common import arguments, save

from rankwise.label_ranking import DummyRanker, NearestNeighborsRanker, RankingForest, RankingTree, ranking_risk

NUMBERS = ["cohort", "coninc", "childs"]
CATEGORIES = ["sex", "race", "degree", "marital", "wrkstat", "wrkslf"]
ONE_AGAINST_REST = ", one category against the rest"
#: risks of a prototype on different splits of the same rows; names are those of the stored results
REFERENCE = {
    "marginal median": 2.898,
    "tree, depth 3": 2.837,
    "tree, depth 5": 2.822,
    "tree, depth 8": 2.846,
    "20 neighbours": 2.904,
    "100 neighbours": 2.832,
}


def main() -> None:
    options = arguments(__doc__)
    X, y = job_values()
    coded = list(range(len(NUMBERS), X.shape[1]))
    indicators = with_indicators(X)
    trees = {f"tree, depth {depth}": (X, RankingTree(max_depth=depth, min_samples_leaf=20)) for depth in (3, 5, 8)}
    # Whether the trees of the reference split by subsets of categories or one against the rest is not recorded.
    one_against_rest = {
        f"{name}{ONE_AGAINST_REST}": (indicators, RankingTree(max_depth=tree.max_depth, min_samples_leaf=20))
        for name, (_, tree) in trees.items()
    }
    trees["tree, pruned"] = (X, RankingTree(min_samples_leaf=20, ccp_alpha="cv", random_state=options.seed))
    trees["forest"] = (X, RankingForest(20 if options.quick else 100, min_samples_leaf=20, random_state=options.seed))
    for _, ranker in trees.values():
        ranker.set_params(categorical_features=coded)
    rankers = {
        "marginal median": (X, DummyRanker()),
        **trees,
        **one_against_rest,
        **{f"{m} neighbours": (indicators, NearestNeighborsRanker(m)) for m in (20, 100)},
    }
    seeds = range(options.seed, options.seed + (2 if options.quick else 10))
    splits = [np.random.default_rng(seed).permutation(len(X)) for seed in seeds]
    cut = int(0.7 * len(X))
    print(f"{len(X):,} rows, {len(splits)} splits\n| ranker | risk | sd | gain | reference | its gain |\n{'|---' * 6}|")
    rows: list[dict[str, Any]] = []  # the marginal median comes first
    for name, (features, ranker) in rankers.items():
        risks = []
        for rows_in_order in splits:
            train, test = rows_in_order[:cut], rows_in_order[cut:]
            ranker.fit(features[train], y[train])
            risks.append(ranking_risk(y[test], ranker.predict(features[test])))
        risk, sd = float(np.mean(risks)), float(np.std(risks, ddof=1))
        row = {"ranker": name, "risk": risk, "sd": sd, "reference": REFERENCE.get(name.removesuffix(ONE_AGAINST_REST))}
        rows.append(row)
        text = f"| {name} | {risk:.3f} | {sd:.3f} | {rows[0]['risk'] - risk:.3f} |"
        if row["reference"]:
            text += f" {row['reference']:.3f} | {REFERENCE['marginal median'] - row['reference']:.3f} |"
        print(text, flush=True)
    save("job_values", rows, options, [])


def job_values() -> tuple[np.ndarray, np.ndarray]:
    """Features (numbers, then codes of categories) and positions of the complete rows."""
    path = Path(os.environ["RANKWISE_DATA"]) / "rankings-with-covariates" / "gss_job_values.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        table = [row for row in csv.DictReader(file) if all(row[name] for name in NUMBERS + CATEGORIES)]
    columns = [[float(row[name]) for row in table] for name in NUMBERS]
    for name in CATEGORIES:
        levels = sorted({row[name] for row in table})
        columns.append([float(levels.index(row[name])) for row in table])
    items = [name for name in table[0] if name.startswith("rank_")]
    return np.array(columns).T.copy(), np.array([[float(row[item]) for item in items] for row in table])


def with_indicators(X: np.ndarray) -> np.ndarray:
    """Numbers and one indicator per category, for distances between rows."""
    indicators = [np.eye(int(column.max()) + 1)[column.astype(int)] for column in X[:, len(NUMBERS) :].T]
    return np.hstack([X[:, : len(NUMBERS)], *indicators])


if __name__ == "__main__":
    main()
