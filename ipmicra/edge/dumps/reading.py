"""Read dumps: plain, gzip or zip, recognised by content, in chunks that end between paragraphs.

Theory of operation
-------------------
One thread reads and decompresses into buffers; a pool parses; the caller's thread adds the results, in the
order of the dump. Decompression and the compiled parser release the GIL, so these really run side by side.
The bottleneck is decompression, which cannot be split: hence at most four parsers.

A chunk is about 2 MiB, so that it stays in the processor's cache between decompression and parsing. It ends
behind the last break (blank line or line, by dialect) in the buffer, and the rest is copied to the start of
the next buffer. A paragraph longer than the buffer makes it grow, up to a limit: a text without breaks is
no dump. Tables without breaks are read in one piece.

Buffers circulate: the reader takes one from `_free`, fills it and puts it into `_ready`; the caller hands
it to the pool and returns it once its results are added. As there is a fixed number of them, a fast reader
waits for slow parsers, and memory stays constant. An exception of the reader travels through `_ready` like
a chunk and is raised in the caller's thread. Whoever stops early puts an empty buffer into `_free`, so that
the reader wakes up and ends.

Four threads share two cores on the usual machine, so each of them is stopped now and then in the middle of a
chunk. A few more chunks than parsers are under way, so that the others find work meanwhile.

After the first few chunks the columns are reserved for the size that the whole will have: columns that grow
bit by bit are copied again and again, or moved, which loses their huge pages.
"""

from __future__ import annotations

import codecs
import datetime
import gzip
import io
import lzma
import os
import queue
import threading
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from ipmicra.edge.hierarchy_file import shown
from ipmicra.edge.memory_limit import make_sure_of
from ipmicra.errors import DumpError, TruncatedDumpError, UnknownDialectError
from ipmicra.model.registry import Registry
from ipmicra.native import kernels
from ipmicra.parse.columns import Columns
from ipmicra.parse.dialect import HEAD_BYTES, Dialect, recognise
from ipmicra.parse.parser import Parser

try:
    from isal import igzip, isal_zlib

    _GzipFile: type[gzip.GzipFile] = igzip.IGzipFile
    _ZLIB_ERRORS: Any = (zlib.error, isal_zlib.error)
except ImportError:  # a platform without isal: the same, about eight times slower
    _GzipFile = gzip.GzipFile
    _ZLIB_ERRORS = (zlib.error,)

_READER_BYTES = 1 << 20
"""More than a reader of isal takes: a buffer of 512 KiB and tables."""
_DAMAGE: tuple[type[Exception], ...] = (
    EOFError,
    OSError,
    UnicodeDecodeError,
    lzma.LZMAError,
    zipfile.BadZipFile,
    *_ZLIB_ERRORS,
)
CHUNK_BYTES = 2 << 20
"""Text handed to the parser at a time; it stays in the processor's cache."""
LONGEST_PARAGRAPH = 64 << 20
"""Bytes after which a text without a break is no dump."""
LARGEST_TABLE = 16 << 20
"""Bytes of the largest dump that has to be read in one piece."""
MOST_WORKERS = 4
SPARE_CHUNKS = 2
"""Chunks under way besides those being parsed: parsed already, or waiting for a parser."""
SPARE_BUFFERS = 4
"""Buffers besides those under way: being filled, or ready. With two, reading took a third longer."""
KNOWN_CHUNKS = 4
"""After so many chunks the room for the whole dump is estimated."""
SPARE_ROOM = 2.5
"""Room that is reserved, as a multiple of the estimate. What is not used takes address space only, and the
estimate is low: decompression has read further than the chunks that are added."""
_BREAKS = {"blank line": (b"\n\n", b"\n\r\n"), "line": (b"\n",), "none": ()}


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpInfo:
    """Facts about a dump before it is read."""

    path: Path
    dialect: Dialect
    registry: Registry
    """Registry of paragraphs that name none."""
    size_bytes: int
    """Size on disk."""
    date: str
    """Day of the file's last change, ISO 8601, UTC."""

    @property
    def name(self) -> str:
        """The file's name as text; a name may be any bytes."""
        return shown(self.path.name)


class _Unpacked(_GzipFile):  # type: ignore[misc,valid-type]
    """A gzip file that is decompressed into the reader's buffer, not into a new one that is then copied."""

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - as for a gzip file
        """Open it if there is memory for that: isal 1.8 follows a null pointer where it gets none."""
        make_sure_of(_READER_BYTES)
        super().__init__(**given)

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - whatever has a buffer
        """Read as much as the buffer has room for; 0 at the end."""
        return cast("io.BufferedReader", self._buffer).readinto(buffer)


@dataclass(slots=True)
class _Chunk:
    """A buffer and how much of it is text to parse."""

    buffer: bytearray
    size: int
    read_bytes: int
    """Bytes of the file that were read up to its end."""


