"""Open hierarchy files memory-mapped, and write files whole or not at all.

Theory of operation
-------------------
A hierarchy file is mapped, not read: opening checks the header and the table of sections, and the kernel
loads the pages that look-ups touch. Processes that open the same file share those pages. A builder never
writes into a file that others may have mapped: it writes beside it and renames, so that readers keep the
old file until they open the path again.

Whoever truncates the file in place takes pages away from under its readers, and touching one of them ends
the process with SIGBUS. No check can exclude that, since the file may be truncated right after it. But the
usual accident, `cp` onto the file, happens between two questions: so a question first compares the size of
the file with that of the mapping (`_check_buffer`). Six do not, because they take less time than the check:
`row_of`, `parent`, `bounds`, `country`, `organisation_number` and `registry_number`. Nor can arrays check
that were handed out before. What a file that was overwritten in place says is checked like that of any
damaged file: it may be wrong, or an error, but it is no crash.

Arrays that a hierarchy hands out are views into the mapping, which stays until the last of them is gone. So
`close` does not unmap; it drops everything the object holds, and whatever is asked for afterwards is
missing and ends in `__getattr__`, which says that the hierarchy is closed. A flag would have to be checked
at every look-up.

A look-up of many addresses releases the GIL, so large arrays are split between threads. The first of them to
need the tables in memory builds them, before it releases the GIL, so this happens once.
"""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from ipmicra.edge.durable import settle
from ipmicra.errors import CorruptHierarchyError, HierarchyError, MissingHierarchyError
from ipmicra.hierarchy import hierarchy as core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ipmicra.hierarchy.encode import Encoded
    from ipmicra.hierarchy.many import Addresses

PER_THREAD = 1 << 19
"""Addresses below which a further thread does not pay."""


class Hierarchy(core.Hierarchy):
    """A hierarchy in a file that many processes may share."""

    def __init__(
        self, buffer: bytes | bytearray | memoryview | mmap.mmap, *, threads: int | None = None
    ) -> None:
        """Read from a buffer; large look-ups use all processors unless `threads` says otherwise."""
        super().__init__(memoryview(buffer))
        self._mapping = buffer if isinstance(buffer, mmap.mmap) else None
        self._threads = threads or os.cpu_count() or 1

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, threads: int | None = None) -> Self:
        """Map a hierarchy file into memory; only its header is read."""
        try:
            with Path(path).open("rb") as file:
                if os.fstat(file.fileno()).st_size == 0:
                    raise CorruptHierarchyError(0, f"{path} is empty")
                mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (FileNotFoundError, IsADirectoryError) as error:
            raise MissingHierarchyError(str(path)) from error
        try:
            return cls(mapping, threads=threads)
        except CorruptHierarchyError as error:
            error.add_note(f"file: {path}")
            raise

    def lookup_many(self, addresses: Addresses, out: NDArray[np.uint32] | None = None) -> NDArray[np.uint32]:
        """Look up as the core does, large arrays in several threads."""
        threads = min(self._threads, len(addresses) // PER_THREAD)
        if threads <= 1:
            return super().lookup_many(addresses, out)
        import numpy as np

        if not isinstance(addresses, np.ndarray):
            return super().lookup_many(addresses, out)
        parts = np.array_split(addresses, threads)
        rows = np.empty(len(addresses), np.uint32) if out is None else out
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(super().lookup_many, parts, np.array_split(rows, threads)))
        return rows

    def _check_buffer(self) -> None:
        """Refuse a file that was truncated since it was opened."""
        if self._mapping is not None and self._mapping.size() < len(self._mapping):
            raise CorruptHierarchyError(
                self._mapping.size(),
                "truncated while it was open; replace hierarchies by renaming, not by copying",
            )

    def close(self) -> None:
        """Close; the file stays mapped until the last array of it is gone."""
        if vars(self):
            self._finder.close()
            self._sections.release()
            vars(self).clear()

    if not TYPE_CHECKING:  # type checkers would take it for a promise that any attribute exists

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any attribute
            """Refuse: there is no such attribute, or the hierarchy is closed."""
            if vars(self) or name.startswith("__"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            raise HierarchyError("the hierarchy is closed; open it again")

    def __enter__(self) -> Self:
        """Use as a context."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Close."""
        self.close()


def shown(path: str | Path) -> str:
    """Return a path as printable text, whatever bytes it has."""
    return os.fsencode(path).decode("utf-8", "replace")


def write_hierarchy(path: Path, encoded: Encoded) -> None:
    """Write a hierarchy; its sections are hashed in one thread while another writes them."""
    with replacing(path) as file, ThreadPoolExecutor(1) as pool:
        header = pool.submit(lambda: encoded.header)
        file.truncate(encoded.size)
        for offset, piece in encoded.body():
            file.seek(offset)
            file.write(piece)
        file.seek(0)
        file.write(header.result())


def write_atomically(path: Path, pieces: Iterable[bytes | memoryview]) -> int:
    """Write a file beside its place and move it there when it is complete; return its size."""
    with replacing(path) as file:
        return sum(file.write(piece) for piece in pieces)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file beside a place and move it there when it is complete and on the disk.

    Readers that have the old file open keep reading the old one.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "a folder; name a file in it", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        Path(name).chmod(0o644)
        settle(Path(name), path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
