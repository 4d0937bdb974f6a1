"""
Which features matter? Permutation importance
=============================================

A cafeteria asks 600 guests to rank five drinks. It knows their age, the time of day and the number of their card. Which
of these help to predict a ranking?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split

from rankwise import Rankings
from rankwise.label_ranking import RankingForest
from rankwise.metrics import kendall_tau_score

# %%
# Guests
# ------
# With age, tea moves up and juice down; in the morning, coffee comes first. The card number has no effect.

rng = np.random.default_rng(0)
n = 600
X = pd.DataFrame(
    {
        "age": rng.integers(18, 80, n),
        "time": rng.choice(["morning", "noon", "evening"], n, p=[0.25, 0.5, 0.25]),
        "card": rng.permutation(n),
    }
)
drinks = ["tea", "coffee", "juice", "water", "milk"]
age, morning = X["age"] / 20, X["time"] == "morning"
liking = np.column_stack([age, 1.5 + 2.5 * morning, 4.5 - age, np.full(n, 1.8), 2.2 - age / 2])
y = Rankings.from_scores(liking + rng.gumbel(0, 0.7, liking.shape), items=drinks)

X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
forest = RankingForest(100, min_samples_leaf=5, random_state=0).fit(X_train, y_train)
print(f"Kendall tau on the test set: {forest.score(X_test, y_test):.2f}")

# %%
# What is lost if a feature is shuffled
# -------------------------------------
# scikit-learn's ``permutation_importance`` works with label rankers, including rankings as targets and data frames with
# strings. It shuffles one column of the test set, and reports how much the mean Kendall tau drops.

lost = permutation_importance(forest, X_test, y_test, n_repeats=10, random_state=0)
for name, mean, std in zip(X.columns, lost.importances_mean, lost.importances_std, strict=True):
    print(f"{name}: {mean:.3f} (sd {std:.3f})")

# %%
# For one pair of drinks
# ----------------------
# A custom scorer answers another question: what helps to predict whether coffee comes before tea? Now the time matters
# more.

pair = ["tea", "coffee"]


def tau_of_pair(ranker, X, y):
    return kendall_tau_score(y.select(pair), Rankings(ranker.predict(X), ranker.items_).select(pair))


lost_of_pair = permutation_importance(forest, X_test, y_test, scoring=tau_of_pair, n_repeats=10, random_state=0)

# %%
# Comparison with the forest's own importances
# --------------------------------------------
# ``feature_importances_`` sums the gains of splits on the training rows. The card number can be split at many
# thresholds, some of which fit by chance, so it seems to matter. Shuffling it in the test set costs nothing.

columns = [
    ("of all drinks: tau lost", lost.importances),
    ("of tea and coffee: tau lost", lost_of_pair.importances),
    ("gain of splits, training rows", forest.feature_importances_[:, None]),
]
figure, axes = plt.subplots(1, 3, figsize=(9, 2.6), layout="constrained", sharey=True)
for ax, (title, values) in zip(axes, columns, strict=True):
    spread = values.std(axis=1) if values.shape[1] > 1 else None
    ax.barh(X.columns, values.mean(axis=1), xerr=spread, color="#0072B2", ecolor="#555555")
    ax.axvline(0, color="#999999", linewidth=0.8)
    ax.set_title(title, fontsize=10)
axes[0].invert_yaxis()
