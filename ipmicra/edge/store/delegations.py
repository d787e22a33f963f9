"""Keep delegations: who holds which subnet and why, and who held it before.

Theory of operation
-------------------
A row is a range of addresses with its crawler, and the account of why. Most rows of a long list are of single
addresses, so the table has no index by address for all of them. A hash of both bounds finds one (`keys.py`);
those of more than one address are few, and have an index by address of their own, which every run reads.

Rows are never lost: one that ends or is replaced goes to `delegation_history` first; replaced ones by a
trigger, so that no write can forget it.

Accounts are text, a line for each crawler. They are as long as everything else together, so what reads many
delegations leaves them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from operator import itemgetter

from ipmicra.delegate.actions import AnsweredMany
from ipmicra.delegate.attempt import Considered, Verdict
from ipmicra.edge.store.connection import Connection, in_transaction
from ipmicra.edge.store.keys import (
    key_hash,
    packed,
    packed_many,
    packed_or_none,
    unpacked,
    unpacked_or_none,
)
from ipmicra.edge.store.ports import Bounds, DelegationRecord, EndedDelegation
from ipmicra.edge.store.schema import Index, Row, Table
from ipmicra.model.address import Address
from ipmicra.model.delegation import Delegation, Evidence, Origin
from ipmicra.model.location import Location
from ipmicra.model.sample import Loss

_COLUMNS = {
    "first": bytes,
    "last": bytes,
    "crawler": str,
    "evidence": str,
    "rtt_ms": float | None,
    "probes": int,
    "created_s": float,
    "expires_s": float,
    "address": bytes | None,
    "latitude": float | None,
    "longitude": float | None,
    "radius_km": float | None,
    "country": str | None,
    "account": str,
    "origin_first": bytes | None,
    "origin_last": bytes | None,
    "measured_s": float | None,
    "checked_s": float | None,
    "policy": str | None,
}
DELEGATIONS = Table(
    "delegations",
    {"id": int, "key_hash": int, **_COLUMNS},
    key=("id",),
    indexes=(
        Index(name="delegations_by_hash", columns=("key_hash",)),
        Index(name="wide_delegations", columns=("first", "last DESC"), where="first <> last"),
        Index(name="wide_delegations_by_site", columns=("address",), where="first <> last"),
    ),
)
"""Those of more than one address are also in an index by address: they are few beside the single addresses
of a long list, and every run reads them."""
DELEGATION_HISTORY = Table(
    "delegation_history",
    {"id": int, **_COLUMNS, "ended_s": float, "reason": str},
    key=("id",),
    indexes=(Index(columns=("first", "last")),),
)
_NAMES = ", ".join(_COLUMNS)
_CHANGES = ", ".join(f"{name} = ?" for name in _COLUMNS)
_FOUND = "WHERE key_hash = ? AND first = ? AND last = ?"
_CHANGE = f"UPDATE delegations SET {_CHANGES} {_FOUND}"  # noqa: S608 - our own names
_ARCHIVE = (
    f"INSERT INTO delegation_history ({_NAMES}, ended_s, reason) "  # noqa: S608 - our own names
    f"SELECT {_NAMES}, ?, ? FROM delegations {_FOUND}"
)
REPLACED = "decided anew"
"""Why a delegation ended that another replaced."""
_EVIDENCE = {one: one.value for one in Evidence}
_AT_ONCE = 500
"""Addresses in one question to SQLite, which takes 999 variables in its oldest form."""
NOTHING = "None"
"""Stands for what is unknown in an account."""
_DELEGATION = DELEGATIONS.shape(without=("id", "key_hash"))
_WITHOUT_ACCOUNT = DELEGATIONS.shape(without=("id", "key_hash", "account"))
_BOUNDS = DELEGATIONS.shape("first", "last")
_ENDED = DELEGATION_HISTORY.shape(without=("id",))


def create_archiving(connection: Connection) -> None:
    """Let a delegation that is replaced enter the history by itself, as a trigger of SQLite's does."""
    old = ", ".join(f"OLD.{name}" for name in _COLUMNS)
    connection.execute(
        "CREATE FUNCTION keep_replaced_delegation() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "  # noqa: S608
        f"INSERT INTO delegation_history ({_NAMES}, ended_s, reason) "
        f"VALUES ({old}, NEW.created_s, '{REPLACED}'); RETURN NEW; END $$"
    )
    connection.execute(
        "CREATE TRIGGER delegations_replaced BEFORE UPDATE ON delegations FOR EACH ROW "
        "WHEN (OLD.created_s <> NEW.created_s OR OLD.crawler <> NEW.crawler) "
        "EXECUTE FUNCTION keep_replaced_delegation()"
    )


