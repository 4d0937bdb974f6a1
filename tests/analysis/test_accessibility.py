"""Reports meet the rules of WCAG AA, as axe-core in headless Chromium sees them; and they fit a phone."""

from __future__ import annotations

import html
import importlib.util
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwise import Rankings, analyze
from rankwise.aggregation import sample_mallows
from rankwise.analysis import Analysis

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = importlib.util.find_spec("axe_core_python")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: apt-get install chromium"),
    pytest.mark.skipif(AXE is None, reason="there is no axe-core: pip install axe-core-python"),
]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
DARK = "@media (prefers-color-scheme: dark)"
PHONE = 390
NAN = float("nan")


def survey() -> Analysis:
    rng = np.random.default_rng(0)
    ages = rng.choice(["18-24", "25-49", "50 or older"], 120)
    young, old = np.arange(1.0, 7.0), np.arange(6.0, 0.0, -1.0)
    rows = np.vstack(
        [sample_mallows(young if age < "3" else old, 0.8, n=1, random_state=i) for i, age in enumerate(ages)]
    )
    items = ["Price", "Battery life", "Camera quality", "Screen size", "Brand & name", "Weight"]
    columns = {"How old are you?": ages.astype(object), "Hours per day": rng.normal(3, 1, 120)}
    return analyze(Rankings(rows, items=items), columns, name="phones.csv", notes=["one row was blank"], random_state=0)


def jury() -> Analysis:
    rows = sample_mallows(np.arange(1.0, 6.0), 0.5, n=12, random_state=0)
    return analyze(Rankings(rows, items=["Rioja", "Barolo", "Chianti", "Merlot", "Malbec"]), random_state=0)


KINDS: dict[str, Callable[[], Analysis]] = {
    "survey": survey,
    "jury": jury,
    "tied": lambda: analyze([[1, 1, 2], [1, 2, 2], [2, 1, 1]] * 5, random_state=0),
    "incomplete": lambda: analyze([[1, 2, NAN, 3], [NAN, 1, 2, NAN], [2, NAN, 1, 3]] * 5, random_state=0),
    "tiny": lambda: analyze([[1, 2, 3], [2, 1, 3]], random_state=0),
}


@pytest.fixture(scope="module", params=list(KINDS))
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    KINDS[request.param]().save_html(path)
    return path.read_text(encoding="utf-8")


def seen_by_chromium(page: str, script: str, folder: Path, *, width: int = 1280) -> Any:
    """What a script in the page hands over with ``done(...)``, with everything unfolded."""
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page).replace("<details>", "<details open>")
    listener = "function done(answer) { const p = document.createElement('pre'); p.id = 'answer'; "
    listener += "p.textContent = JSON.stringify(answer); document.body.append(p) }"
    page = page.replace("</body>", f"<script>{listener}</script><script>{script}</script></body>")
    (folder / "page.html").write_text(page, encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=60000", "--hide-scrollbars"]
    command = [str(CHROMIUM), *options, f"--window-size={width},1000", f"--user-data-dir={folder / 'profile'}"]
    command += ["--dump-dom", (folder / "page.html").as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=180, check=True).stdout
    answer = re.search(r'<pre id="answer">(.*?)</pre>', shown, re.DOTALL)
    assert answer, "the script did not finish"
    return json.loads(html.unescape(answer[1]))


def violations(page: str, folder: Path) -> list[str]:
    assert AXE is not None
    assert AXE.origin is not None
    axe = (Path(AXE.origin).parent / "axe.min.js").read_text(encoding="utf-8")
    run = f"axe.run(document, {{runOnly: {json.dumps(RULES)}}}).then(done, error => done({{error: String(error)}}))"
    found = seen_by_chromium(page, f"{axe}\n{run}", folder)
    assert "error" not in found, found
    assert len(found["passes"]) > 15
    return [f"{wrong['id']}: {node['html'][:200]}" for wrong in found["violations"] for node in wrong["nodes"]]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_wrong(page: str, theme: str, tmp_path: Path) -> None:
    assert page.count(DARK) == 1
    assert violations(page.replace(DARK, "@media all") if theme == "dark" else page, tmp_path) == []


def test_axe_sees_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    KINDS["tiny"]().save_html(path)
    page = (
        path.read_text(encoding="utf-8")
        .replace('<html lang="en">', "<html>")
        .replace("--muted: #4f5b67", "--muted: #ddd")
    )
    found = {line.partition(":")[0] for line in violations(page, tmp_path)}
    assert {"html-has-lang", "color-contrast"} <= found
