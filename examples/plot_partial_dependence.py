"""
How positions change with a feature: partial dependence
=======================================================

A forest predicts how guests rank drinks. Does tea move up with age, and for whom does coffee come first?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.inspection import PartialDependenceDisplay, partial_dependence

from rankwise import Rankings
from rankwise.label_ranking import RankingForest, as_regressor

# %%
# Guests, and a forest
# --------------------

rng = np.random.default_rng(0)
n = 600
X = pd.DataFrame({"age": rng.uniform(18, 80, n), "city": rng.choice(["Bonn", "Oslo", "Rome"], n)})
drinks = ["tea", "coffee", "juice", "water"]
age, oslo = X["age"] / 20, X["city"] == "Oslo"
liking = np.column_stack([age, 1 + 2.5 * oslo, 4.5 - age, np.full(n, 1.8)])
y = Rankings.from_scores(liking + rng.gumbel(0, 0.7, liking.shape), items=drinks)
forest = RankingForest(100, min_samples_leaf=10, random_state=0).fit(X, y)

# %%
# One output per drink
# --------------------
# Partial dependence sets a feature to one value for all guests, and averages the predictions. scikit-learn computes it
# for regressors and classifiers; `as_regressor` wraps the ranker as a regressor with one output per item, its expected
# position.

regressor = as_regressor(forest)
print(pd.DataFrame(regressor.predict(X[:3]), columns=regressor.items_).round(2))

by_age = partial_dependence(regressor, X, ["age"], grid_resolution=30)
by_city = partial_dependence(regressor, X, ["city"], categorical_features=["city"])

# %%
# Tea and juice swap places at an age of about 45. Coffee comes first in Oslo and last elsewhere; since positions are
# places in one ranking, the other drinks move down there.

colors = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
for item, name in enumerate(drinks):
    left.plot(by_age["grid_values"][0], by_age["average"][item], color=colors[item], label=name)
    right.plot(by_city["grid_values"][0], by_city["average"][item], "o", color=colors[item])
left.set(xlabel="age", ylabel="expected position (1 = best)")
right.set(xlabel="city")
figure.legend(loc="outside upper center", ncols=4, frameon=False)
left.invert_yaxis()

# %%
# Guest by guest
# --------------
# scikit-learn's display works too; ``target`` is the item. Each line is one guest, and since the forest uses only age
# and city, the guests of a city share a line. Coffee comes first in Oslo at every age; the mean (dashed) hides this.

_, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
display = PartialDependenceDisplay.from_estimator(
    regressor,
    X,
    ["age"],
    target=drinks.index("coffee"),
    kind="both",
    subsample=60,
    random_state=0,
    ice_lines_kw={"color": colors[1]},
    pd_line_kw={"color": "black", "ls": "--", "label": "mean"},
    ax=ax,
)
display.axes_[0, 0].set_ylabel("expected position of coffee")
display.axes_[0, 0].invert_yaxis()
