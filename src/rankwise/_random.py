"""The check of random states under its old address; import it from `rankwise._validation`."""

from rankwise._validation import check_generator

__all__ = ["check_generator"]
