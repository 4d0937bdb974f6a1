"""
Who ranks how: a consensus ranking tree
=======================================

A cafeteria asks 600 guests to rank five dishes. Which groups of guests are there, how well can three questions separate
them, and how much better is a larger model?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, cross_val_score

from rankwise import Rankings
from rankwise.label_ranking import DummyRanker, RankingForest, RankingTree
from rankwise.plots import FeatureImportanceDisplay, RankingTreeDisplay

# %%
# The guests
# ----------
# We know the age, the diet and the day of the week; one guest in ten does not give an age. Vegetarians do not rank the
# burger and the fish: these are missing, not last. The data are generated, so the truth is known: age affects soup and
# burger, the diet affects salad and what is ranked at all, Friday favors fish, and the day has no other effect.

rng = np.random.default_rng(0)
n = 600
age = rng.integers(18, 66, n).astype(float)
guests = pd.DataFrame(
    {
        "age": np.where(rng.random(n) < 0.1, np.nan, age),
        "diet": rng.choice(["all", "vegetarian"], n, p=[0.7, 0.3]),
        "day": rng.choice(["Mon", "Tue", "Wed", "Thu", "Fri"], n),
    }
)
liking = pd.DataFrame(
    {
        "burger": 3.0 - age / 20,
        "fish": 0.5 + 1.5 * (guests["day"] == "Fri"),
        "pasta": 1.0,
        "salad": 0.3 + 1.2 * (guests["diet"] == "vegetarian"),
        "soup": age / 20 - 1.5,
    }
)
ranked = Rankings.from_scores(liking + rng.gumbel(0, 0.5, liking.shape))
eats_no_meat = np.outer(guests["diet"] == "vegetarian", [True, True, False, False, False])
dishes = Rankings(np.where(eats_no_meat, np.nan, ranked.positions), ranked.items)
print(dishes[:3])

# %%
# A tree of three questions
# -------------------------
# Splits are chosen to maximize the agreement of the rankings on each side. Missing ages go to the side where they fit
# better, days are split into two sets, and dishes that a guest did not rank are ignored.

tree = RankingTree(max_depth=3, min_samples_leaf=30).fit(guests, dishes)
print(tree.export_text())

# %%
# The first question separates young from old. Leaves with the same favorite have the same color. The vegetarians of a
# leaf say nothing about the burger: its place there comes from the parent node, and should not be used.

display = RankingTreeDisplay.from_estimator(tree)

# %%
# How good is it?
# ---------------
# Cross-validated Kendall tau on the dishes that a guest has ranked. Three questions are about as good as a forest. A
# fully grown tree fits the noise; pruning by cross-validation removes it.

folds = KFold(5, shuffle=True, random_state=0)
rankers = {
    "one consensus for all": (DummyRanker(), guests[["age"]].fillna(0)),
    "tree of three questions": (RankingTree(max_depth=3, min_samples_leaf=30), guests),
    "fully grown tree": (RankingTree(random_state=0), guests),
    "pruned tree": (RankingTree(ccp_alpha="cv", random_state=0), guests),
    "forest": (RankingForest(min_samples_leaf=5, random_state=0), guests),
}
for name, (ranker, X) in rankers.items():
    taus = cross_val_score(ranker, X, dishes, cv=folds)
    print(f"{name:24} {taus.mean():.2f}")

# %%
# What matters
# ------------
# Age matters most. The vegetarians' preference for salad is visible, and so is the fish on Friday.

forest = RankingForest(min_samples_leaf=5, random_state=0).fit(guests, dishes)
figure, ax = plt.subplots(figsize=(5, 1.8), layout="constrained")
FeatureImportanceDisplay.from_estimator(forest, ax=ax)
