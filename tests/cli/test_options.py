"""Options and files that commands share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import typer

from rankwise.cli.in_and_out import check_writable
from rankwise.cli.options import settings


def test_settings_are_literals_or_text() -> None:
    pairs = ["depth=3", "share=0.5", "growth=level", "honest=True", "seed=none", "names=('a', 'b')", "empty=", "x=a=b"]
    assert settings(pairs) == {
        "depth": 3,
        "share": 0.5,
        "growth": "level",
        "honest": True,
        "seed": None,
        "names": ("a", "b"),
        "empty": "",
        "x": "a=b",
    }
    assert settings(None) == {}


@pytest.mark.parametrize("pair", ["depth", "=3", ""])
def test_settings_need_a_name_and_a_value(pair: str) -> None:
    with pytest.raises(typer.BadParameter, match="NAME=VALUE"):
        settings([pair])


def test_the_example_is_one_of_the_option() -> None:
    with pytest.raises(typer.BadParameter, match="as in weights=votes"):
        settings(["foo"], "--read")
    with pytest.raises(typer.BadParameter, match="as in max_depth=3"):
        settings(["foo"])


def test_what_can_be_written_is_no_problem(tmp_path: Path) -> None:
    data, model = tmp_path / "data.csv", tmp_path / "model"
    data.touch()
    check_writable(model, str(data), "-", "iris")
    check_writable(None, str(data))
    assert not model.exists()


@pytest.mark.parametrize("inputs", [["data.csv"], ["iris", "data.csv"], ["./data.csv"]])
def test_no_input_is_replaced(inputs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").touch()
    os.link("data.csv", "same.csv")
    for out in ("data.csv", "same.csv"):
        with pytest.raises(OSError, match="would replace the data"):
            check_writable(Path(out), *inputs)
