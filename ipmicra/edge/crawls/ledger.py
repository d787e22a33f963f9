"""The ledger of crawls: one SQLite file with every link that is known, who is to fetch it, and whether it is.

Theory of operation
-------------------
A link is one row per vantage. Its life is

    UNROUTED ─ owner found ─▶ WAITING ─ delivered ─▶ HELD ─ fetched ─▶ DONE
        │                        ▲                    │ ▲
        └─ no owner ─▶ REFUSED   └─ node left or died ┘ └─ claimed by the node that found it

and it is unfinished in every state but DONE and REFUSED. A node reports links in the order in which it found
them, and a page as done only after all links on it: so a page that is DONE here has all its links here, and
a crawl is at its end exactly if no link is unfinished and no node has anything to say. Rows of finished links
stay until the next run: they are what makes each URL fetched once.

Everything that one message changes is one transaction, and every change may be repeated. Commits wait for the
disk (`synchronous = FULL`): a node forgets what was acknowledged.

The file is none of the store's: it takes thousands of writes per second, is of no use once the crawl is over,
and belongs to the one coordinator that the crawl's nodes talk to.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from ipmicra.edge.store.connection import ConnectionConfig
from ipmicra.edge.store.sqlite import SqliteConnection
from ipmicra.errors import StoreError
from ipmicra.model.link import Link, Share
from ipmicra.wire.links import CrawlState, DeliveredLink
from ipmicra.wire.observed import Observed, observed_fields

SCHEMA = 3
"""Version of the tables; a file of another version is refused."""


class LinkState(IntEnum):
    """Where a link is; numbers are stored."""

    WAITING = 0
    HELD = 1
    DONE = 2
    UNROUTED = 3
    REFUSED = 4


_TABLES = """
CREATE TABLE crawls (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, run INTEGER NOT NULL, state TEXT NOT NULL,
    started_s FLOAT NOT NULL, ended_s FLOAT);
CREATE TABLE nodes (
    crawl INTEGER NOT NULL, node TEXT NOT NULL, crawler TEXT NOT NULL, session TEXT NOT NULL,
    is_there INTEGER NOT NULL, PRIMARY KEY (crawl, node));
CREATE TABLE blocks (
    crawl INTEGER NOT NULL, crawler TEXT NOT NULL, slot TEXT NOT NULL, node TEXT NOT NULL,
    PRIMARY KEY (crawl, crawler, slot)) WITHOUT ROWID;
CREATE TABLE hosts (
    crawl INTEGER NOT NULL, host TEXT NOT NULL, vantage TEXT NOT NULL, crawler TEXT NOT NULL,
    slot TEXT NOT NULL, filters TEXT NOT NULL);
CREATE INDEX hosts_by_name ON hosts (crawl, host);
CREATE TABLE links (
    number INTEGER PRIMARY KEY, crawl INTEGER NOT NULL, key INTEGER NOT NULL, vantage TEXT NOT NULL,
    crawler TEXT NOT NULL, slot TEXT NOT NULL, host TEXT NOT NULL, url TEXT NOT NULL, depth INTEGER NOT NULL,
    priority INTEGER NOT NULL, extra TEXT NOT NULL, state INTEGER NOT NULL,
    node TEXT NOT NULL DEFAULT '', delivery INTEGER NOT NULL DEFAULT 0);
CREATE TABLE sights (
    crawl INTEGER NOT NULL, crawler TEXT NOT NULL, host TEXT NOT NULL, address TEXT NOT NULL,
    pages INTEGER NOT NULL, bytes INTEGER NOT NULL, waited_s FLOAT NOT NULL, first_byte_ms FLOAT,
    refusals INTEGER NOT NULL, failures INTEGER NOT NULL,
    PRIMARY KEY (crawl, crawler, host)) WITHOUT ROWID;
