"""
Merge the lists of a jury
=========================

There are twenty wines and thirty judges, and each judge tastes only six wines. Which wine is best, how certain is that,
and which wines should be tasted next?
"""

import matplotlib.pyplot as plt
import numpy as np

from rankwise import Rankings
from rankwise.aggregation import (
    BradleyTerry,
    PlackettLuce,
    bootstrap_consensus,
    borda,
    kemeny,
    next_pairs,
    preference_matrix,
    sample_plackett_luce,
)
from rankwise.data import positions_from_scores
from rankwise.metrics import kendall_tau_score

# %%
# The judges
# ----------
# A judge who did not taste a wine says nothing about it: its position is missing (``NaN``), it is not last. The data
# are generated, so the truth is known.

rng = np.random.default_rng(0)
n_wines, n_judges, n_tasted = 20, 30, 6
worth = np.linspace(2, -2, n_wines)
truth = positions_from_scores([worth])[0]
palates = sample_plackett_luce(worth, n_judges, random_state=rng)
tasted = rng.permuted(np.tile(np.arange(n_wines) < n_tasted, (n_judges, 1)), axis=1)
lists = Rankings(np.where(tasted, palates, np.nan), [f"wine {letter}" for letter in "ABCDEFGHIJKLMNOPQRST"])
print(lists[:2])

# %%
# A consensus with a proof
# ------------------------
# No order has fewer disagreements with the judges than this one. But others have equally few, and the majorities among
# eleven of the wines form cycles: two or three judges per pair are not many.

consensus = kemeny(lists, random_state=0)
print(consensus)
print("unique:", consensus.unique, "- sizes of the components:", [len(part) for part in consensus.components])
together = preference_matrix(lists).counts[np.triu_indices(n_wines, 1)]
print(f"judges per pair: {together.mean():.1f}, pairs that nobody compared: {np.mean(together == 0):.0%}")

# %%
# How far is it from the truth? We compare it with Borda's rule and the worths of a Plackett-Luce model on the same
# lists. The prior keeps the worth finite for a wine that always came first.


def by_worth(lists):
    return PlackettLuce(alpha=0.1).fit(lists).mode()


for name, positions in (("Kemeny", consensus.positions), ("Borda", borda(lists)), ("Plackett-Luce", by_worth(lists))):
    print(f"tau with the truth, {name}: {kendall_tau_score([truth], [positions]):.2f}")

# %%
# How certain?
# ------------
# Other judges would have given a different order. The intervals come from resampling the judges. In some resamples
# nobody tasted a certain wine: then no rule can place it, but a model with a prior puts it in the middle.

found = bootstrap_consensus(lists, by_worth, n_resamples=300, random_state=0)

# %%
# What to taste next
# ------------------
# There is money for further comparisons of two wines, ten at a time. `next_pairs` plans the most informative ones; the
# alternative is to draw pairs at random. Both start from the same lists.


def after_duels(plan, seed):
    """Tau between the worths and the truth, after more and more duels."""
    nature = np.random.default_rng(seed)
    wins = preference_matrix(lists).wins.copy()
    taus = []
    for _ in range(10):
        taus.append(kendall_tau_score([truth], [BradleyTerry(alpha=0.1).fit(wins).mode()]))
        for i, j in plan(wins, nature):
            i_wins = nature.random() < 1 / (1 + np.exp(worth[j] - worth[i]))
            wins[(i, j) if i_wins else (j, i)] += 1
    return taus


def planned(wins, _):
    return next_pairs(wins, n=10, alpha=0.1)


def at_random(_, nature):
    return [nature.choice(n_wines, 2, replace=False) for _ in range(10)]


n_duels = 10 * np.arange(10)
curves = {plan.__name__: np.array([after_duels(plan, seed) for seed in range(20)]) for plan in (planned, at_random)}
for name, taus in curves.items():
    print(f"{name}: tau {taus[:, 0].mean():.3f} before, {taus[:, -1].mean():.3f} after {n_duels[-1]} duels")

# %%
# The picture
# -----------
# Left: the lists separate the upper half from the lower half, and hardly more; even first place is undecided. Right:
# planned duels are more informative than random ones.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
row = np.argsort(np.argsort(found.positions, kind="stable"))
left.hlines(row, found.low, found.high, color="#999999", lw=4)
left.plot(found.positions, row, "o", color="#0072B2", label="order of the worths")
left.plot(truth, row, "|", color="#D55E00", ms=10, mew=2, label="truth")
left.set_yticks(row, labels=lists.items)
left.invert_yaxis()
left.set(xlabel="place", xticks=[1, 5, 10, 15, 20], title="95% intervals")
left.legend(frameon=False)
for (name, taus), color in zip(curves.items(), ("#0072B2", "#D55E00"), strict=True):
    middle, error = taus.mean(axis=0), taus.std(axis=0) / np.sqrt(len(taus))
    right.plot(n_duels, middle, color=color, marker="o", label=name.replace("_", " "))
    right.fill_between(n_duels, middle - error, middle + error, color=color, alpha=0.2, lw=0)
right.set(xlabel="duels after the jury", ylabel="Kendall tau with the truth", title="Mean of 20 runs")
right.legend(frameon=False, loc="lower right")
