"""Imports of optional dependencies, with an error that says how to install them."""

from __future__ import annotations

import importlib
from types import ModuleType

_READABLE = {"torch": "PyTorch", "stochtree": "stochtree", "dask": "Dask", "onnx": "ONNX"}


def require(module: str, *, extra: str, caller: str) -> ModuleType:
    """Import ``module``, or raise an error that names the extra of rankwise that installs it.

    Parameters
    ----------
    module : str
        Name of the module, e.g. ``"torch"``.
    extra : str
        The extra of rankwise that installs it.
    caller : str
        What needs it, as the user knows it.

    Returns
    -------
    module
        The imported module.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = _READABLE.get(module, module)
        raise ImportError(f"{caller} needs {name}: pip install 'rankwise[{extra}]'") from error
