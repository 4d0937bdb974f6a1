"""Damaged files for the readers: random bytes, and valid files with bytes changed, removed or repeated."""

from __future__ import annotations

from hypothesis import strategies as st

# Pieces that mean something to one reader or another.
TOKENS = [b"\n", b"\r", b" ", b",", b":", b"{", b"}", b"#", b"-", b"0", b"1", b"9" * 25, b"nan", b"inf", b"1e999"]
TOKENS += [
    b"qid:",
    b"# NUMBER VOTERS: 3\n",
    b"\xff",
    b"\x00",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"\xd9\xa1",
    b"_",
    b"\x1f\x8b",
]


@st.composite
def damaged(draw: st.DrawFn, *valid: bytes) -> bytes:
    """Any bytes, or one of the valid files after a few mutations."""
    if draw(st.integers(0, 4)) == 0:
        return draw(st.binary(max_size=80))
    data = draw(st.sampled_from(valid))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        stop = min(len(data), start + draw(st.integers(0, 12)))
        change = draw(st.sampled_from(["replace", "delete", "repeat", "insert", "cut"]))
        if change == "replace":
            data = data[:start] + draw(st.binary(min_size=1, max_size=1)) + data[start + 1 :]
        elif change == "delete":
            data = data[:start] + data[stop:]
        elif change == "repeat":
            data = data[:stop] + data[start:stop] + data[stop:]
        elif change == "insert":
            data = data[:start] + draw(st.sampled_from(TOKENS)) + data[start:]
        else:
            data = data[:start]
    return data