CREATE UNIQUE INDEX links_once ON links (crawl, key, vantage);
CREATE INDEX links_waiting ON links (crawl, crawler, slot, priority DESC, number) WHERE state = 0;
CREATE INDEX links_held ON links (crawl, node, slot) WHERE state = 1;
CREATE INDEX links_unrouted ON links (crawl, host) WHERE state = 3;
"""
_ADD = (
    "INSERT OR IGNORE INTO links "
    "(crawl, vantage, crawler, slot, state, key, host, url, depth, priority, extra) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_CLAIM = (
    "INSERT INTO links (crawl, vantage, crawler, slot, state, key, host, url, depth, priority, extra, node) "
    "VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (crawl, key, vantage) "
    "DO UPDATE SET state = 1, node = excluded.node, delivery = 0 WHERE state = 0"
)
_SEE = (
    "INSERT INTO sights VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
    "address = excluded.address, pages = pages + excluded.pages, bytes = bytes + excluded.bytes, "
    "waited_s = waited_s + excluded.waited_s, refusals = refusals + excluded.refusals, "
    "failures = failures + excluded.failures, "
    "first_byte_ms = MIN(COALESCE(first_byte_ms, 1e9), COALESCE(excluded.first_byte_ms, 1e9))"
)
_OWN = (
    "state < 2 AND (node = ? OR state = 0 AND (crawler = ? OR EXISTS (SELECT 1 FROM blocks WHERE "
    "blocks.crawl = links.crawl AND blocks.crawler = links.crawler AND blocks.slot = links.slot "
    "AND blocks.node = ?)))"
)
"""Links that a node may finish: those it was last given, those that wait for its crawler, and those that wait
in blocks it holds for others. The last two are for processes that were killed before they claimed them."""
_LINK = "number, slot, key, url, host, depth, priority, extra"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRow:
    """One crawl."""

    id: int
    name: str
    run: int
    state: CrawlState


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRow:
    """One node of a crawl."""

    node: str
    crawler: str
    session: str
    is_there: bool


class Ledger:
    """The file; belongs to one thread."""

    def __init__(self, path: Path) -> None:
        """Open a file, made if it is missing."""
        self._connection = SqliteConnection(str(path), ConnectionConfig(synchronous="FULL"))
        self._raw, self._folder = self._connection.raw, path.parent
        (version,) = self._raw.execute("PRAGMA user_version").fetchone()
        if version not in {0, SCHEMA}:
            self.close()
            reason = (
                f"it was written by another version of ipmicra (schema {version}, known: {SCHEMA}): "
                "let its crawls end with that one, or move the file away, and they begin anew"
            )
            raise StoreError(str(path), reason)
        if not version:
            with self.transaction():
                for statement in _TABLES.split(";"):
                    self._raw.execute(statement)
                self._raw.execute(f"PRAGMA user_version = {SCHEMA}")

    def free_bytes(self) -> int:
        """Return how much the file's disk can take."""
        return shutil.disk_usage(self._folder).free

    def transaction(self) -> AbstractContextManager[None]:
        """Do all or nothing."""
        return self._connection.transaction()

    def interrupt(self) -> None:
        """End what is being read, with a StoreError; from any thread."""
        self._raw.interrupt()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # --- crawls and nodes

    def crawls(self, where: str = "", *values: object) -> list[CrawlRow]:
        """Return all crawls, or those of which something is so."""
        rows = self._raw.execute(f"SELECT id, name, run, state FROM crawls {where} ORDER BY name", values)  # noqa: S608
        return [CrawlRow(id=row[0], name=row[1], run=row[2], state=CrawlState(row[3])) for row in rows]

    def begin(self, name: str, now_s: float) -> CrawlRow:
        """Start a crawl, or the next run of one that has ended; links of that are for `sweep`."""
        with self.transaction():
            self._raw.execute(
                "INSERT INTO crawls (name, run, state, started_s) VALUES (?, 1, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET run = run + 1, state = excluded.state, "
                "started_s = excluded.started_s, ended_s = NULL, id = (SELECT MAX(id) + 1 FROM crawls)",
                (name, CrawlState.RUNNING, now_s),
            )
            for table in ("nodes", "blocks", "hosts", "sights"):
                self._raw.execute(f"DELETE FROM {table} WHERE crawl NOT IN (SELECT id FROM crawls)")  # noqa: S608
        return self.crawls("WHERE name = ?", name)[0]

    def runs_over(self) -> list[int]:
        """Return the numbers of runs that another followed, and that have links still."""
        known, found, crawl = {row.id for row in self.crawls()}, [], -1
        sql = "SELECT MIN(crawl) FROM links WHERE crawl > ?"
        while (crawl := self._raw.execute(sql, (crawl,)).fetchone()[0]) is not None:
            if crawl not in known:
                found.append(crawl)
        return found

    def sweep(self, crawl: int, after: int, most: int) -> int | None:
        """Remove a run's links among the next so many of the file; return the last number, None if none."""
        sql = "SELECT MAX(number) FROM (SELECT number FROM links WHERE number > ? ORDER BY number LIMIT ?)"
        last: int | None = self._raw.execute(sql, (after, most)).fetchone()[0]
        if last is not None:
            sql = "DELETE FROM links NOT INDEXED WHERE number > ? AND number <= ? AND crawl = ?"
            self._connection.execute(sql, (after, last, crawl))
        return last

    def end(self, crawl: int) -> None:
        """Note that all of a crawl is fetched; its pages are still to be counted."""
        sql = "UPDATE crawls SET state = ?, ended_s = NULL WHERE id = ?"
        self._connection.execute(sql, (CrawlState.ENDED, crawl))

    def note_counted(self, crawl: int, now_s: float) -> None:
        """Note that the pages of a crawl that has ended were counted and handed on."""
        self._connection.execute("UPDATE crawls SET ended_s = ? WHERE id = ?", (now_s, crawl))

    def uncounted(self) -> list[CrawlRow]:
        """Return the crawls that have ended and whose pages were not handed on."""
        return self.crawls("WHERE state = ? AND ended_s IS NULL", CrawlState.ENDED)

    def nodes(self, crawl: int) -> list[NodeRow]:
        """Return the nodes of a crawl."""
        sql = "SELECT node, crawler, session, is_there FROM nodes WHERE crawl = ? ORDER BY node"
        return [
            NodeRow(node=row[0], crawler=row[1], session=row[2], is_there=bool(row[3]))
            for row in self._raw.execute(sql, (crawl,))
        ]

    def put_node(self, crawl: int, row: NodeRow) -> None:
        """Write that a node joined, or left; what it held waits again."""
        with self.transaction():
            self._raw.execute(
                "INSERT OR REPLACE INTO nodes VALUES (?, ?, ?, ?, ?)",
                (crawl, row.node, row.crawler, row.session, row.is_there),
            )
            self.take_back(crawl, row.node)

    def take_back(self, crawl: int, node: str, slot: str | None = None) -> None:
        """Let what a node held wait again, all of it or that of a slot."""
        where = "crawl = ? AND node = ? AND state = 1" + ("" if slot is None else " AND slot = ?")
        sql = f"UPDATE links SET state = 0 WHERE {where}"  # noqa: S608 - who had them may still have fetched them
        self._connection.execute(sql, (crawl, node) if slot is None else (crawl, node, slot))

    def holders(self, crawl: int) -> dict[tuple[str, str], str]:
        """Return the node of each block, by crawler and slot."""
        sql = "SELECT crawler, slot, node FROM blocks WHERE crawl = ?"
        return {(row[0], row[1]): row[2] for row in self._raw.execute(sql, (crawl,))}

    def put_holders(self, crawl: int, holders: Iterable[tuple[str, str, str]]) -> None:
        """Write the nodes of blocks: crawler, slot and node of each."""
        sql = "INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?)"
        self._connection.execute_many(sql, [(crawl, *one) for one in holders])

    # --- links

    def add(self, crawl: int, rows: Iterable[tuple[Link, Share | None]]) -> int:
        """Add links, each with a share that it belongs to or None; return how many were not known."""
        return self._raw.executemany(
            _ADD,
            [
                (crawl, share.vantage, share.crawler, share.slot, 0, key, host, url, depth, priority, extra)
                if share is not None
                else (crawl, "", "", host, 3, key, host, url, depth, priority, extra)
                for (url, host, depth, priority, key, extra), share in rows
            ],
        ).rowcount

    def claim(self, crawl: int, node: str, rows: Iterable[tuple[Link, Share]]) -> None:
        """Add links that a node holds already, or note that it does; what is held or done stays as it is."""
        self._raw.executemany(
            _CLAIM,
            [
                (crawl, one.vantage, one.crawler, one.slot, key, host, url, depth, priority, extra, node)
                for (url, host, depth, priority, key, extra), one in rows
            ],
        )

    def finish(self, crawl: int, by: NodeRow, numbers: Iterable[int], keys: Iterable[int] = ()) -> None:
        """Note that a node has fetched links or given them up: delivered ones by number, claimed ones by key.

        Links that are none of its business stay as they are: see `_OWN`.
        """
        node, crawler = by.node, by.crawler
        sql = f"UPDATE links SET state = 2, node = '' WHERE number = ? AND crawl = ? AND {_OWN}"  # noqa: S608
        self._raw.executemany(sql, [(number, crawl, node, crawler, node) for number in numbers])
        sql = f"UPDATE links SET state = 2, node = '' WHERE key = ? AND crawl = ? AND {_OWN}"  # noqa: S608
        self._raw.executemany(sql, [(key, crawl, node, crawler, node) for key in keys])

    def deliver(
        self, crawl: int, block: tuple[str, str], node: str, delivery: int, most: int
    ) -> list[DeliveredLink]:
        """Hand waiting links of a block to a node, the most important first."""
        sql = (
            f"SELECT {_LINK} FROM links WHERE crawl = ? AND crawler = ? AND slot = ? AND state = 0 "  # noqa: S608
            "ORDER BY priority DESC, number LIMIT ?"
        )
        found = [_delivered(row) for row in self._raw.execute(sql, (crawl, *block, most))]
        sql = "UPDATE links SET state = 1, node = ?, delivery = ? WHERE number = ?"
        self._raw.executemany(sql, [(node, delivery, one.number) for one in found])
        return found

    def delivered(self, crawl: int, node: str, after: int) -> list[DeliveredLink]:
        """Return what a node holds and has not received: what was delivered after a number."""
        sql = f"SELECT {_LINK} FROM links WHERE crawl = ? AND node = ? AND state = 1 AND delivery > ?"  # noqa: S608
        return [_delivered(row) for row in self._raw.execute(sql, (crawl, node, after))]

    def held(self, crawl: int, node: str) -> list[tuple[int, str, int]]:
        """Return what was delivered to a node and is held: number, slot and delivery of each link."""
        sql = (
            "SELECT number, slot, delivery FROM links "
            "WHERE crawl = ? AND node = ? AND state = 1 AND delivery > 0"
        )
        return self._raw.execute(sql, (crawl, node)).fetchall()

    def waiting_blocks(self, crawl: int) -> list[tuple[str, str]]:
        """Return the blocks in which links wait."""
        sql = "SELECT DISTINCT crawler, slot FROM links WHERE crawl = ? AND state = 0"
        return [(row[0], row[1]) for row in self._raw.execute(sql, (crawl,))]

    def has_unfinished(self, crawl: int) -> bool:
        """Return whether any link is not fetched yet."""
        for state in (LinkState.WAITING, LinkState.HELD, LinkState.UNROUTED):
            # One question per state: each has an index of its own.
            sql = f"SELECT 1 FROM links WHERE crawl = ? AND state = {int(state)} LIMIT 1"  # noqa: S608
            if self._raw.execute(sql, (crawl,)).fetchone():
                return True
        return False

    def counts(self, crawl: int) -> dict[LinkState, int]:
        """Count links by state, as they lie in the file: by an index it takes ten times as long."""
        sql = "SELECT state, COUNT(*) FROM links NOT INDEXED WHERE crawl = ? GROUP BY state"
        return {LinkState(row[0]): row[1] for row in self._raw.execute(sql, (crawl,))}

    # --- what nodes observe

    def see(self, crawl: int, crawler: str, sights: Iterable[Observed]) -> None:
        """Add what a node observed of hosts while it downloaded."""
        rows = [(crawl, crawler, *observed_fields(one)[:-1]) for one in sights]  # the port is not counted
        self._raw.executemany(_SEE, rows)

    def seen(self, crawl: int) -> list[tuple[str, int, int, int, float, int, int]]:
        """Sum up by crawler: hosts, pages, bytes, seconds waited for first bytes, refusals, failures."""
        sql = (
            "SELECT crawler, COUNT(*), SUM(pages), SUM(bytes), SUM(waited_s), SUM(refusals), SUM(failures) "
            "FROM sights WHERE crawl = ? GROUP BY crawler ORDER BY crawler"
        )
        return self._raw.execute(sql, (crawl,)).fetchall()

    def pages(self, crawl: int) -> list[tuple[str, str, int]]:
        """Count the pages that were fetched: host, vantage, pages."""
        links = "links NOT INDEXED WHERE crawl = ? AND state = 2"
        sql = f"SELECT host, vantage, COUNT(*) FROM {links} GROUP BY host, vantage"  # noqa: S608
        return self._raw.execute(sql, (crawl,)).fetchall()

    # --- owners

    def shares(self, crawl: int) -> dict[str, tuple[Share, ...]]:
        """Return the shares of all hosts whose owners are known."""
        sql = "SELECT host, vantage, crawler, slot, filters FROM hosts WHERE crawl = ?"
        found: dict[str, tuple[Share, ...]] = {}
        for host, vantage, crawler, slot, filters in self._raw.execute(sql, (crawl,)):
            share = Share(crawler=crawler, slot=slot, vantage=vantage, filters=tuple(filters.split()))
            found[host] = (*found.get(host, ()), share)
        return found

    def unrouted(self, crawl: int) -> list[str]:
        """Return the hosts of links whose owners are not known."""
        sql = "SELECT DISTINCT host FROM links WHERE crawl = ? AND state = 3"
        return [row[0] for row in self._raw.execute(sql, (crawl,))]

    def put_shares(self, crawl: int, host: str, shares: Sequence[Share]) -> None:
        """Write who owns a host."""
        self._raw.execute("DELETE FROM hosts WHERE crawl = ? AND host = ?", (crawl, host))
        self._raw.executemany(
            "INSERT INTO hosts VALUES (?, ?, ?, ?, ?, ?)",
            [(crawl, host, one.vantage, one.crawler, one.slot, " ".join(one.filters)) for one in shares],
        )

    def take_unrouted(self, crawl: int, host: str) -> list[Link]:
        """Remove the links of a host that wait for its owners, to be added again."""
        sql = f"SELECT {_LINK} FROM links WHERE crawl = ? AND host = ? AND state = 3"  # noqa: S608
        found = [_delivered(row).link for row in self._raw.execute(sql, (crawl, host))]
        self._raw.execute("DELETE FROM links WHERE crawl = ? AND host = ? AND state = 3", (crawl, host))
        return found

    def refuse(self, crawl: int, host: str) -> None:
        """Give up the links of a host that nobody can own."""
        self._raw.execute(
            "UPDATE links SET state = 4 WHERE crawl = ? AND host = ? AND state = 3", (crawl, host)
        )

    def reroute(self, crawl: int, host: str, share: Share) -> None:
        """Let waiting links of a host belong to another crawler or slot."""
        self._raw.execute(
            "UPDATE links SET crawler = ?, slot = ? "
            "WHERE crawl = ? AND host = ? AND vantage = ? AND state = 0",
            (share.crawler, share.slot, crawl, host, share.vantage),
        )


def _delivered(row: tuple[int, str, int, str, str, int, int, str]) -> DeliveredLink:
    number, slot, key, url, host, depth, priority, extra = row
    link = Link(url=url, host=host, depth=depth, priority=priority, key=key, extra=extra)
    return DeliveredLink(number=number, slot=slot, link=link)
