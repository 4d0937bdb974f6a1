"""
How noise changes label-ranking data
====================================

Rankings of five labels depend on binary features, with noise. How much of a learner's loss is its own, and how much
comes from the data?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestRegressor

from rankwise.data import dense_positions
from rankwise.datasets import make_sparse_label_ranking, noise_scale_for
from rankwise.metrics import kendall_tau_score

# %%
# Two measures of noise
# ---------------------
# alpha is the share of rankings changed by noise, beta the mean tau between noisy and noiseless rankings. The noise
# scale alone determines neither, so we compute the scale for a given alpha. The same seed gives the same features.

alphas = [0.0, 0.2, 0.4, 0.6, 0.8]
_, _, clean = make_sparse_label_ranking(2000, 30, random_state=0)
scales = [noise_scale_for(alpha, clean.scores, random_state=1) for alpha in alphas]
data = [make_sparse_label_ranking(2000, 30, noise="gaussian", noise_scale=scale, random_state=0) for scale in scales]
for scale, (_, _, bunch) in zip(scales, data, strict=True):
    print(f"noise_scale {scale:.3f}: alpha {bunch.alpha:.2f}, beta {bunch.beta:.2f}")

# %%
# Learn from noisy rankings
# -------------------------
# A forest predicts the place of every label, and the predicted places are sorted. It is scored twice: against noisy
# test rankings, which is all we have in practice, and against the noiseless truth.

noisy_tau, true_tau = [], []
for X, y, bunch in data:
    forest = RandomForestRegressor(60, min_samples_leaf=2, max_features=0.5, random_state=0)
    forest.fit(X[:1000], y.positions[:1000])
    predicted = dense_positions(forest.predict(X[1000:]))
    noisy_tau.append(kendall_tau_score(y[1000:], predicted))
    true_tau.append(kendall_tau_score(bunch.noiseless[1000:], predicted))

# %%
# What the curves show
# --------------------
# No learner can be expected to beat beta on noisy test data. With little noise, most of the forest's loss is its own:
# it stays far below beta even without noise. With much noise, its score on noisy rankings drops; but its score against
# the truth hardly does, because the noise of a thousand training rankings averages out. The drop comes from the test
# data.

beta = [bunch.beta for _, _, bunch in data]
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.plot(alphas, beta, color="black", ls="--", label="beta: the best possible on noisy rankings")
ax.plot(alphas, noisy_tau, color="#D55E00", marker="^", label="forest, against noisy rankings")
ax.plot(alphas, true_tau, color="#0072B2", marker="o", label="forest, against the noiseless truth")
ax.set(xlabel="alpha: share of rankings changed by noise", ylabel="Kendall tau", ylim=(0, 1.05))
ax.legend(frameon=False, loc="lower left")
print("lost to noise on the noiseless truth:", np.round(true_tau[0] - np.array(true_tau), 2))
