"""Attributes of items: read from tables, arrays and mappings, put on one scale, and turned into log worths.

`PlackettLuce`, `BradleyTerry` and `BestWorst` use them: the log worth of an item is the sum of its attributes times
coefficients. Attributes may belong to items alone, or differ from ranking to ranking (prices, person x item).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwise._tables import counted
from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray
from rankwise._validation import check_numbers, data_frame, matrix_from_columns, shortlist
from rankwise.aggregation import _attributes_jit
from rankwise.aggregation._likelihood import Moments

_WHAT = (
    "item_features takes one row per item and one column per attribute, an array of shape (n_rankings, n_items, "
    "n_attributes), or a dictionary from names to values of shape (n_items,) or (n_rankings, n_items)"
)


class ItemFeatures(NamedTuple):
    """Attributes of items: (n_items, n_attributes), or (n_rankings, n_items, n_attributes) where rankings differ."""

    values: FloatArray
    names: tuple[str, ...]

    @property
    def by_ranking(self) -> bool:
        """Whether the attributes of an item differ from ranking to ranking."""
        return self.values.ndim == 3


class Standardized(NamedTuple):
    """Attributes of mean 0 and variance 1 over the items that are compared.

    A coefficient of a standardized attribute is ``scale`` times that of the attribute itself.
    """

    values: FloatArray
    scale: FloatArray


def interactions(X: ArrayLike, item_features: Any, *, main: bool = True) -> dict[str, FloatArray]:
    """Products of what is known about people and attributes of items, as attributes that differ between rankings.

    Parameters
    ----------
    X : array-like of shape (n_rankings, n_features)
        Numbers about the people, one row per ranking; names come from a data frame, else they are x0, x1, ...
    item_features : array-like of shape (n_items, n_attributes), data frame or dict
        Attributes of the items, as `PlackettLuce.fit` takes them.
    main : bool, default=True
        Whether to include the attributes of the items themselves. (Features of people alone say nothing about choices:
        they are the same for all items.)

    Returns
    -------
    dict
        From names, such as "price" and "age:price", to arrays of shape (n_items,) or (n_rankings, n_items), ready for
        ``fit(..., item_features=...)``.

    Examples
    --------
    >>> from rankwise.aggregation import interactions
    >>> both = interactions([[20.0], [60.0]], {"price": [1.0, 3.0]})
    >>> both["x0:price"]
    array([[ 20.,  60.],
           [ 60., 180.]])
    """
    people, names = _table(X, "X", "x")
    if not np.isfinite(people).all():
        row, column = np.argwhere(~np.isfinite(people))[0]
        raise ValueError(f"X has no number for {names[column]} in row {row}; fill it in, or drop the ranking")
    features = read_item_features(item_features)
    spread = features.values if features.by_ranking else features.values[np.newaxis]
    if features.by_ranking and len(spread) != len(people):
        raise ValueError(f"X has {len(people)} rows and item_features {len(spread)} rankings; give one row for each")
    found = {name: features.values[..., a] for a, name in enumerate(features.names)} if main else {}
    products = {
        f"{person}:{name}": people[:, p, np.newaxis] * spread[:, :, a]
        for p, person in enumerate(names)
        for a, name in enumerate(features.names)
    }
    return found | products


def read_item_features(item_features: Any, items: Sequence[Hashable] | None = None) -> ItemFeatures:
    """Attributes of any form as an array with names; rows of a pandas frame that name the items are put in order."""
    if isinstance(item_features, ItemFeatures):
        return item_features
    if isinstance(item_features, Mapping):
        return _from_mapping(item_features)
    if np.ndim(item_features) == 3 and data_frame(item_features, "item_features") is None:
        values = check_numbers("item_features", item_features)
        return ItemFeatures(values, tuple(f"z{a}" for a in range(values.shape[2])))
    values, names = _table(item_features, "item_features", "z")
    index = getattr(item_features, "index", None)
    if items is not None and index is not None and not isinstance(item_features, list | tuple):
        rows = [label.item() if isinstance(label, np.generic) else label for label in index]
        if rows != list(range(len(rows))) and rows != list(items):
            if len(rows) != len(items) or set(rows) != set(items):
                raise ValueError(
                    f"the rows of item_features are named {shortlist(rows)}, but the items are "
                    f"{shortlist(list(items))}; name the rows alike, or use reset_index(drop=True) if they are in order"
                )
            place = {name: row for row, name in enumerate(rows)}
            values = values[[place[item] for item in items]]
    return ItemFeatures(values, names)


def features_by_name(
    item_features: Any, names: tuple[str, ...], items: Sequence[Hashable] | None = None
) -> ItemFeatures:
    """Attributes in the order of those of a fit: by name, or by column where either has no names."""
    features = read_item_features(item_features, items)
    # Arrays name their columns z0, z1, ..., and then only the order counts.
    unnamed = tuple(f"z{a}" for a in range(len(names)))
    if features.names == names or (len(features.names) == len(names) and unnamed in (features.names, names)):
        return features
    if set(features.names) != set(names):
        raise ValueError(
            f"item_features has {counted(len(features.names), 'attribute')} ({shortlist(features.names)}), but the fit "
            f"had {len(names)}: {shortlist(names)}; give the same"
        )
    return ItemFeatures(features.values[..., [features.names.index(name) for name in names]], names)


def check_item_features(
    item_features: Any, items: Sequence[Hashable], present: BoolArray, n_rankings: int
) -> ItemFeatures:
    """Attributes for these items and rankings; numbers may be missing only where an item is not compared.

    Parameters
    ----------
    item_features : see `read_item_features`
        The attributes.
    items : sequence of hashable
        Names of the items.
    present : ndarray of bool, of shape (n_rankings, n_items)
        Which items each ranking compares.
    n_rankings : int
        How many rankings there are.

    Returns
    -------
    ItemFeatures
        With 0 in place of numbers that are missing and not needed.
    """
    features = read_item_features(item_features, items)
    values = features.values
    finite = np.isfinite(values)
    wanted = (n_rankings, len(items)) if features.by_ranking else (len(items),)
    if values.shape[:-1] != wanted:
        found = " x ".join(map(str, values.shape[:-1]))
        raise ValueError(
            f"item_features has attributes for {found} {'rankings x items' if features.by_ranking else 'items'}, but "
            f"there are {' x '.join(map(str, wanted))}. {_WHAT}"
        )
    if not values.shape[-1]:
        raise ValueError(f"item_features has no attributes. {_WHAT}")
    if finite.all():
        return features
    needed = present if features.by_ranking else np.asarray(present.any(axis=0))
    bad = needed[..., np.newaxis] & ~finite
    if bad.any():
        *where, a = np.argwhere(bad)[0]
        row = f" in ranking {where[0]}" if features.by_ranking else ""
        raise ValueError(
            f"item_features has no number for {features.names[a]} of item {items[where[-1]]!r}{row}; fill it in, or "
            "leave the item out of the rankings"
        )
    if not features.by_ranking:
        unknown = [item for item, known in zip(items, np.asarray(finite.all(axis=1)), strict=True) if not known]
        raise ValueError(
            f"item_features lacks numbers for {shortlist(unknown)}, which nobody ranked; fill them in, or drop the "
            "items (Rankings.select)"
        )
    return ItemFeatures(np.where(finite, values, 0.0), features.names)


def standardized(values: FloatArray, count: FloatArray) -> Standardized:
    """Attributes of items with mean 0 and variance 1, by how often each item is compared."""
    total = max(float(count.sum()), 1e-300)
    center = count @ values / total
    scale = _scale(np.sqrt(count @ (values - center) ** 2 / total), np.abs(center))
    return Standardized((values - center) / scale, scale)


def standardized_by_ranking(
    values: FloatArray, row_start: IntArray, order: IntArray, weights: FloatArray
) -> Standardized:
    """Attributes that differ between rankings, one row for each item of each ranking in the order of the choices.

    They have mean 0 over the items of each ranking, which changes no probability, and variance 1 over all.
    """
    counts = np.diff(row_start)
    flat = np.ascontiguousarray(values[np.repeat(np.arange(len(weights)), counts), order])
    largest, squares = _attributes_jit.center_rows(row_start, weights, flat)
    scale = _scale(np.sqrt(squares / max(float(weights @ counts), 1e-300)), largest)
    flat /= scale
    return Standardized(flat, scale)


def _scale(deviation: FloatArray, magnitude: FloatArray) -> FloatArray:
    """Standard deviations; 1 for attributes that do not vary, up to rounding."""
    return np.where(deviation > 1e-12 * magnitude, np.where(deviation > 0, deviation, 1.0), 1.0)


def linear(moments: Moments, values: FloatArray) -> Moments:
    """Moments in (coefficients, other parameters), given those in (log worths, other parameters).

    Parameters
    ----------
    moments : callable
        See `rankwise.aggregation._likelihood.Moments`.
    values : ndarray of shape (n_items, n_attributes)
        Standardized attributes.

    Returns
    -------
    callable
    """
    d = values.shape[1]

    def chained(theta: FloatArray, with_information: bool) -> tuple[float, FloatArray, FloatArray]:
        value, gradient, information = moments(np.concatenate([values @ theta[:d], theta[d:]]), with_information)
        k = len(values)
        slope = np.concatenate([values.T @ gradient[:k], gradient[k:]])
        return value, slope, linear_squares(information, values) if with_information else information

    return chained


def linear_squares(matrix: FloatArray, values: FloatArray) -> FloatArray:
    """Information or squared scores in (coefficients, other parameters), given those in (log worths, others)."""
    k = len(values)
    half = np.vstack([values.T @ matrix[:k], matrix[k:]])
    return np.hstack([half[:, :k] @ values, half[:, k:]])


def _from_mapping(item_features: Mapping[Any, Any]) -> ItemFeatures:
    if not item_features:
        raise ValueError(f"item_features has no attributes. {_WHAT}")
    columns = [check_numbers(f"item_features[{name!r}]", values) for name, values in item_features.items()]
    names = tuple(map(str, item_features))
    for name, column in zip(names, columns, strict=True):
        if column.ndim not in (1, 2):
            raise ValueError(f"item_features[{name!r}] has {column.ndim} dimensions. {_WHAT}")
    if len({column.shape[-1] for column in columns}) > 1 or len({len(c) for c in columns if c.ndim == 2}) > 1:
        shapes = ", ".join(f"{name} {column.shape}" for name, column in zip(names, columns, strict=True))
        raise ValueError(f"the attributes of item_features have different shapes: {shapes}. {_WHAT}")
    return ItemFeatures(np.stack(np.broadcast_arrays(*columns), axis=-1).astype(np.float64), names)


def _table(values: Any, name: str, prefix: str) -> tuple[FloatArray, tuple[str, ...]]:
    """A matrix of numbers and the names of its columns."""
    frame = data_frame(values, name)
    if frame is not None:
        import narwhals as nw

        columns = [column.cast(nw.Float64) if column.dtype == nw.Boolean else column for column in frame.iter_columns()]
        for column in columns:
            if not column.dtype.is_numeric():
                raise ValueError(
                    f"column {column.name} of {name} does not hold numbers; encode it as numbers (a column of 0 and 1 "
                    "for each category but one)"
                )
        matrix = matrix_from_columns(frame.columns, columns, name).astype(np.float64)
        return matrix.reshape(len(frame), len(columns)), tuple(map(str, frame.columns))
    matrix = check_numbers(name, values)
    if matrix.ndim != 2:
        shape = _WHAT if name == "item_features" else f"{name} takes one row per ranking and one column per feature"
        raise ValueError(f"{name} has {matrix.ndim} dimension(s). {shape}")
    return matrix, tuple(f"{prefix}{a}" for a in range(matrix.shape[1]))
