"""Is scikit-learn's ColumnTransformer as good as the steps of `NumericFeatures`? Time, memory and results in one run.

Both give the median for missing numbers and a column of zeros and ones for each category, by the same imputer and
encoder of scikit-learn; they differ in how columns are chosen and put together. Data are 100,000 rows of 40 numbers and
10 categories, a tenth of them missing, as a data frame. Seconds are CPU time, the shortest of 15 turns, and memory is
the peak of what ``fit_transform``, which a pipeline calls, allocates.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from common import arguments, save

from rankwise.label_ranking.numeric import NumericFeatures

N_NUMBERS, N_CATEGORICAL, N_CATEGORIES = 40, 10, 8
MIB = 2**20


def main() -> None:
    options = arguments(__doc__)
    n_rows, rounds = (5_000, 1) if options.quick else (100_000, 15)
    X = table(n_rows, options.seed)
    np.testing.assert_array_equal(*(tool().fit_transform(X) for tool in TOOLS.values()))
    seconds = cpu_seconds(X, rounds)
    rows = []
    for name in TOOLS:
        peak = memory(name, X)
        rows.append({"case": f"{n_rows:,} x {X.shape[1]}", "tool": name, **seconds[name], "memory_mib": peak / MIB})
        times = "  ".join(f"{method} {value:.2f} s" for method, value in seconds[name].items())
        print(f"{name:>18}  {times}  {peak / MIB:,.0f} MiB")
    save("features", rows, options, ["scikit-learn", "pandas"])


class WithColumnTransformer(NumericFeatures):
    """The same transformer, its steps in a ColumnTransformer."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn medians and categories, and apply them."""
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import OneHotEncoder

        coded = self._check_features(X, reset=True)
        is_categorical = self._encoder.is_categorical
        imputer = SimpleImputer(strategy="median", keep_empty_features=True)
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        steps = [("numbers", imputer, ~is_categorical), ("categories", encoder, is_categorical)]
        self._columns = ColumnTransformer(steps, sparse_threshold=0)
        return self._columns.fit_transform(coded)

    def transform(self, X: Any) -> Any:
        """The features side by side."""
        return self._columns.transform(self._check_features(X, reset=False))


TOOLS: dict[str, Callable[[], NumericFeatures]] = {
    "steps": NumericFeatures,
    "ColumnTransformer": WithColumnTransformer,
}


def table(n_rows: int, seed: int) -> Any:
    import pandas as pd

    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n_rows, N_NUMBERS))
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    names = np.array([f"category {i}" for i in range(N_CATEGORIES)] + [None], dtype=object)
    share = [0.9 / N_CATEGORIES] * N_CATEGORIES + [0.1]
    columns = {f"number {i}": numbers[:, i] for i in range(N_NUMBERS)}
    columns |= {f"city {i}": names[rng.choice(len(names), n_rows, p=share)] for i in range(N_CATEGORICAL)}
    return pd.DataFrame(columns)


def cpu_seconds(X: Any, rounds: int) -> dict[str, dict[str, float]]:
    """Shortest CPU time of each tool; the tools take turns."""
    best: dict[str, dict[str, float]] = {name: {"fit_transform": np.inf, "transform": np.inf} for name in TOOLS}
    for _ in range(rounds):
        for name, tool in TOOLS.items():
            start = time.process_time()
            fitted = tool()
            fitted.fit_transform(X)
            middle = time.process_time()
            fitted.transform(X)
            end = time.process_time()
            best[name] = {
                "fit_transform": min(best[name]["fit_transform"], middle - start),
                "transform": min(best[name]["transform"], end - middle),
            }
    return best


def memory(name: str, X: Any) -> int:
    """Most bytes that fit_transform holds at a time."""
    tracemalloc.start()
    TOOLS[name]().fit_transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


if __name__ == "__main__":
    main()
