"""Progress bars of long work, for every package that loops for seconds: forests, boosting, bootstraps, screening.

A bar is a line of text that tqdm writes to stderr, on a terminal and in a notebook: the widgets of `tqdm.notebook` need
ipywidgets, and leave a dead widget behind in the saved notebook.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")

# Seconds before a bar appears: work that ends sooner needs none.
_DELAY = 2.0
_silent = ContextVar("_silent", default=False)


def track(items: Iterable[Item], description: str, total: int) -> Iterator[Item]:
    """Yield the items, with a bar in a notebook or terminal if the work takes longer than two seconds."""
    if _silent.get() or not (_in_notebook() or sys.stderr.isatty()):
        yield from items
        return
    from tqdm import tqdm

    yield from tqdm(items, description, total, leave=False, delay=_DELAY)


@contextmanager
def silent() -> Iterator[None]:
    """Show no bars of `track` in this context, because the caller shows progress itself."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")  # which every notebook has imported
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None
