"""What a file of search results is: a LETOR file, judgments or a run. The server asks before any reader is imported."""

from __future__ import annotations

import re

# Of the first lines of a file: a grade and a query; four and six columns.
_LETOR = re.compile(rb"^-?\d+(?:\.\d+)?\s+qid:\S+(?:\s+\d+:\S+)*\s*(?:#.*)?$")
_QRELS = re.compile(rb"^\S+\s+\S+\s+\S+\s+-?\d+\s*$")
_RUN = re.compile(rb"^\S+\s+\S+\s+\S+\s+\d+\s+-?[\d.]+(?:[eE][-+]?\d+)?\s+\S+\s*$")
_PATTERNS = {"letor": _LETOR, "qrels": _QRELS, "run": _RUN}
_LINES_LOOKED_AT = 20

#: what the files of a search project may be
ROLES = tuple(_PATTERNS)
#: bytes at the beginning of a file that are looked at
LOOKED_AT = 20_000


def search_role(content: bytes) -> str | None:
    """What the beginning of a file says it is: "letor", "qrels" or "run"; None if it is none of these.

    Examples
    --------
    >>> search_role(b"2 qid:1 1:0.5 2:3"), search_role(b"1 0 doc7 1"), search_role(b"tea,milk")
    ('letor', 'qrels', None)
    """
    lines = [line.strip() for line in content[:LOOKED_AT].splitlines()[:_LINES_LOOKED_AT]]
    lines = [line for line in lines if line and not line.startswith(b"#")]
    if len(lines) > 1 and len(content) > LOOKED_AT:
        lines = lines[:-1]  # cut in the middle
    for role, pattern in _PATTERNS.items():
        if lines and all(map(pattern.match, lines)):
            return role
    return None
