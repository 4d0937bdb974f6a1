"""A browser for the tests of the studio's page: Debian's Chromium, driven by Playwright, with axe-core at hand."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = importlib.util.find_spec("axe_core_python")
# Milliseconds until something must be there. What is there sooner is not waited for; a machine that is loaded, or that
# compiles for the first time, may take a hundred times as long as a quiet one.
PATIENCE = 240_000
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def missing() -> str:
    """What a browser test lacks on this machine; nothing if it can run."""
    if importlib.util.find_spec("playwright") is None:
        return "there is no Playwright: pip install playwright"
    return "" if CHROMIUM else "there is no Chromium: apt-get install chromium"


@contextmanager
def chromium() -> Iterator[Any]:
    """A headless browser, and patience with it: nothing is waited for longer than it takes."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def page_in(browser: Any, *, refused: tuple[int, ...] = (), **options: Any) -> Iterator[Any]:
    """A fresh page; in the end it has said nothing on the console, opened no dialog and asked nobody else.

    The console tells of every answer that is an error; ``refused`` are those that the test expects.
    """
    wrong: list[str] = []
    # A color that is on its way to another one is none that anybody reads.
    usual = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
    context = browser.new_context(**{**usual, **options})
    expected = [f"status of {status}" for status in refused]

    def watch(page: Any) -> None:
        page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: wrong.append(request.url) if is_elsewhere(request.url) else None)

    context.on("page", watch)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    try:
        yield page
    finally:
        context.close()
    wrong = [line for line in wrong if not any(each in line for each in expected)]
    assert wrong == []


def is_elsewhere(url: str) -> bool:
    """Whether an address is not one of this machine."""
    parts = urlsplit(url)
    return parts.scheme in ("http", "https", "ws", "wss") and parts.hostname != "127.0.0.1"


def violations(page: Any) -> list[str]:
    """What axe-core finds wrong in the page as it stands."""
    assert AXE is not None
    assert AXE.origin is not None
    page.evaluate((Path(AXE.origin).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate(f"axe.run(document, {{runOnly: {json.dumps(RULES)}}})")
    assert len(found["passes"]) > 10
    return [f"{wrong['id']}: {node['html'][:200]}" for wrong in found["violations"] for node in wrong["nodes"]]


def is_too_wide(page: Any) -> bool:
    """Whether the page scrolls sideways."""
    return page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
