"""Keep delegations: who holds which subnet and why, and who held it before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from operator import itemgetter

from sqlite_utils import Database

from ipmicra.delegate.actions import AnsweredMany
from ipmicra.delegate.attempt import Considered, Verdict
from ipmicra.edge.store.connection import (
    Connection,
    Row,
    Shape,
    key_hash,
    packed,
    packed_many,
    packed_or_none,
    unpacked,
    unpacked_or_none,
)
from ipmicra.edge.store.ports import Bounds, DelegationRecord, EndedDelegation
from ipmicra.edge.store.schema import make_table
from ipmicra.model.address import Address
from ipmicra.model.delegation import OWN, Delegation, Evidence, Origin
from ipmicra.model.location import Location
from ipmicra.model.sample import Loss

_FIRST_COLUMNS: dict[str, type] = {
    "first": bytes,
    "last": bytes,
    "crawler": str,
    "evidence": str,
    "rtt_ms": float,
    "probes": int,
    "created_s": float,
    "expires_s": float,
    "address": bytes,
    "latitude": float,
    "longitude": float,
    "radius_km": float,
    "country": str,
    "account": str,
}
"""What migrations 7 and 16 made."""
_ORIGIN_COLUMNS: dict[str, type] = {
    "origin_first": bytes,
    "origin_last": bytes,
    "measured_s": float,
    "checked_s": float,
    "policy": str,
}
"""What `add_origins` added."""
_COLUMNS = {**_FIRST_COLUMNS, **_ORIGIN_COLUMNS}
_NAMES = ", ".join(_COLUMNS)
_VALUES = ", ".join("?" * len(_COLUMNS))
_CHANGES = ", ".join(f"{name} = ?" for name in _COLUMNS)
_FOUND = "WHERE key_hash = ? AND first = ? AND last = ?"
_ADD = f"INSERT INTO delegations ({_NAMES}, key_hash) VALUES ({_VALUES}, ?)"  # noqa: S608 - our own names
_CHANGE = f"UPDATE delegations SET {_CHANGES} {_FOUND}"  # noqa: S608 - our own names
_ARCHIVE = (
    f"INSERT INTO delegation_history ({_NAMES}, ended_s, reason) "  # noqa: S608 - our own names
    f"SELECT {_NAMES}, ?, ? FROM delegations {_FOUND}"
)
REPLACED = "decided anew"
"""Why a delegation ended that another replaced."""
_NEEDED = ("crawler", "evidence", "probes", "created_s", "expires_s", "account")
_EVIDENCE = {one: one.value for one in Evidence}
_AT_ONCE = 500
"""Addresses in one question to SQLite, which takes 999 variables in its oldest form."""
NOTHING = "None"
"""Stands for what is unknown in an account."""
_KINDS = {
    name: kind if name in {"first", "last", *_NEEDED} else kind | None for name, kind in _COLUMNS.items()
}
_DELEGATION = Shape("delegations", _KINDS)
_WITHOUT_ACCOUNT = Shape("delegations", {name: kind for name, kind in _KINDS.items() if name != "account"})
_BOUNDS = Shape("delegations", {"first": bytes, "last": bytes})
_SQL_TYPES = {bytes: "BLOB", str: "TEXT", float: "FLOAT", int: "INTEGER"}
_ENDED = Shape("delegation_history", {**_KINDS, "ended_s": float, "reason": str})


def create_delegations(database: Database) -> None:
    """Make the tables of delegations and of their history, which a replaced delegation enters by itself."""
    columns_text = _columns_text(_NEEDED)
    # One tree instead of two: a row is found by its bounds alone, and writing costs half.
    database.execute(f"CREATE TABLE delegations ({columns_text}, PRIMARY KEY (first, last)) WITHOUT ROWID")
    columns = {"id": int, **_FIRST_COLUMNS, "ended_s": float, "reason": str}
    needed = ("first", "last", *_NEEDED, "ended_s", "reason")
    make_table(database, "delegation_history", columns, key="id", needed=needed, index=("first", "last"))
    _create_trigger(database, _FIRST_COLUMNS)


def append_delegations(database: Database) -> None:
    """Keep delegations in the order in which they come, found by the hash of their bounds.

    Those of more than one address are also in an index by address: they are few beside the single addresses
    of a long list, and every run reads them.
    """
    database.conn.create_function("key_hash", 2, key_hash, deterministic=True)
    columns_text, names = _columns_text(("first", "last", *_NEEDED)), ", ".join(_FIRST_COLUMNS)
    database.execute(
        f"CREATE TABLE appended (id INTEGER PRIMARY KEY, key_hash INTEGER NOT NULL, {columns_text})"
    )
    database.execute(
        f"INSERT INTO appended (key_hash, {names}) "  # noqa: S608 - our own names
        f"SELECT key_hash(first, last), {names} FROM delegations ORDER BY created_s, first, last"
    )
    database.execute("DROP TABLE delegations")
    database.execute("ALTER TABLE appended RENAME TO delegations")
    database.execute("CREATE INDEX delegations_by_hash ON delegations (key_hash)")
    database.execute("CREATE INDEX wide_delegations ON delegations (first, last DESC) WHERE first <> last")
    _create_trigger(database, _FIRST_COLUMNS)


def add_origins(database: Database) -> None:
    """Keep what each delegation rests on and which policy made it.

    Of those that are there, the address that they were decided for is known, and that it was probed if there
    is a round trip that took a probe. Only crawlers' own subnets were decided for no address. Which policy
    decided the others was not written down.
    """
    for table in ("delegations", "delegation_history"):
        for name, kind in _ORIGIN_COLUMNS.items():
            database.execute(f"ALTER TABLE {table} ADD COLUMN {name} {_SQL_TYPES[kind]}")
    for table in ("delegations", "delegation_history"):
        database.execute(
            f"UPDATE {table} SET origin_first = address, origin_last = address, "  # noqa: S608 - our own names
            "measured_s = CASE WHEN rtt_ms IS NOT NULL AND probes > 0 THEN created_s END "
            "WHERE address IS NOT NULL AND (evidence <> 'inherited' OR (rtt_ms IS NOT NULL AND probes > 0))"
        )
        database.execute(f"UPDATE {table} SET policy = '{OWN}' WHERE address IS NULL")  # noqa: S608
    database.execute("DROP TRIGGER delegations_replaced")
    _create_trigger(database, _COLUMNS)


def _columns_text(needed: Sequence[str]) -> str:
    return ", ".join(
        f"{name} {_SQL_TYPES[kind]}{' NOT NULL' if name in needed else ''}"
        for name, kind in _FIRST_COLUMNS.items()
    )


def _create_trigger(database: Database, columns: Iterable[str]) -> None:
    names, old = ", ".join(columns), ", ".join(f"OLD.{name}" for name in columns)
    database.execute(
        "CREATE TRIGGER delegations_replaced BEFORE UPDATE ON delegations "  # noqa: S608 - our own names
        "WHEN OLD.created_s <> NEW.created_s OR OLD.crawler <> NEW.crawler BEGIN "
        f"INSERT INTO delegation_history ({names}, ended_s, reason) "
        f"VALUES ({old}, NEW.created_s, '{REPLACED}'); END"
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

    def _put(self, rows: list[Row]) -> None:
        rows.sort(key=itemgetter(-1))
        with self._connection.transaction():
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
            self._connection.execute_many(_ADD, new)
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

    def end_many(self, ended: Iterable[tuple[Bounds, str]], at_s: float) -> None:
        """End delegations, each for a reason; they stay in the history."""
        with self._connection.transaction():
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

    def count(self) -> int:
        """Count what is delegated now."""
        found = self._connection.row("SELECT count(*) FROM delegations")
        return int(found[0]) if found else 0

    def probes(self) -> tuple[int, int]:
        """Return how many delegations were probed for, and the probes that took."""
        sql = "SELECT count(*), coalesce(sum(probes), 0) FROM delegations WHERE probes > 0"
        found = self._connection.row(sql)
        return (int(found[0]), int(found[1])) if found else (0, 0)


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
