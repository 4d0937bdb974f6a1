"""
Find the law of the pendulum
============================

The period of a pendulum is timed by hand on planets of the solar system. Which expression of length, gravity, mass and
amplitude predicts it? Hundreds of expressions are screened by how well they order the periods, before any model is
fitted.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from rankwise.screening import ConcordanceSelector, SymbolicFeatures, concordant_divergence
from rankwise.trees import LeastSquaresTree

# %%
# The measurements
# ----------------
# For small amplitudes the period is 2 pi sqrt(length / gravity); mass does not matter, and the amplitude hardly does.

rng = np.random.default_rng(0)


def measure(n):
    X = pd.DataFrame(
        {
            "length": rng.uniform(0.2, 2, n),
            "gravity": rng.choice([3.7, 8.9, 9.8, 24.8, 11.2], n),
            "mass": rng.uniform(0.1, 1, n),
            "angle": rng.uniform(0.05, 0.5, n),
        }
    )
    period = 2 * np.pi * np.sqrt(X["length"] / X["gravity"]) * (1 + X["angle"] ** 2 / 16)
    return X, period + 0.03 * rng.standard_normal(n)


X, period = measure(300)

# %%
# Screen
# ------
# A layer of unary operators is followed by a layer of binary operators, which is never stored. Of expressions that
# order the pendulums in the same way, only the simplest one counts: length / gravity also represents its own square
# root.

operators = {"unary": ("id", "sqrt", "square", "log"), "binary": ("+", "-", "*", "/"), "pool": "cumulative"}
features = SymbolicFeatures("ub", **operators)
selector = ConcordanceSelector(k=8, features=features).fit(X, period)
print(f"{selector.n_usable_:,} expressions")
columns = ["feature", "divergence", "z", "complexity"]
print(pd.DataFrame(selector.table_)[columns].round(3).to_string(index=False))

# %%
# With units (meter, second and kilogram), meaningless expressions such as length + mass are not considered, and far
# fewer expressions compete.

units = [[1, 0, 0], [1, -2, 0], [0, 0, 1], [0, 0, 0]]
with_units = ConcordanceSelector(k=3, features=SymbolicFeatures("ub", units=units, **operators)).fit(X, period)
print(f"{with_units.n_usable_:,} expressions; the best: {', '.join(with_units.table_['feature'])}")

# %%
# From order to number
# --------------------
# Ranks cannot distinguish length / gravity from its square root; a linear model can. A last unary layer offers both,
# and ``n_terms=1`` fits the best of the selected features by least squares; without rank classes the root can be
# selected too.

laws = SymbolicFeatures("bu", unary=("id", "sqrt", "square", "log"), binary=("*", "/"), units=units)
law = ConcordanceSelector(k=20, features=laws, dedupe=False, n_terms=1).fit(X, period)
print(law.models_[0].formula(law.table_["feature"]), f"- the truth is {2 * np.pi:.3f} times the root")
new, new_period = measure(1000)
predicted = law.models_[0].intercept + law.transform(new)[:, 0] * law.models_[0].coef[0]
print(
    f"error on new pendulums: {np.sqrt(np.mean((predicted - new_period) ** 2)):.3f} s; that of the stopwatch is 0.03 s"
)

# %%
# Could it be chance?
# -------------------
# We repeat the search on shuffled periods. The best z of hundreds of expressions is far from 0 even if there is nothing
# to find, so a z of 2 or 3 would mean nothing here. The z of the true law is far beyond chance.

chance = [abs(selector.fit(X, rng.permutation(period)).table_["z"][0]) for _ in range(50)]
best = abs(with_units.table_["z"][0])
print(f"best |z|: {best:.1f}; on shuffled periods {min(chance):.1f} to {max(chance):.1f}")

# %%
# What it means for a tree
# ------------------------
# A tree splits by order, so a feature that orders the target well saves many splits. How much a tree's ranking loses,
# as a share of the best gain:

root = np.sqrt(X[["length"]].to_numpy() / X[["gravity"]].to_numpy())
new_root = np.sqrt(new[["length"]].to_numpy() / new[["gravity"]].to_numpy())
truth = 2 * np.pi * new_root[:, 0] * (1 + new["angle"] ** 2 / 16)
depths = range(1, 8)
lost = {
    name: [
        concordant_divergence(LeastSquaresTree(max_depth=depth).fit(train, period).predict(test), truth, normalize=True)
        for depth in depths
    ]
    for name, train, test in (("the four inputs", X, new), ("length / gravity", root, new_root))
}

# %%
# The picture
# -----------

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot(new_period, predicted, ".", color="#0072B2", alpha=0.4)
left.axline((1, 1), slope=1, color="#999999", lw=1)
left.set(xlabel="period, s", ylabel="predicted", title="One term, new pendulums")
for (name, values), color, marker in zip(lost.items(), ("#D55E00", "#0072B2"), "^o", strict=True):
    right.plot(depths, values, color=color, marker=marker, label=f"tree on {name}")
right.set(xlabel="depth", ylabel="gain lost, share of the best", ylim=(0, None), title="How well a tree ranks")
right.legend(frameon=False)
