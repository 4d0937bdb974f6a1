"""`Problem`: what the studio answers instead of a result, in the same form from every module of the server."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException

# What is left of such a request is not read, so the connection cannot be used again.
_UNREAD = (408, 413, 503)


class Problem(HTTPException):
    """A request that is refused.

    Parameters
    ----------
    status : int
        The status of the answer, as 404.
    error : str
        What is wrong, in one sentence.
    cure : str, default=""
        What to do about it.
    **more
        What else the answer holds.
    """

    def __init__(self, status: int, error: str, cure: str = "", **more: Any) -> None:
        super().__init__(status, error, headers={"connection": "close"} if status in _UNREAD else None)
        self.error, self.cure, self.more = error, cure, more

    def as_dict(self) -> dict[str, Any]:
        """The body of the answer."""
        return {"error": self.error, "cure": self.cure, **self.more}
