"""`Settings`: where a studio listens, where it keeps its files, and its limits; and the files that it makes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

#: where the studio listens unless told otherwise
LOOPBACK = "127.0.0.1"
#: the file that says who belongs to which segment
MEMBERSHIPS = "memberships.csv"
#: the file with all pictures of the report
PICTURES = "pictures.zip"
#: types of the files by their suffixes
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".csv": "text/csv; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".zip": "application/zip",
}


@dataclass(frozen=True)
class Settings:
    """What a run of the studio is told.

    Attributes
    ----------
    folder : Path
        The temporary folder; nothing is written elsewhere.
    token : str
        The secret of this run: whoever knows it may use the studio.
    host, port : str, int
        Where it listens.
    allow_remote : bool
        Whether it answers to addresses other than those of the loopback.
    max_body : int
        Bytes of the largest file that it takes.
    body_seconds : float
        How long a request may take to arrive.
    time_limit : float
        Seconds that a job may take.
    memory_limit : int
        Bytes that a job may take beyond those of a child that does nothing.
    max_running, max_waiting : int
        Jobs that run at once, and that wait.
    max_jobs, max_projects : int
        Finished jobs that are remembered, and projects that are open.
    max_result, max_cache : int
        Bytes of the largest result, and of all results that are kept.
    max_stored : int
        Bytes of all files together.
    preload : tuple of str
        Modules that children would import besides those of the studio, because the program that runs it does.
    """

    folder: Path
    token: str
    host: str = LOOPBACK
    port: int = 8765
    allow_remote: bool = False
    max_body: int = 200 * 2**20
    body_seconds: float = 60.0
    time_limit: float = 600.0
    memory_limit: int = 4 * 2**30
    max_running: int = 2
    max_waiting: int = 50
    max_jobs: int = 1_000
    max_projects: int = 200
    max_result: int = 64 * 2**20
    max_cache: int = 512 * 2**20
    max_stored: int = 2 * 2**30
    preload: tuple[str, ...] = ()

    @property
    def origin(self) -> str:
        """The address of the studio, as a browser on this machine writes it."""
        host = LOOPBACK if self.host in ("0.0.0.0", "::") else self.host  # noqa: S104  # compared, not bound
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"
