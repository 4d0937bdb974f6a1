"""A word on the first use of a command, which compiles what later uses find ready."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

# Seconds of compiling before it is mentioned.
_DELAY = 1.0
_NOTE = "compiling, once: the first use takes longer than later ones (rankwise warmup compiles everything ahead)"


@contextmanager
def compiling_noted() -> Iterator[None]:
    """Say on stderr, once, that functions are compiled, if that takes more than a second."""
    from rankwise._compiled import before_compiling
    from rankwise.cli.console import print_notes

    timer = threading.Timer(_DELAY, lambda: print_notes([_NOTE]))
    timer.daemon = True

    def start() -> None:
        if timer.ident is None:
            timer.start()

    with before_compiling(start):
        try:
            yield
        finally:
            timer.cancel()
