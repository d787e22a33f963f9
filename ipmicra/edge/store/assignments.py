"""Keep assignments: who crawls which site, or piece of a site; and what changed since when.

Every change has a number, and numbers only grow: an assignment has that of its last change, and what a
crawler lost is kept with the number of the loss. So a crawler that remembers the last number it saw asks for
what came after, and misses nothing (`changes`). A loss is kept once per crawler and piece, not once per
event: what matters is how things stand. The counter is a row that each transaction changes, so that numbers
become visible in their order even where several processes write. What crawlers hold is counted with every
change (`assignment_loads.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ipmicra.assign.balance.load import FleetLoads
from ipmicra.edge.store.assignment_loads import count_changes, read_loads
from ipmicra.edge.store.connection import Connection, in_transaction
from ipmicra.edge.store.counters import add_count, counted
from ipmicra.edge.store.keys import packed, unpacked
from ipmicra.edge.store.schema import Index, Row, Table
from ipmicra.model.address import Address
from ipmicra.model.assignment import Assignment, AssignmentChange

ASSIGNMENTS = Table(
    "assignments",
    {
        "host": str,
        "vantage": str,
        "piece": int,
        "of": int,
        "address": bytes,
        "crawler": str | None,
        "reason": str,
        "backend": str,
        "expected_ms": float | None,
        "pages": int | None,
        "filters": str,
        "assigned_s": float,
        "rule": str,
        "seq": int,
    },
    key=("host", "vantage", "piece"),
    indexes=(
        Index(name="assignments_by_change", columns=("seq",)),
        Index(name="assignments_by_crawler", columns=("crawler", "seq")),
        Index(name="assignments_by_address", columns=("address",)),
    ),
    defaults={"vantage": "", "rule": "", "seq": 0},
)
"""`filters` is a JSON list; `seq` the number of the last change."""
LOST_ASSIGNMENTS = Table(
    "lost_assignments",
    {"crawler": str, "host": str, "vantage": str, "piece": int, "of": int, "at_s": float, "seq": int},
    key=("crawler", "host", "vantage", "piece"),
    indexes=(
        Index(name="losses_by_change", columns=("seq",)),
        Index(name="losses_by_crawler", columns=("crawler", "seq")),
    ),
)
_ASSIGNMENT = ASSIGNMENTS.shape(without=("seq",))
_NUMBERED = ASSIGNMENTS.shape()
_LOSS = LOST_ASSIGNMENTS.shape()
_REGAIN = "DELETE FROM lost_assignments WHERE crawler = ? AND host = ? AND vantage = ? AND piece = ?"
_COUNTER = "assignments"
_AT_ONCE = 500
"""Hosts in one question to the database."""


class AssignmentTable:
    """Assignments by host, vantage and piece."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    @in_transaction
    def put_many(self, assignments: Iterable[Assignment]) -> None:
        """Keep assignments in place of those their hosts had; all or none."""
        kept = list(assignments)
        hosts = list(dict.fromkeys(one.host for one in kept))
        before = {_place(one): (one, seq) for one, seq in self._numbered(hosts)}
        self._connection.execute_many("DELETE FROM assignments WHERE host = ?", [(host,) for host in hosts])
        same = {
            _place(one): before[_place(one)][1]
            for one in kept
            if _place(one) in before and _is_same(one, before[_place(one)][0])
        }
        number = self._take_numbers(len(kept) - len(same))
        rows = []
        for one in kept:
            seq = same.get(_place(one))
            if seq is None:
                seq = number = number + 1
            rows.append((*_row_of(one), seq))
        self._connection.execute_many(ASSIGNMENTS.insert, rows)
        former = [one for one, _ in before.values()]
        self._note(kept, former)
        count_changes(self._connection, former, kept)

    def _note(self, kept: list[Assignment], before: list[Assignment]) -> None:
        """Note what crawlers lost, and take back what they have again."""
        holders = {_place(one): one.crawler for one in kept}
        lost = [one for one in before if one.crawler and holders.get(_place(one)) != one.crawler]
        self._connection.execute_many(
            _REGAIN, [(one.crawler, one.host, one.vantage, one.piece) for one in kept if one.crawler]
        )
        at_s = max((one.assigned_s for one in kept), default=0.0)
        self._lose(lost, at_s)

    def _lose(self, lost: list[Assignment], at_s: float) -> None:
        number = self._take_numbers(len(lost))
        rows = [
            (one.crawler, one.host, one.vantage, one.piece, one.of, at_s, number + 1 + i)
            for i, one in enumerate(lost)
        ]
        self._connection.execute_many(LOST_ASSIGNMENTS.put, rows)

    def _take_numbers(self, count: int) -> int:
        """Take as many numbers as there are changes; return the one before the first."""
        if not count:
            return 0
        add_count(self._connection, _COUNTER, count)
        return self.last_change() - count

    def last_change(self) -> int:
        """Return the number of the last change; 0 before the first."""
        return counted(self._connection, _COUNTER)

    def _numbered(self, hosts: Sequence[str]) -> list[tuple[Assignment, int]]:
        found: list[tuple[Assignment, int]] = []
        for start in range(0, len(hosts), _AT_ONCE):
            part = hosts[start : start + _AT_ONCE]
            where = f"WHERE host IN ({', '.join('?' * len(part))}) ORDER BY host, vantage, piece"
            found += self._connection.read(_NUMBERED, _numbered_of, where, part)
        return found

    def all(self) -> list[Assignment]:
        """Return all, by host, vantage and piece."""
        return self._connection.read(_ASSIGNMENT, _assignment_of, "ORDER BY host, vantage, piece")

    def of(self, host: str) -> list[Assignment]:
        """Return those of a host, by vantage and piece."""
        where = "WHERE host = ? ORDER BY vantage, piece"
        return self._connection.read(_ASSIGNMENT, _assignment_of, where, (host,))

    def of_many(self, hosts: Sequence[str]) -> dict[str, list[Assignment]]:
        """Return those of hosts, by vantage and piece; hosts without any are left out."""
        found: dict[str, list[Assignment]] = {}
        for one, _ in self._numbered(hosts):
            found.setdefault(one.host, []).append(one)
        return found

    def of_crawler(self, crawler: str | None) -> list[Assignment]:
        """Return those of a crawler, by host, vantage and piece; None for those that have none."""
        where, values = ("WHERE crawler IS NULL", []) if crawler is None else ("WHERE crawler = ?", [crawler])
        found = self._connection.read(_ASSIGNMENT, _assignment_of, where, values)
        return sorted(found, key=_place)

    def loads(self) -> FleetLoads:
        """Return what crawlers hold, without reading all assignments."""
        return read_loads(self._connection)

    def at(self, address: Address, count: int) -> list[Assignment]:
        """Return assignments of hosts at an address, so many at most, the latest first."""
        where = "WHERE address = ? ORDER BY seq DESC LIMIT ?"
        return self._connection.read(_ASSIGNMENT, _assignment_of, where, (packed(address), count))

    def after(self, host: str, count: int, crawler: str | None = None) -> list[Assignment]:
        """Return the assignments of the hosts that follow one in the order of names, at least so many.

        The last host is complete, unless it alone is more than that.
        """
        values: list[object] = [host, *([] if crawler is None else [crawler]), count]
        own = "" if crawler is None else "AND crawler = ? "
        where = f"WHERE host > ? {own}ORDER BY host, vantage, piece LIMIT ?"
        found = self._connection.read(_ASSIGNMENT, _assignment_of, where, values)
        if len(found) == count and found[0].host != found[-1].host:
            last = found[-1].host
            return [one for one in found if one.host != last]
        return found

    def changes(self, since: int, count: int, crawler: str | None = None) -> list[AssignmentChange]:
        """Return what came after a number, oldest first: assignments as they are now, and what was lost."""
        own, values = (
            ("", [since, count]) if crawler is None else ("crawler = ? AND ", [crawler, since, count])
        )
        where = f"WHERE {own}seq > ? ORDER BY seq LIMIT ?"
        gained = self._connection.read(_NUMBERED, _change_of, where, values)
        lost = self._connection.read(_LOSS, _loss_of, where, values)
        return sorted([*gained, *lost], key=lambda one: one.seq)[:count]

    @in_transaction
    def forget(self, hosts: Iterable[str], at_s: float = 0.0) -> int:
        """Remove those of hosts; return how many."""
        names = list(hosts)
        gone = [one for one, _ in self._numbered(names)]
        self._connection.execute_many("DELETE FROM assignments WHERE host = ?", [(host,) for host in names])
        self._lose([one for one in gone if one.crawler], at_s)
        count_changes(self._connection, gone, [])
        return len(gone)


