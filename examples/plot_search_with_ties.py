"""
Evaluate a search ranking with ties and unjudged documents
==========================================================

Two rankers return ten documents per query. One is a small tree, which gives many documents the same score. Only some of
the documents were ever judged. How good are the rankers, and how much does the answer depend on the evaluation tool?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from rankwise.data import Qrels, Run, judged_run
from rankwise.datasets import make_retrieval
from rankwise.metrics import ndcg_score, recall_score

X, grade, qid, _ = make_retrieval(200, docs_per_query=(20, 40), random_state=0)
train, test = qid <= 100, qid > 100
doc_id = np.array([f"d{row:05d}" for row in range(len(qid))])

# %%
# Judgments, and the runs of two systems
# --------------------------------------
# Three documents in four are judged. The judgments are sorted by grade, so that the file order does the most harm.

rng = np.random.default_rng(0)
judged = np.flatnonzero(test & (rng.random(len(qid)) < 0.75))
judged = judged[np.lexsort((-grade[judged], qid[judged]))]
qrels = Qrels(qid[judged].astype(str), doc_id[judged], grade[judged])


def first_ten(score):
    rows = np.flatnonzero(test)
    rows = rows[np.lexsort((-score[rows], qid[rows]))]
    place = np.arange(len(rows)) - np.searchsorted(qid[rows], qid[rows])
    rows = rows[place < 10]
    return Run(qid[rows].astype(str), doc_id[rows], score[rows], np.full(len(rows), "run"))


runs = {
    "linear": first_ten(Ridge().fit(X[train], grade[train]).predict(X)),
    "tree": first_ten(DecisionTreeRegressor(max_depth=2, random_state=0).fit(X[train], grade[train]).predict(X)),
}

# %%
# One call per measure
# --------------------
# `judged_run` joins a run with its judgments. Judged documents that were not returned get the score ``-inf``: they have
# no place, but they could have been found. Omitting them makes both systems look too good.

tables = {name: judged_run(qrels, run) for name, run in runs.items()}
for name, table in tables.items():
    listed = np.isfinite(table.y_score)
    flat = (table.y_true, table.y_score, table.qid)
    print(
        f"{name}: NDCG@10 {ndcg_score(*flat, k=10):.3f}, recall@10 {recall_score(*flat, k=10):.3f}, "
        f"NDCG@10 of the returned documents only {ndcg_score(*(column[listed] for column in flat), k=10):.3f}"
    )

# %%
# Ties
# ----
# The tree has four leaves, so most documents are tied. Its NDCG depends on how ties are broken: the worst order and the
# best order (which a tool reports if it keeps the order of a file sorted by relevance) are far apart. The mean over all
# orders is between them. The linear ranker has no ties: it has one value, and wins here in every case.

treatments = ("pessimistic", "average", "sorted file")
values = {}
for name, table in tables.items():
    sorted_file = table.y_score + 1e-9 * table.y_true
    flat = (table.y_true, table.y_score, table.qid)
    values[name] = [
        ndcg_score(*flat, k=10, ties="pessimistic"),
        ndcg_score(*flat, k=10),
        ndcg_score(table.y_true, sorted_file, table.qid, k=10),
    ]
    print(name, *(f"{treatment} {value:.3f}" for treatment, value in zip(treatments, values[name], strict=True)))

figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for shift, (name, color) in enumerate([("linear", "#0072B2"), ("tree", "#D55E00")]):
    ax.bar(np.arange(3) + 0.4 * shift, values[name], width=0.36, color=color, label=name)
ax.set_xticks(np.arange(3) + 0.2, labels=treatments)
ax.set(ylabel="NDCG@10", ylim=(0, 0.8), title="Only the ranker with ties depends on how they are broken")
ax.legend(frameon=False, ncols=2)
