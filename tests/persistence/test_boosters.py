"""LightGBM's text is checked before LightGBM sees it."""

from __future__ import annotations

import re

import numpy as np
import pytest

import rankwise
from rankwise import RankwiseFormatError
from rankwise.ltr import LambdaMART
from rankwise.persistence.boosters import booster_state, check_booster_text
from tests.persistence.damage import forge, record_of

lightgbm = pytest.importorskip("lightgbm")

RNG = np.random.default_rng(0)
GRADE = RNG.integers(0, 4, 300)
CATEGORY = 40 * (GRADE % 2) + RNG.integers(0, 3, 300)
X = np.column_stack([CATEGORY, GRADE + RNG.normal(size=300), RNG.normal(size=300)])
X[::9, 2] = np.nan
QUERY = np.repeat(np.arange(30), 10)


@pytest.fixture(scope="module")
def ranker():
    settings = {"num_leaves": 5, "min_samples_leaf": 5, "categorical_features": [0], "random_state": 0}
    return LambdaMART(3, tree="leaf", **settings).fit(X, GRADE, qid=QUERY)


@pytest.fixture(scope="module")
def text(ranker):
    return booster_state(ranker.booster_.booster)["text"].tobytes().decode()


def test_the_text_holds_what_predicts_and_no_more(ranker, text):
    assert "num_cat=1\n" in text
    assert text.endswith("\nend of trees\n")
    assert "parameters" not in text
    booster = lightgbm.Booster(model_str=text)
    np.testing.assert_array_equal(booster.predict(X), ranker.booster_.booster.predict(X))
    np.testing.assert_array_equal(
        booster.feature_importance("gain"), ranker.booster_.booster.feature_importance("gain")
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("num_leaves=5", "num_leaves=6"),
        ("num_leaves=5", "num_leaves=50000000000000000000"),
        ("num_leaves=5", "num_leaves=-5"),
        ("num_leaves=5", "num_leaves=0"),
        ("num_leaves=5", "num_leaves=1"),
        ("num_leaves=5", "num_leaves="),
        (r"left_child=\S+", "left_child=77"),
        (r"left_child=\S+", "left_child=0"),
        (r"left_child=\S+", "left_child=-6"),
        (r"left_child=\S+", "left_child=-99999999999999999999"),
        (r"right_child=\S+", "right_child=-1"),
        (r"split_feature=\S+", "split_feature=3"),
        (r"split_feature=\S+", "split_feature=-1"),
        (r"leaf_value=\S+", "leaf_value=nan"),
        (r"leaf_value=\S+", "leaf_value=inf"),
        (r"leaf_value=\S+", "leaf_value=1e+999"),
        (r"leaf_value=\S+ ", "leaf_value="),
        (r"threshold=\S+", "threshold=1 2"),
        (r"cat_boundaries=\d+ \d+", "cat_boundaries=0 99"),
        (r"cat_boundaries=\d+ \d+", "cat_boundaries=1 2"),
        (r"cat_boundaries=.*\n", ""),
        (r"cat_threshold=\d+", "cat_threshold=4294967296"),
        ("num_cat=1", "num_cat=0"),
        ("num_cat=1", "num_cat=2"),
        (r"decision_type=\S+", "decision_type=12"),
        (r"decision_type=\S+", "decision_type=255"),
        ("is_linear=0", "is_linear=1"),
        (r"tree_sizes=\d+", "tree_sizes=1"),
        (r"tree_sizes=\d+", "tree_sizes=99999999999"),
        (r"tree_sizes=\d+ ", "tree_sizes="),
        ("max_feature_idx=2", "max_feature_idx=9"),
        ("max_feature_idx=2", "max_feature_idx=99999999999999999999"),
        ("num_class=1", "num_class=3"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=1000"),
        ("feature_names=", "feature_names=a "),
        (r"feature_infos=\S+", "feature_infos=[a:b]"),
        ("version=v4", "version=v4\nobjective=lambdarank"),
        ("version=v4", "version=v4\naverage_output"),
        ("Tree=1", "Tree=2"),
        ("end of trees\n", ""),
        ("end of trees\n", "end of trees\n\nparameters:\n[data: /etc/passwd]\nend of parameters\n"),
        ("^tree\n", "trees\n"),
        ("^tree\n", ""),
        ("shrinkage=", "leaf_const=1\nshrinkage="),
        ("\n", "\r\n"),
    ],
)
def test_texts_that_lightgbm_did_not_write_are_refused(before, after, text):
    changed = re.sub(before, lambda _: after, text, count=1)
    assert changed != text
    with pytest.raises(ValueError, match=r"\S"):
        check_booster_text(_with_right_sizes(changed) if "tree_sizes" not in before else changed)


