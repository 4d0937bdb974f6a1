"""Files are written beside their place and renamed, so that a full disk, a kill or Ctrl-C leaves the old file whole.

Every writer of rankwise writes inside `replacing`.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

# Seconds after which a file that nobody has locked was left by a writer that was killed.
_LEFT = 60
_LONGEST_NAME = 100


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a new file with the same suffix, which takes the place of ``path`` when the block is complete.

    A link stays a link: what it points to is replaced. The new file has the permissions of the old one, or those of any
    new file. A device or a pipe is written directly, and so is a file in a folder where no other can be made.
    """
    target = Path(os.path.realpath(os.fsdecode(path)))
    old = target.stat() if target.exists() else None
    if old is not None and not stat.S_ISREG(old.st_mode):  # open refuses folders
        yield target
        return
    if old is not None and not os.access(target, os.W_OK):
        raise PermissionError(13, os.strerror(13), str(target))
    prefix, suffix = f".part-{target.stem[:_LONGEST_NAME]}-", target.suffix[:_LONGEST_NAME]
    try:
        handle, name = tempfile.mkstemp(prefix=prefix, suffix=suffix, dir=target.parent)
    except PermissionError:
        if old is None:
            raise
        yield target
        return
    try:
        _lock(handle)
        _remove_left(target.parent, prefix, suffix)
        yield Path(name)
        os.chmod(name, stat.S_IMODE(old.st_mode) if old is not None else 0o666 & ~_mask())
        if old is not None and hasattr(os, "chown"):
            with contextlib.suppress(OSError):
                os.chown(name, old.st_uid, old.st_gid)
        os.fsync(handle)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
    finally:
        os.close(handle)


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _lock(handle: int) -> bool:
    """Hold a file until it is closed; False where somebody else does, or where there are no locks."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _remove_left(folder: Path, prefix: str, suffix: str) -> None:
    """Remove what killed writers of this file have left: nobody holds it."""
    for name in os.listdir(folder):
        if not (name.startswith(prefix) and name.endswith(suffix)):
            continue
        with contextlib.suppress(OSError):
            handle = os.open(folder / name, os.O_RDONLY)
            try:
                if time.time() - os.fstat(handle).st_mtime > _LEFT and _lock(handle):
                    os.unlink(folder / name)
            finally:
                os.close(handle)