def _place(one: Assignment) -> tuple[str, str, int]:
    return one.host, one.vantage, one.piece


def _is_same(one: Assignment, other: Assignment) -> bool:
    """Return whether nothing changed for a crawler: the time of the assignment does not count."""
    return _row_of(replace(one, assigned_s=0.0)) == _row_of(replace(other, assigned_s=0.0))


def _row_of(one: Assignment) -> tuple[object, ...]:
    return (
        one.host,
        one.vantage,
        one.piece,
        one.of,
        packed(one.address),
        one.crawler,
        one.reason,
        one.backend,
        one.expected_ms,
        one.pages,
        json.dumps(one.filters),
        one.assigned_s,
        one.rule,
    )


def _assignment_of(row: Row) -> Assignment:
    return Assignment(
        host=row[0],
        vantage=row[1],
        piece=row[2],
        of=row[3],
        address=unpacked(row[4]),
        crawler=row[5],
        reason=row[6],
        backend=row[7],
        expected_ms=row[8],
        pages=row[9],
        filters=tuple(map(str, json.loads(row[10]))),
        assigned_s=row[11],
        rule=row[12],
    )


def _numbered_of(row: Row) -> tuple[Assignment, int]:
    return _assignment_of(row[:-1]), row[-1]


def _change_of(row: Row) -> AssignmentChange:
    one = _assignment_of(row[:-1])
    return AssignmentChange(
        seq=row[-1],
        host=one.host,
        vantage=one.vantage,
        piece=one.piece,
        of=one.of,
        crawler=one.crawler,
        at_s=one.assigned_s,
        assignment=one,
    )


def _loss_of(row: Row) -> AssignmentChange:
    crawler, host, vantage, piece, of, at_s, seq = row
    return AssignmentChange(
        seq=seq, host=host, vantage=vantage, piece=piece, of=of, crawler=crawler, at_s=at_s
    )
