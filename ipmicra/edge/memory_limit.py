"""Limits of memory (`ulimit -v`, `ulimit -d`): get ready to run into them, so that the user hears of it.

Three things go wrong under a limit that no handler of MemoryError can repair, so they are avoided:

- CPython turns in circles where not even a number fits. Some memory is kept back until then.
- numpy crashes, or raises what says nothing of memory, when memory runs out while it is imported; OpenBLAS,
  the library under it, interrupts or ends the process, as those under pyarrow and scipy do. None of them is
  imported where there is evidently no room. OpenBLAS wants its buffer when two matrices are first multiplied,
  and ends the process if it does not get it, so that is done at once.
- Libraries start threads for each processor, with memory of their own, and some do not survive it if that
  fails. Under a small limit each gets one.

Without a limit nothing is done: allocations do not fail then, whatever the machine has.
"""

from __future__ import annotations

import mmap
import os
import resource
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

MB = 1 << 20
ROOM_MB = {
    "hashlib": 8,  # goes on without what it could not import, and prints a traceback for each
    "numpy": 128,
    "pyarrow": 224,
    "scipy": 64,
    "scipy.linalg": 128,
    "scipy.optimize": 160,
}
"""What packages take that do not survive it if memory runs out while they are imported, or while they start
threads: libraries, stacks and first buffers included, rounded up."""
NO_LIMIT = float("inf")
SMALL = 4 << 30
"""Bytes; under larger limits libraries have as many threads as they like."""
THRIFT = {
    "OPENBLAS_NUM_THREADS": "1",  # numpy, scipy
    "OMP_NUM_THREADS": "1",  # pyarrow's pool for computations
    "ARROW_IO_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # its own take address space in advance
}
"""Settings of libraries by environment variables; what the user has set counts."""


class RoomFinder(MetaPathFinder):
    """Refuses some modules for which there is no room, and lets numpy take its buffer when it is imported."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise MemoryError if there is no room for a module; leave all but numpy to others otherwise."""
        if name in ROOM_MB:
            make_sure_of(ROOM_MB[name] * MB)
        spec = PathFinder.find_spec(name, path, target) if name == "numpy" else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_multiply(module: ModuleType) -> None:
            execute(module)
            module.ones((8, 8)) @ module.ones((8, 8))

        spec.loader.exec_module = execute_and_multiply  # type: ignore[method-assign]
        return spec


def make_sure_of(size: int) -> None:
    """Raise MemoryError unless so many bytes could be had now."""
    try:
        mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except OSError as error:
        raise MemoryError from error


def prepare_for_limits() -> None:
    """Get ready to run out of memory, if there is a limit; raise MemoryError if it is reached already."""
    if not is_limited():
        return
    from ipmicra.native import kernels

    kernels.keep_reserve()
    # requests goes on without what it could not import, and complains of it before memory runs out elsewhere.
    warnings.filterwarnings("ignore", message="Unable to find acceptable character detection")
    sys.meta_path.insert(0, RoomFinder())
    if min(_limits()) < SMALL:
        kernels.share_heap()
        for name, value in THRIFT.items():
            os.environ.setdefault(name, value)


def is_limited() -> bool:
    """Return whether there is a limit to what this process may have."""
    return min(_limits()) < NO_LIMIT


def _limits() -> Iterator[float]:
    for name in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        limit, _ = resource.getrlimit(name)
        yield NO_LIMIT if limit == resource.RLIM_INFINITY else limit