def inspect(path: Path) -> DumpInfo:
    """Recognise a dump without reading it."""
    if not path.is_dir() and path.exists() and not path.is_file():
        raise DumpError(str(path), 0, "a pipe or device, which can be read only once; save it in a file")
    with _damage_named(path) as raw, _plain(path, raw) as text:
        head = text.read(HEAD_BYTES)
        status = os.fstat(raw.fileno())
    if not head:
        raise UnknownDialectError(str(path), 0, "the dump is empty; fetch it again")
    found = recognise(head)
    if found is None:
        nul = head.find(b"\0")
        reason = "a binary file" if nul >= 0 else "no registry dialect that ipmicra reads"
        raise UnknownDialectError(str(path), max(nul, 0), f"{reason}; see docs/dialects.md")
    day = datetime.datetime.fromtimestamp(status.st_mtime, datetime.UTC).date()
    return DumpInfo(
        path=path, dialect=found[0], registry=found[1], size_bytes=status.st_size, date=day.isoformat()
    )


def read_dump(
    info: DumpInfo, progress: Callable[[int], None] | None = None, workers: int | None = None
) -> Columns:
    """Read a dump into columns; see `gather_dump`."""
    return Columns.of(gather_dump(info, progress, workers))


def gather_dump(
    info: DumpInfo,
    progress: Callable[[int], None] | None = None,
    workers: int | None = None,
    into: kernels.Gatherer | None = None,
    more_bytes: int = 0,
) -> kernels.Gatherer:
    """Read a dump; progress receives how many bytes of the file are done.

    Several chunks are parsed at the same time, by default as many as there are processors, up to four:
    decompression cannot feed more. What is read is appended to `into`, if given; `more_bytes` is the size of
    the dumps that will follow it there. A dump that fails leaves nothing behind.
    """
    workers = workers or min(os.cpu_count() or 1, MOST_WORKERS)
    under_way = workers + SPARE_CHUNKS
    reader = _Reader(info, progress, buffers=under_way + SPARE_BUFFERS)
    parser = Parser(info.dialect, info.registry, into)
    gathering = _Gathering(parser, reader, info.size_bytes + more_bytes)
    try:
        with (
            ThreadPoolExecutor(workers, thread_name_prefix="parse") as pool,
            closing(reader.chunks()) as chunks,
        ):
            for chunk in chunks:
                gathering.submit(pool, chunk)
                gathering.settle(under_way)
            gathering.settle(0)
    except BaseException:
        parser.gatherer.drop()
        raise
    return parser.gatherer


class _Gathering:
    """Chunks that are being parsed, in the order of the dump."""

    def __init__(self, parser: Parser, reader: _Reader, expected_bytes: int) -> None:
        self.parser = parser
        self._expected_bytes = expected_bytes
        self._reader = reader
        self._added = 0
        self._waiting: deque[tuple[_Chunk, Future[kernels.Sheet]]] = deque()
        self._sheets: list[kernels.Sheet] = []

    def submit(self, pool: ThreadPoolExecutor, chunk: _Chunk) -> None:
        """Have a chunk parsed."""
        sheet = self._sheets.pop() if self._sheets else kernels.Sheet()
        self._waiting.append((chunk, pool.submit(self.parser.parse, chunk.buffer, chunk.size, sheet)))

    def settle(self, most: int) -> None:
        """Add the results of the oldest chunks until so many are left waiting."""
        while len(self._waiting) > most:
            chunk, parsed = self._waiting.popleft()
            sheet = parsed.result()
            self._reader.take_back(chunk)
            self.parser.add(sheet)
            self._sheets.append(sheet)
            self._reserve(chunk.read_bytes)

    def _reserve(self, read_bytes: int) -> None:
        """Reserve room for the whole dump once a part of it shows how dense it is."""
        self._added += 1
        if self._added == KNOWN_CHUNKS:
            self.parser.gatherer.reserve(SPARE_ROOM * self._expected_bytes / read_bytes)


@contextmanager
def _damage_named(path: Path) -> Iterator[BinaryIO]:
    """Open a file; errors of its decompression become one that names file and byte."""
    with path.open("rb") as raw:
        try:
            yield raw
        except TruncatedDumpError:
            raise
        except _DAMAGE as error:
            reason = f"the compressed data is cut or damaged ({error}); fetch the dump again"
            raise TruncatedDumpError(str(path), raw.tell(), reason) from error


def _plain(path: Path, raw: BinaryIO) -> IO[bytes]:
    """Return a stream of plain text, whatever the file is packed in."""
    magic = raw.read(4)
    raw.seek(0)
    if magic.startswith(b"\x1f\x8b"):
        return _Unpacked(fileobj=raw, mode="rb")
    if magic == b"PK\x03\x04":
        try:
            archive = zipfile.ZipFile(raw)
            return archive.open(_member(path, archive.namelist()))
        except RuntimeError as error:  # encrypted, or of an unknown version or method
            raise UnknownDialectError(
                str(path), 0, f"{error}; unpack the archive and name the dump"
            ) from error
    if magic.startswith((b"BZh", b"\xfd7zX", b"\x28\xb5\x2f\xfd")):
        raise UnknownDialectError(str(path), 0, "packed with bzip2, xz or zstd; repack it with gzip")
    return raw


