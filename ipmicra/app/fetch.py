"""Fetching dumps: which ones, and several registries side by side.

Theory of operation
-------------------
Each registry is a group: its dumps are fetched one after another over one session, as one polite client.
Groups run side by side in at most `at_once` threads, which take them from a queue (`_work_off`). Every dump
puts exactly one outcome into a second queue, from which `_side_by_side` reads one per dump; a dump that
fails is an outcome, not an error. An unexpected error in a thread is put there too, and raised in the
thread that waits.

Stopping early, after such an error or Ctrl-C: `fetch_many` sets `halt`, and the two callbacks through which
every download regularly passes (progress and sleep) raise in their threads from then on. A thread that
waits for a silent server passes through neither. That is why threads are daemons and not those of a
`ThreadPoolExecutor`, whose threads the interpreter joins when it exits. They may die at any byte, because
unfinished downloads are safe on disk at every moment (`edge/fetch/partial.py`).
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

import requests

from ipmicra.edge.fetch.download import DEFAULT_OPTIONS, fetch
from ipmicra.edge.fetch.options import Progress as FetchProgress
from ipmicra.edge.log import EventLog
from ipmicra.edge.pace.blocking import guarded_session
from ipmicra.errors import FetchError, InputError
from ipmicra.model.dump_source import DUMP_SOURCES, DumpKind, DumpSource
from ipmicra.model.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ipmicra.edge.fetch.options import FetchOptions, FetchResult

T = TypeVar("T")
__all__ = ["DumpChoice", "FetchFailure", "FetchProgress", "FetchReport", "choose", "fetch_many"]
events = EventLog("fetch")

REGISTRY_NAMES: dict[str, Registry] = {
    **{source.registry.name.lower(): source.registry for source in DUMP_SOURCES},
    "ripencc": Registry.RIPE,
}
"""Names that select the dumps of a registry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpChoice:
    """Which dumps to fetch."""

    sources: tuple[DumpSource, ...]
    left_out: tuple[DumpSource, ...] = ()
    """Dumps that were not requested by name and whose API key is not set."""

    @property
    def everything(self) -> tuple[DumpSource, ...]:
        """All dumps that fit what was asked for."""
        return (*self.sources, *self.left_out)


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchFailure:
    """A dump that could not be fetched."""

    source: DumpSource
    error: FetchError


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchReport:
    """What became of the dumps, in the order they were asked for."""

    results: tuple[FetchResult, ...]
    failures: tuple[FetchFailure, ...]


