"""
Which ranker for how many queries?
==================================

A linear ranker is limited but learns quickly; boosted trees find nonlinear effects, given enough queries. A regression
that ignores queries is misled by features whose levels differ from query to query.
"""

# %%
# Documents of queries, with grades 0 to 4. The last 100 queries are the test set.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge

from rankwise.datasets import make_retrieval
from rankwise.ltr import LambdaMART, LinearRanker
from rankwise.metrics import ndcg_score

X, y, qid, _ = make_retrieval(500, 10, random_state=0)
test = qid > 400

# %%
# Each ranker learns from more and more queries.
rankers = {
    "LambdaMART": LambdaMART(100, random_state=0),
    "LinearRanker": LinearRanker(random_state=0),
    "Ridge, without queries": Ridge(),
}
sizes = [25, 50, 100, 200, 400]
values = {name: [] for name in rankers}
for size in sizes:
    train = qid <= size
    for name, ranker in rankers.items():
        queries = {} if isinstance(ranker, Ridge) else {"qid": qid[train]}
        score = ranker.fit(X[train], y[train], **queries).predict(X[test])
        values[name].append(ndcg_score(y[test], score, qid[test], k=10, gain="exp"))

# %%
# Higher is better.
figure, ax = plt.subplots(layout="constrained")
for name, value in values.items():
    ax.plot(sizes, value, "o-", label=name)
ax.set(xscale="log", xticks=sizes, xticklabels=sizes, xlabel="queries to learn from", ylabel="NDCG@10 of other queries")
ax.minorticks_off()
ax.legend(frameon=False)

# %%
# Why is the first document of a query above the last one? Each feature adds to the difference or subtracts from it.
ranker = rankers["LambdaMART"]
rows = np.flatnonzero(qid == 401)
best, worst = rows[np.argsort(ranker.predict(X[rows]))[[-1, 0]]]
reasons = ranker.explain(X, best, worst).effects
for feature in np.argsort(-abs(reasons))[:3]:
    print(f"feature {feature}: {X[best, feature]:+.2f} against {X[worst, feature]:+.2f} adds {reasons[feature]:+.2f}")
