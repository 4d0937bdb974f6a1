"""Ids of queries and documents."""

from __future__ import annotations

import pytest

from rankwise.data.formats.ids import check_ids


def test_ids_fit_one_field():
    assert check_ids([1, "a"], name="qid") == ["1", "a"]
    for bad in ("", " a", "a b", "a\u2003b", "\ufeffa", "a\0", "\ud800", "a\n", "x" * 600):
        with pytest.raises(ValueError, match=r"qid\[0\]"):
            check_ids([bad], name="qid")
    with pytest.raises(ValueError, match="no '#'"):
        check_ids(["a#"], name="qid", forbidden="#")
