"""Every transformer names what comes out, and gives frames where these are wanted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone

from rankwise import Rankings
from rankwise.embeddings import (
    GraphCutEmbedding,
    KemenyEmbedding,
    PositionEmbedding,
    SubmodularEmbedding,
    concave_of_size,
)
from rankwise.label_ranking import RankingTree
from rankwise.label_ranking.additive_features import AdditiveFeatures
from rankwise.label_ranking.numeric import NumericFeatures
from rankwise.screening import BARTSelector, ConcordanceSelector, ScoreSelector, SymbolicFeatures
from tests.label_ranking.estimators import RANKERS
from tests.public import public_classes

ITEMS = ["tea", "milk", "juice"]
INPUTS = ["age", "income", "height"]
RNG = np.random.default_rng(0)
RANKINGS = pd.DataFrame(RNG.permuted(np.tile([1.0, 2.0, 3.0], (30, 1)), axis=1), columns=ITEMS, index=range(100, 130))
NUMBERS = pd.DataFrame(RNG.uniform(1, 2, (30, 3)), columns=INPUTS, index=range(100, 130))
MIXED = pd.DataFrame({"age": NUMBERS["age"], "city": ["Oslo", "Rome", None] * 10})
TARGET = (NUMBERS["age"] + NUMBERS["income"]).to_numpy()

PAIRS = ["tea > milk", "tea > juice", "milk > juice"]
HINGES = [f"{name} above {share}%" for share in (20, 40, 60, 80) for name in INPUTS]
#: a transformer, what it takes, and the names of what comes out
CASES = [
    (PositionEmbedding(), RANKINGS, ITEMS),
    (KemenyEmbedding(), RANKINGS, PAIRS),
    (GraphCutEmbedding(random_state=0), RANKINGS, ITEMS),
    (SubmodularEmbedding(concave_of_size(np.sqrt), random_state=0), RANKINGS, ITEMS),
    (SymbolicFeatures("b", binary=("+",)), NUMBERS[["age", "income"]], ["2*age", "age + income", "2*income"]),
    (ConcordanceSelector(1), NUMBERS, None),
    (ConcordanceSelector(1, features=SymbolicFeatures("b", binary=("+",))), NUMBERS, ["age + income"]),
    (ScoreSelector(k=2), NUMBERS, ["age", "income"]),
    (AdditiveFeatures(), NUMBERS, [*INPUTS, *[f"{name}^2" for name in INPUTS], *HINGES]),
    (NumericFeatures(), MIXED, ["age", "city = Oslo", "city = Rome", "city = missing"]),
]


def test_every_transformer_is_here():
    found = {kind for kind in public_classes() if hasattr(kind, "transform")}
    # one needs an extra, and is a selector as the others are
    assert found - {type(transformer) for transformer, _, _ in CASES} == {BARTSelector}


@pytest.mark.parametrize(("transformer", "table", "names"), CASES, ids=lambda part: type(part).__name__)
def test_outputs_have_names(transformer, table, names):
    plain = clone(transformer).fit_transform(table, TARGET)
    assert isinstance(plain, np.ndarray)
    fitted = clone(transformer).set_output(transform="pandas").fit(table, TARGET)
    found = fitted.get_feature_names_out()
    assert found.dtype == object
    assert names is None or found.tolist() == names
    assert fitted.get_feature_names_out(list(table.columns)).tolist() == found.tolist()
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        fitted.get_feature_names_out([f"other_{name}" for name in table.columns])
    for frame in (
        fitted.transform(table),
        clone(transformer).set_output(transform="pandas").fit_transform(table, TARGET),
    ):
        assert isinstance(frame, pd.DataFrame)
        assert frame.columns.tolist() == found.tolist()
        assert frame.index.tolist() == table.index.tolist()
        np.testing.assert_array_equal(frame.to_numpy(), plain)
    frame = fitted.set_output(transform="polars").transform(table)
    assert isinstance(frame, pl.DataFrame)
    assert frame.columns == found.tolist()
    np.testing.assert_array_equal(frame.to_numpy(), plain)


@pytest.mark.parametrize(("transformer", "table", "names"), CASES[:-1], ids=lambda part: type(part).__name__)
def test_arrays_have_numbered_names(transformer, table, names):
    fitted = clone(transformer).fit(table.to_numpy(), TARGET)
    found = fitted.get_feature_names_out()
    renamed = fitted.get_feature_names_out(list(table.columns))
    given = {f"x{i}": name for i, name in enumerate(table.columns)}
    assert names is None or renamed.tolist() == names
    assert all(any(number in name for number in given) for name in found)
    frame = fitted.set_output(transform="pandas").transform(table.to_numpy())
    assert frame.columns.tolist() == found.tolist()


@pytest.mark.parametrize("embedding", [case[0] for case in CASES[:4]], ids=lambda embedding: type(embedding).__name__)
def test_embeddings_know_the_items_by_name(embedding):
    votes = Rankings.from_frame(RANKINGS)
    fitted = clone(embedding).set_output(transform="pandas").fit(votes)
    assert fitted.transform(votes).columns.tolist() == fitted.get_feature_names_out().tolist()
    np.testing.assert_array_equal(fitted.transform(votes), clone(embedding).fit_transform(RANKINGS))
    with pytest.raises(ValueError, match=r"the items are juice, milk, tea, but .* was fitted to tea, milk, juice"):
        fitted.transform(votes.select(ITEMS[::-1]))


@pytest.mark.parametrize("output", ["pandas", "polars"])
@pytest.mark.parametrize("ranker", [*RANKERS, RankingTree("position")], ids=lambda ranker: type(ranker).__name__)
def test_rankers_do_not_care_which_frames_transformers_give(ranker, output):
    expected = clone(ranker).fit(NUMBERS, RANKINGS).predict(NUMBERS)
    with config_context(transform_output=output):
        np.testing.assert_array_equal(clone(ranker).fit(NUMBERS, RANKINGS).predict(NUMBERS), expected)
