"""Take the pictures of the studio: ``python docs/make_screenshots.py [name ...]`` writes docs/pictures/studio-*.png.

Needs Playwright (the extra ``test``) and Chromium.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from rankwise.studio.examples import EXAMPLES

PICTURES = Path(__file__).parent / "pictures"
DESKTOP, PHONE = {"width": 1280, "height": 860}, {"width": 375, "height": 760}
LONG = 300_000


@contextmanager
def studio() -> Iterator[str]:
    """Address of a studio that runs meanwhile."""
    command = [sys.executable, "-u", "-m", "rankwise", "studio", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield re.findall(r"http://\S+", process.stdout.readline())[0]
        finally:
            process.terminate()


def take(page: Page, example: str, view: str) -> None:
    """Take an example, and go to a view of it."""
    page.get_by_role("button", name=EXAMPLES[example].title).click()
    wait_for(page, "data")
    page.goto(re.sub("/data$", f"/{view}", page.url))
    wait_for(page, view)


def wait_for(page: Page, view: str) -> None:
    page.locator(f'.result[data-view="{view}"]:not([aria-busy]) > *').first.wait_for(timeout=LONG)
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(400)


def data(page: Page) -> None:
    take(page, "drinks", "data")


def consensus(page: Page) -> None:
    take(page, "drinks", "consensus")


def cell(page: Page) -> None:
    take(page, "jury", "pairs")
    page.locator('.mark[aria-label*="put Syrah before Merlot"]').click()
    page.get_by_role("dialog").get_by_role("table").wait_for(timeout=LONG)
    page.wait_for_timeout(300)


def groups(page: Page) -> None:
    take(page, "drinks", "groups")
    page.get_by_label("Compare by").select_option("city")
    page.locator("figure.slopes svg").wait_for(timeout=LONG)
    wait_for(page, "groups")


def raters(page: Page) -> None:
    take(page, "jury", "raters")
    page.get_by_role("checkbox", name="Counts: Ben").uncheck()
    page.get_by_text("One rater is left out").wait_for()
    wait_for(page, "raters")
    page.locator("#joint-ranking .places").wait_for(timeout=LONG)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(300)


def pairs(page: Page) -> None:
    take(page, "drinks", "pairs")


#: what is taken: who goes where, the size of the screen, and its colors
SHOTS: dict[str, tuple[Callable[[Page], None], dict[str, int], Any]] = {
    "studio-start": (lambda page: page.get_by_role("button", name="A jury").wait_for(), DESKTOP, "light"),
    "studio-data": (data, DESKTOP, "light"),
    "studio-consensus": (consensus, DESKTOP, "light"),
    "studio-cell": (cell, DESKTOP, "light"),
    "studio-groups": (groups, DESKTOP, "dark"),
    "studio-raters": (raters, DESKTOP, "light"),
    "studio-phone-light": (consensus, PHONE, "light"),
    "studio-phone-dark": (pairs, PHONE, "dark"),
}


def save(content: bytes, path: Path) -> None:
    """Write a picture with few colors, which takes a third of the room."""
    path.write_bytes(content)
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def main(names: list[str]) -> None:
    """Take the pictures of these names, or all."""
    with studio() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name in names or SHOTS:
            act, screen, scheme = SHOTS[name]
            context = browser.new_context(
                viewport=screen, color_scheme=scheme, device_scale_factor=2 if screen is PHONE else 1, locale="en"
            )
            page = context.new_page()
            page.goto(address)
            act(page)
            save(page.screenshot(), PICTURES / f"{name}.png")
            context.close()
            print(PICTURES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
