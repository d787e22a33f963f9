"""A file for readers that want one: kept in memory where the system can, and written anew each time.

Most readers take standard input as well, which costs less than a file."""

from __future__ import annotations

import atexit
import io
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import cast

STDIN = Path("-")
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


@contextmanager
def as_stdin(data: bytes) -> Iterator[Path]:
    """Let standard input have this content; return the name under which it is read."""
    usual = sys.stdin
    sys.stdin = cast("io.TextIOWrapper", _Input(data))
    try:
        yield STDIN
    finally:
        sys.stdin = usual


class _Input:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BufferedReader(cast("io.RawIOBase", io.BytesIO(data)))