class DelegationTable:
    """Delegations by the bounds of their subnets."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def put_many(self, records: Iterable[DelegationRecord]) -> None:
        """Keep delegations; those they replace go into the history. Rows go in by hash, as results do."""
        kept = list(records)
        texts = {id(record.account): record.account for record in kept}  # many may share one
        written = {number: account_text(account) for number, account in texts.items()}
        self._put([_row_of(record, written[id(record.account)]) for record in kept])

    def put_answered(self, tables: Iterable[AnsweredMany], explained: int) -> None:
        """Keep the delegations of tables as `put_many` does; accounts name so many that were not asked."""
        self._put([row for table in tables for row in _rows_of(table, explained)])

    @in_transaction
    def _put(self, rows: list[Row]) -> None:
        rows.sort(key=itemgetter(-1))
        known = self._known([row[-1] for row in rows])
        new: list[Row] = []
        changed: list[Row] = []
        for row in rows:
            bounds = row[:2]
            if bounds in known:
                changed.append((*row, *bounds))
            else:
                known.add(bounds)
                new.append(row)
        self._connection.copy(DELEGATIONS, new, (*_COLUMNS, "key_hash"))
        self._connection.execute_many(_CHANGE, changed)

    def _known(self, hashes: Sequence[int]) -> set[Row]:
        """Return the bounds of delegations that have one of these hashes."""
        found: set[Row] = set()
        for start in range(0, len(hashes), _AT_ONCE):
            part = hashes[start : start + _AT_ONCE]
            found.update(self._connection.read(_BOUNDS, tuple, _among(part), part))
        return found

    def renew_many(self, renewed: Iterable[Delegation]) -> None:
        """Extend delegations, and note when they were last compared; the rest of them stays as it is."""
        sql = f"UPDATE delegations SET expires_s = ?, checked_s = ? {_FOUND}"  # noqa: S608 - our own names
        rows = [(one.expires_s, one.checked_s, *_key_of(one.first, one.last)) for one in renewed]
        self._connection.execute_many(sql, rows)

    @in_transaction
    def end_many(self, ended: Iterable[tuple[Bounds, str]], at_s: float) -> None:
        """End delegations, each for a reason; they stay in the history."""
        for (first, last), reason in ended:
            key = _key_of(first, last)
            self._connection.execute(_ARCHIVE, (at_s, reason, *key))
            self._connection.execute(f"DELETE FROM delegations {_FOUND}", key)  # noqa: S608 - our own names

    def get(self, first: Address, last: Address) -> DelegationRecord | None:
        """Return the delegation of a subnet."""
        return self._connection.read_one(_DELEGATION, _record_of, _FOUND, _key_of(first, last))

    def at(self, addresses: Sequence[Address]) -> list[DelegationRecord]:
        """Return the delegations of single addresses, those that exist; accounts are left out."""
        found: list[DelegationRecord] = []
        hashes = sorted({key_hash(one, one) for one in map(packed, addresses)})  # by page of the index
        for start in range(0, len(hashes), _AT_ONCE):
            part = hashes[start : start + _AT_ONCE]
            rest = f"{_among(part)} AND last = first"
            found += self._connection.read(_WITHOUT_ACCOUNT, _brief_record_of, rest, part)
        wanted = set(addresses) if found else set()
        return [record for record in found if record.delegation.first in wanted]

    def decided_for(self, addresses: Sequence[Address]) -> list[DelegationRecord]:
        """Return the delegations that were decided for sites at addresses, the wider before the narrower."""
        found = [one for one in self.at(addresses) if one.address == one.delegation.first]
        wanted = sorted(set(map(packed, addresses)))
        for start in range(0, len(wanted), _AT_ONCE):
            part = wanted[start : start + _AT_ONCE]
            rest = f"WHERE first <> last AND address IN ({', '.join('?' * len(part))})"
            found += self._connection.read(_WITHOUT_ACCOUNT, _brief_record_of, rest, part)
        return sorted(found, key=_order_of)

    def all(self, *, is_wide: bool = False) -> Iterator[DelegationRecord]:
        """Return all delegations, by address, the wider before the narrower; accounts are left out.

        `is_wide` leaves out those of single addresses.
        """
        rest = f"{'WHERE first <> last' if is_wide else ''} ORDER BY first, last DESC"
        return self._connection.stream(_WITHOUT_ACCOUNT, _brief_record_of, rest)

    def history(self, first: Address, last: Address) -> list[EndedDelegation]:
        """Return what held a subnet before, oldest first."""
        rest = "WHERE first = ? AND last = ? ORDER BY id"
        return self._connection.read(_ENDED, _ended_of, rest, (packed(first), packed(last)))

    def ended(self, count: int) -> list[EndedDelegation]:
        """Return what ended last, of any subnet; newest first."""
        return self._connection.read(_ENDED, _ended_of, "ORDER BY id DESC LIMIT ?", (count,))

    def count(self) -> int:
        """Count what is delegated now."""
        found = self._connection.row("SELECT count(*) FROM delegations")
        return int(found[0]) if found else 0

    def probes(self) -> tuple[int, int]:
        """Return how many delegations were probed for, and the probes that took."""
        sql = "SELECT count(*), coalesce(sum(probes), 0) FROM delegations WHERE probes > 0"
        found = self._connection.row(sql)
        return (int(found[0]), int(found[1])) if found else (0, 0)


def _order_of(record: DelegationRecord) -> tuple[bytes, int]:
    return packed(record.delegation.first), -int.from_bytes(packed(record.delegation.last))


def _among(hashes: Sequence[int]) -> str:
    return f"WHERE key_hash IN ({', '.join('?' * len(hashes))})"


def _key_of(first: Address, last: Address) -> tuple[int, bytes, bytes]:
    bounds = packed(first), packed(last)
    return key_hash(*bounds), *bounds


def _row_of(record: DelegationRecord, account: str) -> Row:
    one, place = record.delegation, record.location
    placed: Row = (None,) * 4
    if place is not None:
        placed = (place.latitude, place.longitude, place.radius_km, place.country)
    bounds = packed_many((one.first, one.last))
    return (
        *bounds,
        one.crawler,
        _EVIDENCE[one.evidence],
        one.rtt_ms,
        one.probes,
        one.created_s,
        one.expires_s,
        packed_or_none(record.address),
        *placed,
        account,
        *origin_row(one.origin),
        one.checked_s,
        one.policy,
        key_hash(*bounds),
    )


def origin_row(origin: Origin | None) -> Row:
    """Write what an answer rests on, in three columns."""
    if origin is None:
        return None, None, None
    return *packed_many((origin.first, origin.last)), origin.measured_s


def origin_of(first: bytes | None, last: bytes | None, measured_s: float | None) -> Origin | None:
    """Read what an answer rests on."""
    return None if first is None or last is None else Origin(unpacked(first), unpacked(last), measured_s)


def _rows_of(table: AnsweredMany, explained: int) -> Iterator[Row]:
    """Return the rows of single addresses, column by column."""
    addresses = [packed(site.address) for site in table.sites]
    accounts = {id(account): account for account in table.accounts}
    texts = {number: account_text(account.written(explained)) for number, account in accounts.items()}
    return zip(
        addresses,
        addresses,
        table.crawlers,
        [_EVIDENCE[settle.evidence] for settle in table.settles],
        [settle.rtt_ms for settle in table.settles],
        repeat(0),
        repeat(table.created_s),
        repeat(table.expires_s),
        addresses,
        *_columns_of(table.locations),
        [texts[id(account)] for account in table.accounts],
        *[repeat(None)] * 4,
        repeat(table.policy),
        [key_hash(address, address) for address in addresses],
        strict=False,
    )


def _columns_of(places: Sequence[Location | None]) -> list[Iterable[float | str | None]]:
    """Return latitudes, longitudes, radii and countries."""
    if not any(places):
        return [repeat(None)] * 4
    return [
        [getattr(place, name, None) for place in places]
        for name in ("latitude", "longitude", "radius_km", "country")
    ]


def _record_of(row: Row) -> DelegationRecord:
    latitude, longitude, radius_km, country = row[9:13]
    place = None
    if latitude is not None:
        place = Location(latitude=latitude, longitude=longitude, radius_km=radius_km, country=country)
    return DelegationRecord(
        delegation=Delegation(
            first=unpacked(row[0]),
            last=unpacked(row[1]),
            crawler=row[2],
            evidence=Evidence(row[3]),
            rtt_ms=row[4],
            probes=row[5],
            created_s=row[6],
            expires_s=row[7],
            origin=origin_of(*row[14:17]),
            checked_s=row[17],
            policy=row[18],
        ),
        address=unpacked_or_none(row[8]),
        location=place,
        account=account_of(row[13]),
    )


def _brief_record_of(row: Row) -> DelegationRecord:
    return _record_of((*row[:13], "", *row[13:]))


def _ended_of(row: Row) -> EndedDelegation:
    return EndedDelegation(record=_record_of(row[:-2]), ended_s=row[-2], reason=row[-1])


def account_text(account: Iterable[Considered]) -> str:
    """Write an account: a line for each crawler, tabs between the fields."""
    return "\n".join(
        [
            f"{one.crawler}\t{one.verdict}\t{one.reason}\t"
            f"{one.expected_ms!r}\t{one.saving_ms!r}\t{one.rtt_ms!r}\t{one.loss}"
            for one in account
        ]
    )


def account_of(text: str) -> tuple[Considered, ...]:
    """Read an account."""
    return tuple(_considered(*line.split("\t")) for line in text.split("\n") if line)


def _considered(crawler: str, verdict: str, reason: str, *rest: str) -> Considered:
    expected_ms, saving_ms, rtt_ms = (None if part == NOTHING else float(part) for part in rest[:3])
    return Considered(
        crawler=crawler,
        verdict=Verdict(verdict),
        reason=reason,
        expected_ms=expected_ms,
        saving_ms=saving_ms,
        rtt_ms=rtt_ms,
        loss=None if rest[3] == NOTHING else Loss(rest[3]),
    )
