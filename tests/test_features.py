"""Tables of every make: numbers, categories, missing values, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import rankwise
from rankwise._features import set_feature_names
from rankwise.trees import LeastSquaresForest, LeastSquaresTree
from tests.trees.test_grow import make_data

COLOURS = ["red", "green", None, "blue", "green", "red", "blue", None]
SIZES = [1.0, 2.0, 3.0, None, 2.0, 1.0, 3.0, 5.0]
FLAGS = [True, False, True, True, False, None, False, True]
Y = [1.0, 2.0, 9.0, 4.0, 2.0, 1.0, 4.0, 9.0]

TABLES = {
    "pandas objects": lambda c, s, f: pd.DataFrame({"colour": c, "size": s, "flag": pd.Series(f, dtype=object)}),
    "pandas categories": lambda c, s, f: pd.DataFrame(
        {"colour": pd.Categorical(c), "size": s, "flag": pd.Series(f, dtype="boolean")}
    ),
    "pandas strings": lambda c, s, f: pd.DataFrame(
        {
            "colour": pd.Series(c, dtype="string"),
            "size": pd.Series(s, dtype="Float64"),
            "flag": pd.Series(f, dtype="boolean"),
        }
    ),
    "polars strings": lambda c, s, f: pl.DataFrame({"colour": c, "size": s, "flag": f}),
    "polars categories": lambda c, s, f: pl.DataFrame(
        {"colour": pl.Series(c, dtype=pl.Categorical), "size": s, "flag": f}
    ),
    "polars enums": lambda c, s, f: pl.DataFrame(
        {"colour": pl.Series(c, dtype=pl.Enum(["red", "green", "blue", "grey"])), "size": s, "flag": f}
    ),
    "arrow": lambda c, s, f: pl.DataFrame({"colour": c, "size": s, "flag": f}).to_arrow(),
}


@pytest.mark.parametrize("make", TABLES)
@pytest.mark.parametrize("growth", ["best", "level"])
def test_categories_of_every_table(make, growth):
    if make == "arrow":
        pytest.importorskip("pyarrow")
    table = TABLES[make](COLOURS, SIZES, FLAGS)
    model = LeastSquaresTree(growth=growth).fit(table, Y)
    assert model._encoder.is_categorical.tolist() == [True, False, True]
    assert model.feature_categories_[:2] == [["blue", "green", "red"], None]
    np.testing.assert_allclose(model.predict(table), Y)
    only_colour = LeastSquaresTree(max_depth=2, growth=growth).fit(table, Y)
    codes = np.array([[np.nan if c is None else ["blue", "green", "red"].index(c) for c in COLOURS]], dtype=float)
    numbers = np.column_stack([codes[0], np.array(SIZES, float), np.array([np.nan if f is None else f for f in FLAGS])])
    same = LeastSquaresTree(max_depth=2, growth=growth, categorical_features=[0, 2]).fit(numbers, Y)
    np.testing.assert_allclose(only_colour.predict(table), same.predict(numbers))


@pytest.mark.parametrize("make", ["pandas objects", "pandas strings", "polars strings"])
def test_new_categories_are_missing_values(make):
    model = LeastSquaresTree().fit(TABLES[make](COLOURS, SIZES, FLAGS), Y)
    new = TABLES[make](["mauve", None], [2.0, 2.0], [True, True])
    assert np.ptp(model.predict(new)) == 0


def test_which_columns_are_categories():
    X, y = np.array([[3.0, 1.0], [1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]), [5.0, 1.0, 5.0, 5.0]
    frame = pd.DataFrame(X, columns=["a", "b"])
    expected = LeastSquaresTree(categorical_features=[0], max_depth=1).fit(X, y)
    assert expected.tree_.set_of[0] == 0
    for columns, table in (([-2], X), ([True, False], X), (["a"], frame), (np.array(["a"]), frame), ([0], frame)):
        model = LeastSquaresTree(categorical_features=columns, max_depth=1).fit(table, y)
        assert model._encoder.is_categorical.tolist() == [True, False]
        np.testing.assert_array_equal(model.predict(table), expected.predict(X))
    assert not LeastSquaresTree(categorical_features=[]).fit(X, y)._encoder.is_categorical.any()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([2], "names column 2, but X has columns 0 to 1"),
        ([-3], "names column -3, but X has columns 0 to 1"),
        ([True], r"has shape \(1,\), but X has 2 columns"),
        (["c"], "names 'c', but the columns of X are 'a', 'b'"),
    ],
)
def test_columns_that_are_not_there(columns, message):
    frame = pd.DataFrame([[1.0, 2.0], [2.0, 2.0]], columns=["a", "b"])
    with pytest.raises(ValueError, match=message):
        LeastSquaresTree(categorical_features=columns).fit(frame, [1.0, 2.0])


def test_names_without_a_frame():
    with pytest.raises(ValueError, match="names 'a', but the columns of X are '0'"):
        LeastSquaresTree(categorical_features=["a"]).fit([[1.0], [2.0]], [1.0, 2.0])


def test_text_that_is_not_said_to_be_categories():
    frame = pd.DataFrame({"town": ["Ulm", "Bonn"], "n": [1, 2]})
    with pytest.raises(ValueError, match="column town of X holds text; name it in categorical_features"):
        LeastSquaresTree(categorical_features=["n"]).fit(frame, [1.0, 2.0])


def test_categories_of_mixed_types():
    X = np.array([["a", 1], [1, 2], ["a", 3], [None, 4]], dtype=object)
    model = LeastSquaresTree(categorical_features=[0]).fit(X, [1.0, 2.0, 1.0, 3.0])
    np.testing.assert_allclose(model.predict(X), [1, 2, 1, 3])


@pytest.mark.parametrize("columns", [None, [0]])
@pytest.mark.parametrize("model", [LeastSquaresTree(), LeastSquaresForest(2)], ids=repr)
def test_what_is_refused(model, columns):
    X, y = make_data(n=20, d=2)
    model = model.set_params(categorical_features=columns)
    infinite = X.copy()
    infinite[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.fit(infinite, y)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(X, y).predict(infinite)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(X, np.where(y == y[0], np.inf, y))
    with pytest.raises(ValueError, match="X has 1 features, but"):
        model.fit(X, y).predict(X[:, :1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        model.fit(sp.csr_matrix(X), y)
    with pytest.raises(ValueError, match="2D"):
        model.fit(X[:, 0], y)
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        model.fit(X[:0], y[:0])


@pytest.mark.parametrize("make", ["pandas objects", "polars strings"])
def test_columns_in_another_order(make):
    table = TABLES[make](COLOURS, SIZES, FLAGS)
    model = LeastSquaresTree().fit(table, Y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[["size", "colour", "flag"]])


def test_constant_features_give_one_leaf():
    model = LeastSquaresTree().fit(np.ones((5, 2)), [1.0, 2.0, 3.0, 4.0, 5.0])
    assert model.get_n_leaves() == 1
    np.testing.assert_allclose(model.predict([[1.0, 1.0], [7.0, np.nan]]), [3, 3])
    assert LeastSquaresTree().fit(np.full((5, 2), np.nan), np.arange(5.0)).get_n_leaves() == 1


def test_numbers_in_a_column_of_objects_are_numbers():
    numbers = pd.DataFrame({"a": np.arange(20.0), "b": ["x", "y"] * 10})
    objects = numbers.astype({"a": object})
    y = np.arange(20.0) % 7
    one, two = LeastSquaresTree(max_depth=2).fit(numbers, y), LeastSquaresTree(max_depth=2).fit(objects, y)
    assert one.export_text() == two.export_text()


def test_dates_are_refused_with_the_cure():
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=4), "b": list("xyxy")})
    with pytest.raises(ValueError, match="column day of X holds dates or times; write them as numbers"):
        LeastSquaresTree().fit(frame, np.arange(4.0))


def test_features_of_an_array_can_be_named() -> None:
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    model = LeastSquaresTree().fit(X, y)
    with pytest.raises(ValueError, match="1 names are given, but there are 2 features"):
        set_feature_names(model, ["age"])
    set_feature_names(model, ["age", "size"])
    assert model.feature_names_in_.tolist() == ["age", "size"]


AGES = ["18 - 24", "25 - 34", "35 - 44", "45+"]


@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize("growth", ["best", "level"])
def test_ordered_categories_are_split_in_their_order(as_frame, growth, tmp_path):
    rows = [AGES[i % 4] for i in (2, 0, 3, 1, 0, 1, 2, 3)] + [None]
    # "18 - 24" and "35 - 44" are alike, which no split in order can use
    y = [1.0 if age in (AGES[0], AGES[2]) else 5.0 for age in rows]
    if as_frame:
        X, settings = pd.DataFrame({"age": pd.Categorical(rows, categories=AGES, ordered=True)}), {}
    else:
        X, settings = np.array(rows, dtype=object)[:, None], {"categorical_features": {-1: AGES}}
    model = LeastSquaresTree(max_depth=1, growth=growth, **settings).fit(X, y)
    assert model.feature_categories_ == [AGES]
    assert model._encoder.is_categorical.tolist() == [False]
    assert (model.tree_.set_of < 0).all()
    rankwise.save(model, tmp_path / "model")
    np.testing.assert_array_equal(rankwise.load(tmp_path / "model").predict(X), model.predict(X))
    codes = np.array([[np.nan if age is None else AGES.index(age)] for age in rows])
    numbers = LeastSquaresTree(max_depth=1, growth=growth).fit(codes, y)
    np.testing.assert_array_equal(numbers.predict(codes), model.predict(X))
    unordered = LeastSquaresTree(max_depth=1, growth=growth, categorical_features=[0]).fit(codes, y)
    assert np.abs(unordered.predict(codes)[:-1] - y[:-1]).max() == 0 < np.abs(model.predict(X) - y)[:-1].max()


def test_conditions_on_ordered_categories_name_the_last_one_on_the_left():
    X = np.array([[age] for age in AGES * 3], dtype=object)
    model = LeastSquaresTree(max_depth=1, categorical_features={0: AGES}).fit(X, [0.0, 0.0, 1.0, 1.0] * 3)
    assert [line.split(":")[0] for line in model.export_text().splitlines()] == [
        "|-- x0 <= 25 - 34",
        "|-- x0 > 25 - 34",
    ]
