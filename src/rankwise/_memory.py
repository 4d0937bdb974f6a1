"""Refuse work that does not fit into memory, before it begins; used where something takes a place for every pair."""

from __future__ import annotations

import os
from pathlib import Path

# Less than this is never refused, so that small work does not pay for looking.
_SMALL = 2**28
_LIMITS = (  # of containers: the most, and what is used
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def check_memory(size: int, what: str, cure: str) -> None:
    """Refuse what takes more bytes than are free.

    Parameters
    ----------
    size : int
        How many bytes the work takes at its peak.
    what : str
        What takes them, with a plural, as in "the pairs".
    cure : str
        What to do about it.
    """
    if size <= _SMALL:
        return
    free = free_bytes()
    if free is not None and size > free:
        raise ValueError(
            f"{what} take about {size / 2**30:,.3g} GiB of memory, and {free / 2**30:,.3g} GiB are free; {cure}"
        )


def check_memory_of_pairs(n_items: int, n_matrices: int) -> None:
    """Refuse items for which so many matrices of pairs (8 bytes each) do not fit into the memory that is free."""
    check_memory(
        n_matrices * 8 * n_items**2,
        f"the pairs of {n_items:,} items",
        "merge top-k lists with aggregate_lists, which counts no pairs, use borda, or keep the items "
        "that matter with Rankings.select([...])",
    )


def free_bytes() -> int | None:
    """Memory that this process may still take; None if the system does not say."""
    found = []
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        found += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable")]
    except (OSError, ValueError):
        pass
    for most, used in _LIMITS:
        try:
            found.append(int(Path(most).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):  # there is no such limit
            continue
    found += _left_of_limit()
    if not found:
        try:
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        except (AttributeError, OSError, ValueError):
            return None
    return max(0, min(found))


def _left_of_limit() -> list[int]:
    """What the limit of this process (``ulimit -v``) leaves, where there is one."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return []
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return [limit - pages * resource.getpagesize()]
    except (ImportError, OSError, ValueError):
        return []
