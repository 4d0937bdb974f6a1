from __future__ import annotations

import numpy as np
import pytest

from rankwise._validation import check_generator


@pytest.mark.parametrize("seed", [0, 7, np.int32(7), np.uint64(7), 2**80])
def test_a_seed_gives_the_same_numbers_every_time(seed):
    first, second = check_generator(seed), check_generator(seed)
    assert isinstance(first, np.random.Generator)
    assert np.array_equal(first.random(5), second.random(5))


def test_different_seeds_differ():
    assert not np.array_equal(check_generator(1).random(5), check_generator(2).random(5))


def test_none_is_fresh_each_time_and_leaves_the_global_state_alone():
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    assert not np.array_equal(check_generator(None).random(5), check_generator(None).random(5))
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002


def test_a_generator_is_used_as_it_is():
    generator = np.random.default_rng(0)
    assert check_generator(generator) is generator


def test_a_random_state_seeds_a_generator_and_advances():
    legacy = np.random.RandomState(0)
    first, second = check_generator(legacy), check_generator(legacy)
    assert not np.array_equal(first.random(5), second.random(5))
    again = check_generator(np.random.RandomState(0))
    assert np.array_equal(check_generator(np.random.RandomState(0)).random(5), again.random(5))


@pytest.mark.parametrize("seed", [-1, np.int64(-3)])
def test_negative_seeds_are_refused(seed):
    with pytest.raises(ValueError, match=f"random_state is {seed}, but a seed must not be negative"):
        check_generator(seed)


@pytest.mark.parametrize(
    ("wrong", "kind"), [(True, "bool"), (np.True_, "bool"), (1.0, "float"), ("7", "str"), ([7], "list")]
)
def test_other_types_are_refused_by_name(wrong, kind):
    with pytest.raises(TypeError, match=f"random_state is of type {kind}; give None, an integer seed"):
        check_generator(wrong)


def test_a_salt_changes_the_numbers_of_a_seed_alone():
    plain = check_generator(7).random(5)
    assert not np.array_equal(plain, check_generator(7, salt="a").random(5))
    assert not np.array_equal(check_generator(7, salt="a").random(5), check_generator(7, salt="b").random(5))
    assert np.array_equal(check_generator(2**80, salt="a").random(5), check_generator(2**80, salt="a").random(5))
    generator = np.random.default_rng(0)
    assert check_generator(generator, salt="a") is generator
