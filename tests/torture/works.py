"""Pieces of work that write files, and what must hold of these files whatever happened meanwhile.

Each work prepares a folder, is run in it, and is checked: what it acknowledged is there, as it was written;
what it did not is there as a whole or not at all; and the next run is not held up by what the last one left.
"""

from __future__ import annotations

import gzip
import io
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Self

from warcio.archiveiterator import ArchiveIterator

from ipmicra.app.build.build import build
from ipmicra.edge.crawl_node.frontier import Frontier, Waiting
from ipmicra.edge.crawl_node.outputs import OPEN, Outputs
from ipmicra.edge.crawl_node.warc import Exchanged, WarcOutput
from ipmicra.edge.crawls.ledger import Ledger
from ipmicra.edge.scrapy.journal import Journal
from ipmicra.edge.store.store import Store
from ipmicra.errors import IpmicraError
from ipmicra.model.assignment import Assignment
from ipmicra.model.link import Link, Share
from tests.delegating_worlds import subnet_dump

Acknowledge = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Something that writes into a folder."""

    prepare: Callable[[Path], object]
    """Called once, before anything fails."""
    run: Callable[[Path, Acknowledge], object]
    """Acknowledges, by numbers that count up from 1, what is done."""
    check: Callable[[Path, list[int]], Iterable[str]]
    """Return what is wrong, in sentences, given what was acknowledged; may write, as the next run would."""
    survives_power_cuts: bool = True
    """Whether what was acknowledged must be there after a power cut, too; else it may be done again."""


class _Stubborn:
    """Goes on after errors, as a service does; the first one is raised at the end."""

    def __init__(self) -> None:
        self._first: Exception | None = None

    @contextmanager
    def going_on(self) -> Iterator[None]:
        try:
            yield
        except (IpmicraError, OSError, sqlite3.Error) as error:
            self._first = self._first or error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._first is not None:
            raise self._first


def _nothing(_folder: Path) -> None:
    return


# --- the store: transactions of three rows

_TRANSACTIONS, _ROWS = 12, 3


def _rows(number: int) -> dict[str, Assignment]:
    made = (
        Assignment(
            host=f"h{row}.of{number}.example",
            address=ip_address(f"192.0.{row}.{number}"),
            crawler="fra",
            reason="nearest " + "x" * 500,
            backend="balance",
        )
        for row in range(_ROWS)
    )
    return {one.host: one for one in made}


def _run_store(folder: Path, acknowledge: Acknowledge) -> None:
    with Store.open(str(folder / "state.db")) as store, _Stubborn() as stubborn:
        for number in range(1, _TRANSACTIONS + 1):
            with stubborn.going_on():
                with store.transaction():
                    for one in _rows(number).values():
                        store.assignments.put_many([one])
                acknowledge(number)


def _check_store(folder: Path, acknowledged: list[int]) -> Iterable[str]:
    with Store.open(str(folder / "state.db")) as store:
        for number in range(1, _TRANSACTIONS + 1):
            wanted = _rows(number)
            found = {host: one for host, (one,) in store.assignments.of_many(list(wanted)).items()}
            if found not in ({}, wanted):
                yield f"transaction {number} is there by halves"
            if number in acknowledged and found != wanted:
                yield f"transaction {number} was acknowledged and is lost"
    yield from _unsound(folder / "state.db")


def _unsound(path: Path) -> Iterable[str]:
    with closing(sqlite3.connect(path)) as database:
        found = [row[0] for row in database.execute("PRAGMA integrity_check")]
    return [] if found == ["ok"] else found


# --- a hierarchy that replaces another one


def _dump(folder: Path, subnets: int) -> Path:
    path = folder.parent / f"dump{subnets}.db"
    path.write_text(subnet_dump(subnets))
    return path


def _prepare_hierarchy(folder: Path) -> None:
    build([_dump(folder, 3)], folder / "hierarchy.ipm")


def _run_hierarchy(folder: Path, acknowledge: Acknowledge) -> None:
    build([_dump(folder, 9)], folder / "hierarchy.ipm")
    acknowledge(1)


def _check_hierarchy(folder: Path, acknowledged: list[int]) -> Iterable[str]:
    found = (folder / "hierarchy.ipm").read_bytes()
    old, new = _whole(folder, 3), _whole(folder, 9)
    if found not in (old, new):
        yield f"the hierarchy is neither the old nor the new one: {len(found):,} bytes"
    if acknowledged and found != new:
        yield "the hierarchy was reported as built and is not the new one"


def _whole(folder: Path, subnets: int) -> bytes:
    whole = folder.parent / f"whole{subnets}.ipm"
    if not whole.exists():
        build([_dump(folder, subnets)], whole)
    return whole.read_bytes()


# --- the mailboxes of a coordinator

_BATCHES, _LINKS = 8, 4


def _links(batch: int) -> list[Link]:
    return [
        Link(url=f"http://h{batch}.example/{i}", host=f"h{batch}.example", key=batch * 100 + i + 1)
        for i in range(_LINKS)
    ]


def _run_mailboxes(folder: Path, acknowledge: Acknowledge) -> None:
    with closing(Ledger(folder / "crawls.db")) as ledger, _Stubborn() as stubborn:
        crawl = ledger.begin("crawl", 1.0)
        for batch in range(1, _BATCHES + 1):
            share = Share(crawler="fra", slot=f"slot{batch}")
            with stubborn.going_on():
                with ledger.transaction():
                    ledger.add(crawl.id, [(link, share) for link in _links(batch)])
                acknowledge(batch)


def _check_mailboxes(folder: Path, acknowledged: list[int]) -> Iterable[str]:
    with closing(Ledger(folder / "crawls.db")) as ledger:
        for crawl in ledger.crawls():
            for batch in range(1, _BATCHES + 1):
                with ledger.transaction():
                    found = ledger.deliver(crawl.id, ("fra", f"slot{batch}"), "node", 1, 100)
                if len(found) not in {0, _LINKS}:
                    yield f"batch {batch} is there by halves"
                if batch in acknowledged and len(found) != _LINKS:
                    yield f"batch {batch} was acknowledged and is lost"
        if acknowledged and not ledger.crawls():
            yield "the crawl itself is lost"
    yield from _unsound(folder / "crawls.db")


# --- what a node has to report


def _run_journal(folder: Path, acknowledge: Acknowledge) -> None:
    with closing(Journal(folder)) as journal, _Stubborn() as stubborn:
        for batch in range(1, _BATCHES + 1):
            with stubborn.going_on():
                journal.append([*_links(batch), batch])
                acknowledge(batch)


def _check_journal(folder: Path, acknowledged: list[int]) -> Iterable[str]:
    with closing(Journal(folder)) as journal:
        entries = journal.entries()
    wanted = [one for batch in range(1, _BATCHES + 1) for one in (*_links(batch), batch)]
    if entries != wanted[: len(entries)]:
        yield "the journal is no beginning of what was written"
    if len(entries) < len(acknowledged) * (_LINKS + 1):
        yield f"{len(acknowledged)} batches were acknowledged, {len(entries)} entries are there"


# --- pages of a crawl: WARC files in step with the frontier

_PAGES = 6
_MOST = 3_000
"""Bytes of a WARC file: small, so that some are completed."""


def _url(number: int) -> str:
    return f"http://site.example/{number}"


def _run_pages(folder: Path, acknowledge: Acknowledge) -> None:
    with Frontier.open(folder / "frontier.db") as frontier, _Stubborn() as stubborn:
        outputs = Outputs(folder, frontier)
        warc = WarcOutput(outputs, "pages", _MOST)
        for number in range(1, _PAGES + 1):
            with stubborn.going_on():
                key, slot = number.to_bytes(8, "big"), f"slot{number}"
                frontier.add(Waiting(key=key, host="site.example", slot=slot, content=_url(number).encode()))
                taken = frontier.take(slot)
                assert taken is not None
                warc.write(_page(number))
                frontier.finish([taken[0]])
                outputs.commit()
                acknowledge(number)
        outputs.close(is_done=True)


def _page(number: int) -> Exchanged:
    return Exchanged(
        url=_url(number),
        method="GET",
        target=f"/{number}",
        request_headers=[("Host", "site.example")],
        status=200,
        reason="OK",
        headers=[("Content-Type", "text/html")],
        body=(f"<p>{number}</p>".encode()) + bytes(range(256)) * 4,
        fetched_s=1_700_000_000.0 + number,
    )


def _check_pages(folder: Path, acknowledged: list[int]) -> Iterable[str]:
    with Frontier.open(folder / "frontier.db") as frontier:
        Outputs(folder, frontier).close(is_done=True)
    with closing(sqlite3.connect(folder / "frontier.db")) as database:
        done = {int.from_bytes(key) for (key,) in database.execute("SELECT key FROM urls WHERE state = 2")}
    kept: dict[str, bytes] = {}
    for path in sorted(folder.glob("*.warc.gz")):
        try:
            gzip.decompress(path.read_bytes())
        except (OSError, EOFError) as error:
            yield f"{path.name} is damaged: {error}"
            continue
        for record in ArchiveIterator(io.BytesIO(path.read_bytes())):
            if record.rec_type == "response":
                kept[record.rec_headers.get_header("WARC-Target-URI")] = record.content_stream().read()
    for number in {*acknowledged} | done:
        if kept.get(_url(number)) != _page(number).body:
            yield f"page {number} counts as fetched and is not in the WARC files"
    if list(folder.glob(f"*{OPEN}")):
        yield "a file is left open"


WORKS = {
    "store": Work(prepare=_nothing, run=_run_store, check=_check_store),
    "hierarchy": Work(prepare=_prepare_hierarchy, run=_run_hierarchy, check=_check_hierarchy),
    "mailboxes": Work(prepare=_nothing, run=_run_mailboxes, check=_check_mailboxes),
    "journal": Work(prepare=_nothing, run=_run_journal, check=_check_journal, survives_power_cuts=False),
    "pages": Work(prepare=_nothing, run=_run_pages, check=_check_pages, survives_power_cuts=False),
}
