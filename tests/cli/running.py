"""Commands run within this process, which is far quicker than a process each, and a survey to run them on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner

from rankwise.cli.app import app

CITIES = ("Rome", "Bonn", "Oslo")


def run(*arguments: str | Path, stdin: str | bytes | None = None) -> Any:
    """What a command prints (``stdout``, ``stderr``) and its ``exit_code``; unexpected errors are raised."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin, env={"COLUMNS": "200"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def run_json(*arguments: str | Path, stdin: str | bytes | None = None) -> Any:
    """What a command prints with --json."""
    done = run(*arguments, "--json", stdin=stdin)
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def problem(*arguments: str | Path, stdin: str | bytes | None = None, code: int = 1) -> str:
    """The one line in which a problem ends, or for code 2 the words about the mistake."""
    done = run(*arguments, stdin=stdin)
    assert done.exit_code == code, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    if code == 1:
        assert "unexpected problem" not in done.stderr
        first, *commands = done.stderr.splitlines()
        assert first.startswith("rankwise: ")
        assert all(command.startswith("  rankwise ") for command in commands)  # to choose from
        return str(done.stderr)
    return " ".join(done.stderr.replace("│", " ").split())


def write_survey(path: Path, n: int = 60) -> Path:
    """People of an age and a city, some unknown, and how they rank three drinks, one left out now and then.

    Romans above 50 like tea best, other Romans milk; elsewhere it is juice.
    """
    rng = np.random.default_rng(0)
    lines = ["age,city,name,rank_tea,rank_milk,rank_juice"]
    for row in range(n):
        age, city = int(rng.integers(18, 80)), CITIES[row % 3]
        worth = {"Rome": (age / 25, 2, 0)}.get(city, (0, 1, 2)) + 0.1 * rng.normal(size=3)
        places = [str(place) for place in 1 + np.argsort(np.argsort(-worth))]
        if row % 10 == 4:
            places[2] = ""
        lines.append(f"{'' if row % 20 == 7 else age},{'' if row % 30 == 8 else city},n{row},{','.join(places)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