def _member(path: Path, names: list[str]) -> str:
    """Choose the file of a zip archive that is the dump."""
    names = [name for name in names if not name.endswith("/")]
    if len(names) == 1:
        return names[0]
    likely = [name for name in names if "arin" in name.lower() and name.lower().endswith(".txt")]
    if len(likely) == 1:
        return likely[0]
    listed = ", ".join(names[:5]) or "nothing"
    raise UnknownDialectError(str(path), 0, f"the archive holds {listed}; unpack the dump and name it")


class _Reader:
    """Cuts the text of a dump into chunks, ahead of the parser."""

    def __init__(self, info: DumpInfo, progress: Callable[[int], None] | None, buffers: int) -> None:
        self._info = info
        self._progress = progress
        self._buffers = buffers
        self._breaks = _BREAKS[info.dialect.separator]
        self._limit = LONGEST_PARAGRAPH if self._breaks else LARGEST_TABLE
        self._free: queue.SimpleQueue[bytearray] = queue.SimpleQueue()
        self._ready: queue.SimpleQueue[_Chunk | BaseException | None] = queue.SimpleQueue()
        self._is_stopped = False

    def chunks(self) -> Generator[_Chunk, None, None]:
        """Yield chunks in order; return each by `take_back`."""
        for _ in range(self._buffers):
            self._free.put(bytearray(CHUNK_BYTES))
        thread = threading.Thread(target=self._run, name=f"read {self._info.path.name}", daemon=True)
        thread.start()
        try:
            while (item := self._ready.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            self._is_stopped = True
            self._free.put(bytearray())
            thread.join()

    def take_back(self, chunk: _Chunk) -> None:
        """Use a chunk's buffer again."""
        self._free.put(chunk.buffer)

    def _run(self) -> None:
        """Read to the end; pass on whatever exception stopped it."""
        try:
            with _damage_named(self._info.path) as raw, _plain(self._info.path, raw) as text:
                _skip_byte_order_mark(text)
                self._cut(raw, text)
            self._ready.put(None)
        except BaseException as error:  # noqa: BLE001 - raised again by the parsing thread
            self._ready.put(error)

    def _cut(self, raw: BinaryIO, text: IO[bytes]) -> None:
        """Fill buffers and cut each at its last break; the rest starts the next."""
        rest = b""
        done = 0
        while not self._is_stopped:
            capacity = max(CHUNK_BYTES, 2 * len(rest))
            buffer = _with_room(self._free.get(), capacity)
            buffer[: len(rest)] = rest
            size = _fill(text, buffer, len(rest), capacity)
            while size == capacity and self._last_break(buffer, size) == 0:
                capacity *= 2
                if capacity > self._limit:
                    missing = self._info.dialect.separator
                    reason = f"{self._limit >> 20} MiB without a {missing} between records"
                    raise DumpError(str(self._info.path), done, reason)
                buffer = _with_room(buffer, capacity)
                size = _fill(text, buffer, size, capacity)
            is_last = size < capacity
            cut = size if is_last else self._last_break(buffer, size)
            rest = bytes(memoryview(buffer)[cut:size])
            done += cut
            read_bytes = raw.tell()
            self._ready.put(_Chunk(buffer, cut, read_bytes))
            if self._progress is not None:
                self._progress(read_bytes)
            if is_last:
                return

    def _last_break(self, buffer: bytearray, size: int) -> int:
        """Return the position behind a late break, 0 if there is none.

        A missing mark costs a search of the whole buffer, so the one found last is tried first.
        """
        for mark in self._breaks:
            at = buffer.rfind(mark, 0, size)
            if at >= 0:
                self._breaks = (mark, *(other for other in self._breaks if other != mark))
                return at + len(mark)
        return 0


def _skip_byte_order_mark(text: IO[bytes]) -> None:
    """Step over the mark that some editors put before UTF-8; it is no part of the first key."""
    if cast("io.BufferedReader", text).peek(3).startswith(codecs.BOM_UTF8):
        text.read(3)


def _fill(text: IO[bytes], buffer: bytearray, start: int, end: int) -> int:
    """Read until the buffer is full or the text ends; return the position behind."""
    stream = cast(io.BufferedIOBase, text)
    with memoryview(buffer) as view:
        while start < end:
            count = stream.readinto(view[start:end])
            if not count:
                break
            start += count
    return start


def _with_room(buffer: bytearray, capacity: int) -> bytearray:
    """Return the buffer, or a larger one with the same content, that has room for so much text."""
    missing = capacity - len(buffer)
    return buffer + bytes(missing) if missing > 0 else buffer
