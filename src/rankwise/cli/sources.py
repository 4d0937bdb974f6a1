"""What ``rankwise quickstart`` looks at: a data set by its name, or a file of rankings by its path."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rankwise.data import Rankings, read_rankings
from rankwise.datasets import load_label_ranking
from rankwise.exceptions import RankwiseFormatError

_FOLDER_VARIABLE = "RANKWISE_DATA"
# A text of more values than this is a name or a comment rather than a category.
_MOST_CATEGORIES = 20


@dataclass(frozen=True)
class Source:
    """Rankings, the features they may depend on (perhaps none), and what the user should know of both.

    Categorical columns hold texts, None where missing; the others hold numbers, NaN where missing.
    """

    rankings: Rankings
    X: npt.NDArray[Any]
    feature_names: list[str]
    notes: list[str]
    categorical: tuple[int, ...] = ()


def load(name: str) -> Source:
    """Load a data set by name; where none has that name, read the file.

    Parameters
    ----------
    name : str
        A data set that `rankwise.datasets.load_label_ranking` knows, or the path of a file that
        `rankwise.data.read_rankings` reads.

    Returns
    -------
    Source
        Numbers beside the rankings of a file are features; so are texts of few values, as categories.
    """
    try:
        return _data_set(name)
    except RankwiseFormatError:
        raise
    except ValueError as error:  # no data set has this name
        if Path(name).is_file():
            return _file(name)
        no_file = "Nor is there such a file: give the path to yours, as --data survey.csv"
        raise ValueError(". ".join([str(error), *_wrong_folder(), no_file])) from None


# ---------------------------------------------------------------------------------------------------------------


def _data_set(name: str) -> Source:
    notes = _wrong_folder()
    # The shipped data sets need no folder, so a wrong one must not keep anybody from them.
    bunch = load_label_ranking(name, data_home="" if notes else None)
    return Source(bunch.y, np.asarray(bunch.X), [str(feature) for feature in bunch.feature_names], notes)


def _wrong_folder() -> list[str]:
    folder = os.environ.get(_FOLDER_VARIABLE)
    if not folder or Path(folder).is_dir():
        return []
    return [f"{_FOLDER_VARIABLE} names {folder}, which is no folder, so only the shipped data sets are known"]


def _file(path: str) -> Source:
    rankings, covariates = read_rankings(path, return_covariates=True)
    features = {name: column for name, column in covariates.items() if _is_number(column) or _repeats(column)}
    left_out = [name for name in covariates if name not in features]
    notes = [f"texts that seldom repeat, left out of the features: {', '.join(left_out)}"] if left_out else []
    X = np.column_stack(list(features.values())) if features else np.empty((len(rankings), 0))
    categorical = tuple(number for number, column in enumerate(features.values()) if not _is_number(column))
    return Source(rankings, X, list(features), notes, categorical)


def _is_number(column: npt.NDArray[Any]) -> bool:
    return column.dtype.kind == "f"


def _repeats(column: npt.NDArray[Any]) -> bool:
    """Whether a text looks like a category, and not like a name or a comment."""
    return len(set(column) - {None}) <= min(_MOST_CATEGORIES, len(column) // 2)
