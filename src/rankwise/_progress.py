"""Progress of long work: a bar on a terminal or in a notebook, after a while; silence in pipes and files."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from html import escape
from typing import TypeVar

Item = TypeVar("Item")

# Work that ends within this many seconds needs no bar.
_PATIENCE = 2.0
# Seconds from one picture of a bar to the next: a notebook gets a message for each.
_PAUSE = 0.1
_silent = ContextVar("_silent", default=False)


def track(items: Iterable[Item], description: str, total: int) -> Iterator[Item]:
    """Yield the items; a person who looks on sees how many of the total are done, once that has taken two seconds."""
    in_notebook = _in_notebook()
    if _silent.get() or not (in_notebook or sys.stderr.isatty()):
        yield from items
        return
    bar = _notebook_bar if in_notebook else _terminal_bar
    due = time.monotonic() + _PATIENCE
    with ExitStack() as stack:
        show: Callable[[int], None] | None = None
        for done, item in enumerate(items, start=1):
            yield item
            if time.monotonic() >= due:
                show = show or stack.enter_context(bar(description, total))
                show(done)
                due = time.monotonic() + _PAUSE


@contextmanager
def silent() -> Iterator[None]:
    """No bars of `track` in here: somebody else shows progress, and a terminal has room for one bar."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")  # which every notebook has imported
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


@contextmanager
def _terminal_bar(description: str, total: int) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, auto_refresh=False) as progress:
        task = progress.add_task(description, total=total)
        yield lambda done: progress.update(task, completed=done, refresh=True)


@contextmanager
def _notebook_bar(description: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar of the browser. That of rich needs ipywidgets, and leaves a dead widget in the saved notebook."""
    from IPython.display import HTML, display

    handle = display(HTML(""), display_id=True)
    text = escape(description)
    try:
        yield lambda done: handle.update(
            HTML(f'{text} <progress value="{done}" max="{total}"></progress> {done:,} of {total:,}')
        )
    finally:
        handle.update(HTML(""))