def choose(
    wanted: Iterable[str] = (),
    *,
    kind: DumpKind | None = None,
    base_url: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> DumpChoice:
    """Choose dumps by the names of registries or of dumps; all if none is named.

    With `base_url` each is taken from `BASE/NAME`. API keys come from the environment. Without ARIN's key
    its bulk dump is left out; naming it (or ARIN) is then an error.
    """
    names = [name.lower() for name in wanted]
    sources = [source for source in _named(names) if kind in (None, source.kind)]
    if not sources:
        raise InputError(f"there are no {kind} dumps of {', '.join(names)}")
    if base_url is not None:
        _check_base_url(base_url)
        return DumpChoice(sources=tuple(source.at_mirror(base_url) for source in sources))
    keys = os.environ if environ is None else environ
    sources = [source.with_key(keys.get(source.needs_key or "", "")) for source in sources]
    left_out = [source for source in sources if source.needs_key and not source.key and not names]
    chosen = [source for source in sources if source not in left_out]
    return DumpChoice(sources=tuple(chosen), left_out=tuple(left_out))


def _named(names: Sequence[str]) -> tuple[DumpSource, ...]:
    """Find the dumps that are named, by their own name or their registry's; all if none is."""
    dumps = {source.name for source in DUMP_SOURCES}
    for name in names:
        if name not in REGISTRY_NAMES and name not in dumps:
            known = ", ".join(sorted(REGISTRY_NAMES))
            raise InputError(f"unknown registry {name!r}: known are {known}, and the names of dumps")
    registries = {REGISTRY_NAMES.get(name) for name in names}
    return tuple(
        source
        for source in DUMP_SOURCES
        if not names or source.name in names or source.registry in registries
    )


def _check_base_url(base_url: str) -> None:
    """Refuse a text that is not the URL of a web server."""
    try:
        parts = urlsplit(base_url)
    except ValueError as error:
        raise InputError(f"{base_url!r} is no URL: {error}") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InputError(f"{base_url!r} is no URL of a web server: it must start with http:// or https://")


def fetch_many(
    wanted: Iterable[str | DumpSource],
    folder: Path,
    *,
    sleep: Callable[[float], None],
    progress: Callable[[FetchProgress], None] | None = None,
    options: FetchOptions = DEFAULT_OPTIONS,
) -> FetchReport:
    """Download dumps into a folder, from a few registries at once and from each one file at a time.

    One that fails does not stop the others. `progress` may be called from several threads.
    """
    sources = _sources(wanted)
    events.info("fetch_begun", "{dumps} dumps into {folder}", dumps=len(sources), folder=folder)
    halt = threading.Event()

    def fetch_one(source: DumpSource, session: requests.Session) -> FetchResult | FetchFailure:
        """Download one dump; the thread ends at the next byte once the others have halted."""
        report = _until(halt, progress or (lambda _: None))
        try:
            result = fetch(
                source, folder, session=session, sleep=_until(halt, sleep), progress=report, options=options
            )
        except FetchError as error:
            events.info("dump_failed", "{dump}: {reason}", dump=source.name, reason=error)
            return FetchFailure(source=source, error=error)
        received = result.bytes_received
        fields = {"dump": source.name, "status": result.status, "bytes_received": received}
        events.info("dump_fetched", "{dump}: {status}", **fields)
        return result

    try:
        outcomes = dict(_side_by_side(sources, fetch_one, options.at_once))
    finally:
        halt.set()
    failed = sum(isinstance(outcome, FetchFailure) for outcome in outcomes.values())
    events.info("fetch_ended", "{dumps} dumps, {failed} failed", dumps=len(sources), failed=failed)
    in_order = [outcomes[source.name] for source in sources]
    return FetchReport(
        results=tuple(outcome for outcome in in_order if not isinstance(outcome, FetchFailure)),
        failures=tuple(outcome for outcome in in_order if isinstance(outcome, FetchFailure)),
    )


def _sources(wanted: Iterable[str | DumpSource]) -> list[DumpSource]:
    """Look up dumps that are given by name, and drop duplicates."""
    items = list(wanted)
    names = [item for item in items if isinstance(item, str)]
    given = [item for item in items if not isinstance(item, str)]
    chosen = choose(names).sources if names else ()
    return list({source.name: source for source in (*chosen, *given)}.values())


class _HaltedError(Exception):
    """Ends a thread whose result is no longer needed."""


def _until(halt: threading.Event, function: Callable[[T], None]) -> Callable[[T], None]:
    """Let a function raise once the work has been halted."""

    def guarded(value: T) -> None:
        if halt.is_set():
            raise _HaltedError
        function(value)

    return guarded


def _side_by_side(
    sources: Sequence[DumpSource], work: Callable[[DumpSource, requests.Session], T], at_once: int
) -> Iterator[tuple[str, T]]:
    """Work on the dumps of several registries at once, yielding each outcome with the name of its dump.

    The threads are daemons: after Ctrl-C the program need not wait for a silent server, and the files on
    disk may be cut off at any moment.
    """
    groups: SimpleQueue[list[DumpSource]] = SimpleQueue()
    for registry in dict.fromkeys(source.registry for source in sources):
        groups.put([source for source in sources if source.registry is registry])
    done: SimpleQueue[tuple[str, T] | BaseException] = SimpleQueue()
    count = min(at_once, groups.qsize())
    threads = [
        threading.Thread(target=_work_off, args=(groups, work, done), daemon=True) for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    for _ in sources:
        outcome = done.get()
        if isinstance(outcome, BaseException):
            raise outcome
        yield outcome
    for thread in threads:
        thread.join()


def _work_off(
    groups: SimpleQueue[list[DumpSource]],
    work: Callable[[DumpSource, requests.Session], T],
    done: SimpleQueue[tuple[str, T] | BaseException],
) -> None:
    """Take groups until none is left; an error is handed to the waiting thread."""
    try:
        while True:
            group = groups.get_nowait()
            with guarded_session() as session:
                for source in group:
                    done.put((source.name, work(source, session)))
    except Empty:
        return
    except BaseException as error:  # noqa: BLE001  raised again in the thread that waits
        done.put(error)
