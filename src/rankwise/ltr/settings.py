"""What the parameters of LambdaMART mean to the two kinds of trees; what a kind cannot do is refused here."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise._typing import BoolArray
from rankwise.ltr.levels import LevelSettings

# Chosen by cross-validation on data of make_retrieval, see docs/learning-to-rank.md.
_LEVELS, _L2_OF_LEVELS = 4, 1.0
# Fewest rows of a leaf where there are many; and the share of the rows where there are few.
_LEAF_ROWS, _LEAF_SHARE = 20, 5
# What LightGBM puts into a bin at least, which would hide what few rows tell.
_BIN_ROWS = 3
# 4096 leaves.
_MOST_LEVELS = 12


def level_settings(ranker: Any, is_categorical: BoolArray) -> LevelSettings:
    """Settings of level trees."""
    depth = _LEVELS if ranker.max_depth is None else ranker.max_depth
    if depth > _MOST_LEVELS:
        raise ValueError(f"max_depth is {depth}, but a level tree has 2**max_depth leaves; give at most {_MOST_LEVELS}")
    if ranker.max_bins > 255:
        raise ValueError(f"max_bins is {ranker.max_bins}, but level trees take at most 255")
    if ranker.monotone_constraints is not None:
        raise ValueError("monotone_constraints are for tree='leaf'; a level tree cannot keep them leaf by leaf")
    if is_categorical.any():
        raise ValueError(
            f"column {int(np.argmax(is_categorical))} of X holds categories, which have no order that a level could "
            "cut; encode them as numbers, e.g. with sklearn.preprocessing.TargetEncoder, or use tree='leaf'"
        )
    return LevelSettings(
        depth=depth,
        learning_rate=ranker.learning_rate,
        l2=_L2_OF_LEVELS if ranker.l2 is None else ranker.l2,
        subsample=ranker.subsample,
        colsample=ranker.colsample,
        max_bins=ranker.max_bins,
        n_threads=n_threads(ranker),
    )


def leaf_settings(ranker: Any, seed: int, n_rows: int) -> dict[str, Any]:
    """Parameters of LightGBM."""
    leaf_rows = max(1, min(_LEAF_ROWS, n_rows // _LEAF_SHARE))
    settings: dict[str, Any] = {
        "learning_rate": ranker.learning_rate,
        "num_leaves": ranker.num_leaves,
        "max_depth": -1 if ranker.max_depth is None else ranker.max_depth,
        "min_data_in_leaf": leaf_rows if ranker.min_samples_leaf is None else ranker.min_samples_leaf,
        "lambda_l2": ranker.l2 or 0.0,
        "bagging_fraction": ranker.subsample,
        "bagging_freq": int(ranker.subsample < 1),
        "feature_fraction": ranker.colsample,
        "max_bin": ranker.max_bins,
        "num_threads": n_threads(ranker),
        "seed": seed % 2**31,
    }
    if leaf_rows < _BIN_ROWS:
        settings["min_data_in_bin"] = leaf_rows
    if ranker.monotone_constraints is not None:
        signs = np.asarray(ranker.monotone_constraints)
        if signs.shape != (ranker.n_features_in_,) or not np.isin(signs, (-1, 0, 1)).all():
            raise ValueError(f"monotone_constraints must be {ranker.n_features_in_} numbers, each -1, 0 or 1")
        settings["monotone_constraints"] = signs.astype(int).tolist()
    return settings


def n_threads(ranker: Any) -> int:
    """How many threads ``n_jobs`` asks for."""
    from joblib import effective_n_jobs

    return int(effective_n_jobs(ranker.n_jobs))
