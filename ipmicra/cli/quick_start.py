"""Starting commands that run compiled kernels without waiting for packages that the kernels do not use."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def load_numba() -> None:
    """Load numba without scipy's linear algebra and without coverage, which it looks for at its start.

    They take 0.3 s where they are installed. No kernel of ours needs them; but numba in this process knows
    no linear algebra afterwards, so this is for commands and not for the library.
    """
    with _hidden("scipy.linalg", "coverage"):
        importlib.import_module("numba.np.arraymath")


@contextmanager
def _hidden(*names: str) -> Iterator[None]:
    """Have the import of packages fail, unless they are loaded already."""
    hidden = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type] # None is Python's own word for it
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]
