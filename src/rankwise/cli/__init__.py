"""The command ``rankwise``."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]

# As shells count: 128 and the number of the signal.
_INTERRUPTED = 130


def main() -> None:
    """Run the command line and end the process with its exit code."""
    _open_streams()
    try:
        from rankwise.cli.app import main as run

        run()
    except KeyboardInterrupt:  # while parts were loading
        sys.stderr.write("rankwise: interrupted\n")
        sys.exit(_INTERRUPTED)


def _open_streams() -> None:
    """Give standard streams that the caller has closed to nobody; else the next file that is opened would be one."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the system gives it the lowest free number
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))
