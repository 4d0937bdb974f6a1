"""
Who is similar?
===============

Guests rank eight dishes: some rank all of them, some their favorites, some what they happened to try. Can the kitchen
predict from such a ranking whether a guest has a sweet tooth?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import ConstantKernel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from rankwise import Rankings
from rankwise.datasets import make_food_preferences
from rankwise.embeddings import GraphCutEmbedding, item_graph
from rankwise.kernels import GraphCutKernel, KendallKernel, MallowsKernel, finite_positions

# %%
# The guests
# ----------
# One third of the guests give full rankings, one third their top three, and one third rank four random dishes (the
# others are missing).

parts = [
    make_food_preferences(100, sigma=0.4, kind=kind, length=length, random_state=seed)
    for seed, (kind, length) in enumerate([("full", None), ("top-k", 3), ("non-exhaustive", 4)])
]
dishes = parts[0][2]
votes = Rankings(np.vstack([rankings.positions for rankings, _, _ in parts]), parts[0][0].items)
sweet = np.concatenate([taste for _, taste, _ in parts]) == 1
print(votes)

# %%
# Classify
# --------
# All kernels accept a mix of all kinds of rankings. They are about equally good: the differences are well within the
# variation between folds.

graph = item_graph(dishes.item_features)
kernels = {
    "Kendall": KendallKernel(normalize=True),
    "Mallows": MallowsKernel(0.1),
    "graph cut, no features": GraphCutKernel(normalize=True),
    "graph cut": GraphCutKernel(graph, normalize=True),
}
X = finite_positions(votes)  # missing as -1, for estimators that do not accept NaN
order = np.random.default_rng(0).permutation(len(X))
for name, kernel in kernels.items():
    scores = cross_val_score(SVC(kernel=kernel), X[order], sweet[order], cv=5)
    print(f"{name:24} {scores.mean():.2f} +- {scores.std():.2f}")

# %%
# The graph cut kernel has one feature per dish, so a linear model does not need a matrix of all pairs of guests. Its
# coefficients show which dishes reveal a sweet tooth.

linear = make_pipeline(GraphCutEmbedding(graph, random_state=0), LogisticRegression()).fit(votes, sweet)
for dish, weight in sorted(zip(votes.items, linear[-1].coef_[0], strict=True), key=lambda pair: -pair[1]):
    print(f"{dish:8} {weight:+.2f}")

# %%
# How certain?
# ------------
# A Gaussian process predicts probabilities. It is less certain about guests who rank fewer dishes.

process = GaussianProcessClassifier(ConstantKernel() * MallowsKernel(0.1)).fit(X[order[:100]], sweet[order[:100]])
new = order[100:]
certainty = process.predict_proba(X[new]).max(axis=1)
for number, kind in enumerate(("full", "top three", "four at random")):
    print(f"{kind:15} mean probability of the predicted class: {certainty[new // 100 == number].mean():.2f}")

# %%
# Without labels
# --------------
# Clustering with the same kernel, for guests who gave full rankings.

full = X[:100]
group = SpectralClustering(2, affinity=MallowsKernel(0.1), random_state=0).fit_predict(full)
share = np.mean(group == sweet[:100])
print(f"guests in the cluster of their taste: {max(share, 1 - share):.0%}")

# %%
# The picture
# -----------

at = KernelPCA(2, kernel=kernels["graph cut"]).fit_transform(X)
figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), sharex=True, sharey=True, layout="constrained")
for number, (ax, kind) in enumerate(zip(axes, ("all eight", "top three", "four at random"), strict=True)):
    rows = np.arange(len(X)) // 100 == number
    for is_sweet, color, marker in ((True, "#D55E00", "^"), (False, "#0072B2", "o")):
        chosen = rows & (sweet == is_sweet)
        ax.plot(*at[chosen].T, marker, color=color, alpha=0.6, label="sweet" if is_sweet else "juicy")
    ax.set(title=f"guests who rank {kind}", xticks=[], yticks=[])
axes[0].legend(frameon=False)