def test_deep_trees_are_refused():
    """Recursions over levels would run out of stack."""
    n = 5001
    inner = n - 1
    lines = {
        "Tree": "0",
        "num_leaves": n,
        "num_cat": 0,
        "split_feature": [0] * inner,
        "split_gain": [1] * inner,
        "threshold": [0.5] * inner,
        "decision_type": [2] * inner,
        "left_child": [*range(1, inner), -1],
        "right_child": range(-2, -n - 1, -1),
        "leaf_value": [0] * n,
        "leaf_weight": [0] * n,
        "leaf_count": [1] * n,
        "internal_value": [0] * inner,
        "internal_weight": [0] * inner,
        "internal_count": [1] * inner,
        "is_linear": 0,
        "shrinkage": 1,
    }
    rows = (f"{k}={v if isinstance(v, str | int) else ' '.join(map(str, v))}\n" for k, v in lines.items())
    head = "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=0\n"
    head += "feature_names=a\nfeature_infos=[0:1]\ntree_sizes=0\n\n"
    with pytest.raises(ValueError, match="more than 4096 levels"):
        check_booster_text(_with_right_sizes(head + "".join(rows) + "\n\nend of trees\n"))


def test_random_changes_are_refused_or_predict(text):
    """What gets past the check gets past LightGBM."""
    rng = np.random.default_rng(0)
    letters = "0123456789-. =\nae+:[]"
    passed = 0
    for _ in range(200):
        place = int(rng.integers(len(text)))
        changed = text[:place] + letters[rng.integers(len(letters))] + text[place + int(rng.integers(2)) :]
        changed = _with_right_sizes(changed)
        try:
            check_booster_text(changed)
        except ValueError:
            continue
        booster = lightgbm.Booster(model_str=changed)
        assert np.isfinite(booster.predict(X)).all()
        assert booster.predict(X, pred_contrib=True).shape == (300, 4)
        passed += 1
    assert 25 < passed < 175  # digits of thresholds and values change nothing that a check could see


def test_a_forged_file_gets_the_one_error(ranker, tmp_path):
    path = tmp_path / "model.rankwise"
    rankwise.save(ranker, path)

    def forged(manifest, arrays):
        place = record_of(manifest, "Booster")["state"]["text"]["array"]
        wrong = arrays[place].tobytes().replace(b"split_feature=", b"split_feature=9")
        arrays[place] = np.frombuffer(wrong, dtype=np.uint8)

    forge(path, forged)
    with pytest.raises(
        RankwiseFormatError, match=r"model\.rankwise: no model can be read .*trees do not have the sizes"
    ):
        rankwise.load(path)


def _with_right_sizes(text):
    """The text with sizes of trees that are right again, so that other checks are tried."""
    trees = re.split(r"^(?=Tree=)", text, flags=re.MULTILINE)[1:]
    if trees:
        trees[-1] = trees[-1].removesuffix("end of trees\n")
    return re.sub("tree_sizes=.*", "tree_sizes=" + " ".join(str(len(tree)) for tree in trees), text, count=1)
