"""The command ``rankwise``."""

from rankwise.cli.app import main

__all__ = ["main"]
