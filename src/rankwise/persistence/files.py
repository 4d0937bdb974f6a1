"""Save an estimator to a file, and load it: `rankwise.save` and `rankwise.load`."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import Any, BinaryIO, TypeVar

from rankwise import __version__
from rankwise._validation import check_whole_number
from rankwise.exceptions import RankwiseFormatError
from rankwise.persistence.container import read_container, write_container
from rankwise.persistence.object_graph import decode, encode
from rankwise.persistence.upgrades import FORMAT_VERSION, upgraded

#: bytes that a model may take, unless the caller of `load` says otherwise: 2 GiB
MAX_BYTES = 2**31

_KIND = "rankwise model"
_CURE = "Save the model again, or get the file again from its source."

Part = TypeVar("Part")


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write an estimator to a file that `load` reads, and that can run no code.

    Parameters
    ----------
    estimator : estimator
        Any estimator of rankwise, fitted or not. It may hold linear models, scalers, encoders, imputers and pipelines
        of scikit-learn; anything else (other estimators, functions) is refused by name.
    path : path-like
        The file, usually ending in ``.rankwise``. An existing file is replaced once the new one is complete.

    Raises
    ------
    TypeError
        If the estimator holds something that cannot be saved; the message says what, and where.

    See Also
    --------
    load : Read the file.

    Examples
    --------
    >>> import rankwise
    >>> from rankwise.label_ranking import RankingTree
    >>> tree = RankingTree().fit([[1], [2], [8], [9]], [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 1, 2]])
    >>> rankwise.save(tree, "tree.rankwise")  # doctest: +SKIP
    """
    if isinstance(estimator, type):
        raise TypeError(f"the class {estimator.__name__} is not an estimator; save writes estimators of rankwise")
    if not hasattr(estimator, "get_params"):
        raise TypeError(
            f"an object of type {type(estimator).__name__} is not an estimator; save writes estimators of rankwise"
        )
    graph = encode(estimator)
    manifest = {
        "format": _KIND,
        "format_version": FORMAT_VERSION,
        "rankwise_version": __version__,
        "class": type(estimator).__name__,
        "objects": graph.objects,
    }
    write_container(path, manifest, graph.arrays)


def load(path: str | os.PathLike[str], max_bytes: int | None = None) -> Any:
    """Read an estimator that `save` wrote.

    Parameters
    ----------
    path : path-like
        The file.
    max_bytes : int, optional
        Most bytes that the model may take; 2 GiB by default. A file that asks for more is refused before anything of
        that size is allocated.

    Returns
    -------
    estimator
        It predicts what the saved one did, bit for bit.

    Raises
    ------
    RankwiseFormatError
        If the file is damaged, incomplete, too large, written by a later version, or holds anything but a model that
        is consistent in itself.
    OSError
        If there is no such file (FileNotFoundError), it is a folder, or the system does not let us read it.

    Notes
    -----
    A file holds numbers, text and names of known classes. No code of it is run, so files from strangers are safe to
    load, unlike pickles. Files of all earlier versions of the format can be read.

    Examples
    --------
    >>> import rankwise
    >>> rankwise.load("tree.rankwise")  # doctest: +SKIP
    RankingTree()
    """
    most = MAX_BYTES if max_bytes is None else check_whole_number("max_bytes", max_bytes, at_least=1)
    with _opened(path) as file:
        manifest, arrays = _guarded(path, lambda: read_container(file, most, _current))
    return _guarded(path, lambda: decode(manifest["objects"], arrays, most, manifest["class"]))


def _opened(path: str | os.PathLike[str]) -> BinaryIO:
    """The file, open for reading.

    Python alone would take a number for a file that is open already, and wait for whoever writes into a pipe.
    """
    if not isinstance(path, str | bytes | os.PathLike):
        raise TypeError(f"path is {path!r}; give the name of a file that rankwise.save wrote")
    if os.path.isdir(path):
        raise IsADirectoryError(f"{os.fsdecode(path)} is a folder; give a file that rankwise.save wrote")
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError as error:  # a zero byte in the path
        raise RankwiseFormatError(f"there is no such file ({error})", path=path) from None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    raise RankwiseFormatError("this is a pipe or a device, and no file", path=path, cure=_CURE)


def _current(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest as this version of the format has it."""
    version = manifest.get("format_version")
    if manifest.get("format") != _KIND or type(version) is not int or version < 1:
        raise ValueError("the file is a zip file, but does not hold a model of rankwise")
    if version > FORMAT_VERSION:
        writer = str(manifest.get("rankwise_version"))[:20]
        raise RankwiseFormatError(
            f"the file has format {version}, written by rankwise {writer}; this is rankwise {__version__}, which reads "
            f"formats up to {FORMAT_VERSION}",
            cure="Install the later version: pip install -U rankwise.",
        )
    return upgraded(manifest, version)


def _guarded(path: str | os.PathLike[str], work: Callable[[], Part]) -> Part:
    """Turn whatever goes wrong with a file of unknown origin into one error that names it."""
    try:
        return work()
    except (ImportError, MemoryError):  # not the fault of the file
        raise
    except RankwiseFormatError as error:
        raise RankwiseFormatError(error.problem, path=path, cure=error.cure or _CURE) from error
    except Exception as error:
        says = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise RankwiseFormatError(f"no model can be read from this file ({says})", path=path, cure=_CURE) from error
