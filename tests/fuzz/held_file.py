"""A file for readers that want one: kept in memory where the system can, and written anew each time."""

from __future__ import annotations

import atexit
import tempfile
from functools import cache
from pathlib import Path

_MEMORY = Path("/dev/shm")


@cache
def _folder() -> Path:
    kept = tempfile.TemporaryDirectory(prefix="ipmicra-fuzz-", dir=_MEMORY if _MEMORY.is_dir() else None)
    atexit.register(kept.cleanup)
    return Path(kept.name)


def held(data: bytes, suffix: str = "") -> Path:
    """Return a file with this content; the next call with the same suffix replaces it."""
    path = _folder() / f"input{suffix}"
    path.write_bytes(data)
    return path
