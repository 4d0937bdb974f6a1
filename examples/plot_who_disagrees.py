"""
Who disagrees?
==============

A cafeteria asks 200 guests to rank eight dishes. Should it offer one menu for all, or two?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import AgglomerativeClustering

from rankwise.aggregation import borda
from rankwise.datasets import make_food_preferences
from rankwise.distances import kendall_distance, pairwise_distances
from rankwise.plots import PairwisePreferenceDisplay

votes, taste, _ = make_food_preferences(200, sigma=0.3, random_state=3)
print(votes)


def best_first(positions):
    return ", ".join(str(votes.items[i]) for i in np.argsort(positions))


# %%
# The consensus of all guests
# ---------------------------
# Borda's rule gives an order. But how far are the guests from it? A normalized distance of 0 is the same order, 0.5 is
# chance level and 1 the reverse order.

consensus = borda(votes)
to_consensus = kendall_distance(votes, consensus, normalize=True)
between = pairwise_distances(votes, normalize=True)
print("consensus:", best_first(consensus))
print(f"guests to the consensus: {to_consensus.mean():.2f}, to each other: {between.mean():.2f}")

# %%
# Two groups?
# -----------
# The distance matrix is the input of a clustering algorithm. In each group, the guests are much closer to the consensus
# of their own group.

group = AgglomerativeClustering(2, metric="precomputed", linkage="average").fit_predict(between)
for number in (0, 1):
    members = votes[group == number]
    own = borda(members)
    apart = kendall_distance(members, own, normalize=True).mean()
    print(f"{len(members)} guests at {apart:.2f} from their own consensus: {best_first(own)}")

# %%
# The data were generated with two tastes, which the clustering recovers without labels:

found = max(np.mean(group + 1 == taste), np.mean(2 - group == taste))
print(f"guests in the group of their taste: {found:.0%}")

# %%
# What the groups disagree about
# ------------------------------
# Cells near white are pairs without a clear majority. Within the groups, few of them remain.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
for number, ax in enumerate(axes):
    PairwisePreferenceDisplay.from_rankings(votes[group == number], ax=ax)
    ax.set_title(f"group {number + 1}", loc="right")
