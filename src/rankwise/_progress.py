"""Progress of long work: a bar on a terminal, after a while; silence in pipes, files and short work."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")

# Work that ends within this many seconds needs no bar.
_PATIENCE = 2.0
_silent = ContextVar("_silent", default=False)


def track(items: Iterable[Item], description: str, total: int) -> Iterator[Item]:
    """Yield the items; on a terminal, show how many of the total are done once that has taken two seconds."""
    if _silent.get() or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import Progress

    started = time.monotonic()
    with Progress(console=Console(stderr=True), transient=True, auto_refresh=False) as progress:
        task = progress.add_task(description, total=total, visible=False)
        for item in items:
            yield item
            late = time.monotonic() - started > _PATIENCE
            progress.update(task, advance=1, visible=late, refresh=late)


@contextmanager
def silent() -> Iterator[None]:
    """No bars of `track` in here: somebody else shows progress, and a terminal has room for one bar."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)
