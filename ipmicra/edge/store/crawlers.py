"""Keep the fleet: crawlers and their states."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlite_utils import Database

from ipmicra.edge.store.addresses import packed, packed_or_none, unpacked, unpacked_or_none
from ipmicra.edge.store.connection import Connection, Row
from ipmicra.edge.store.ports import Member, StateChange
from ipmicra.edge.store.schema import make_table
from ipmicra.model.crawler import Capacity, Crawler, CrawlerState
from ipmicra.model.location import Location

_COLUMNS: dict[str, type] = {
    "name": str,
    "address": bytes,
    "agent_url": str,
    "subnet_first": bytes,
    "subnet_last": bytes,
    "latitude": float,
    "longitude": float,
    "radius_km": float,
    "city": str,
    "country": str,
    "labels": str,
    "bandwidth_mbps": float,
    "memory_gb": float,
    "max_pieces": int,
    "connections": int,
    "state": str,
    "joined_s": float,
    "changed_s": float,
}
_NAMES = ", ".join(_COLUMNS)
_PUT = f"INSERT OR REPLACE INTO crawlers ({_NAMES}) VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608 - our own names
_GET = f"SELECT {_NAMES} FROM crawlers"  # noqa: S608 - our own names


def create_crawlers(database: Database) -> None:
    """Make the tables of the fleet."""
    needed = ("address", "labels", "state", "joined_s", "changed_s")
    make_table(database, "crawlers", _COLUMNS, key="name", needed=needed)
    history = {"crawler": str, "state": str, "at_s": float}
    make_table(database, "crawler_history", history, needed=tuple(history), index=("crawler", "at_s"))


class CrawlerTable:
    """Crawlers by name, and the history of each."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def put(self, member: Member) -> None:
        """Keep a crawler in place of the one of that name; a new state goes into its history."""
        before = self.get(member.crawler.name)
        with self._connection.transaction():
            self._connection.execute(_PUT, _row_of(member))
            if before is None or before.crawler.state is not member.crawler.state:
                self._note(member.crawler.name, member.crawler.state, member.crawler.changed_s)

    def get(self, name: str) -> Member | None:
        """Return the crawler of a name."""
        found = self._connection.row(f"{_GET} WHERE name = ?", (name,))
        return None if found is None else _member_of(found)

    def all(self, states: Sequence[CrawlerState] = ()) -> list[Member]:
        """Return crawlers in the order of their names; only those in the given states, if any are given."""
        members = [_member_of(row) for row in self._connection.rows(f"{_GET} ORDER BY name")]
        return [member for member in members if not states or member.crawler.state in states]

    def set_state(self, name: str, state: CrawlerState, at_s: float) -> bool:
        """Change a crawler's state; return whether it was another one before."""
        sql = "UPDATE crawlers SET state = ?, changed_s = ? WHERE name = ? AND state <> ?"
        with self._connection.transaction():
            is_changed = self._connection.execute(sql, (state.value, at_s, name, state.value)) > 0
            if is_changed:
                self._note(name, state, at_s)
        return is_changed

    def history(self, name: str) -> list[StateChange]:
        """Return a crawler's states, oldest first."""
        sql = "SELECT state, at_s FROM crawler_history WHERE crawler = ? ORDER BY rowid"
        rows = self._connection.rows(sql, (name,))
        return [StateChange(state=CrawlerState(state), at_s=at_s) for state, at_s in rows]

    def _note(self, name: str, state: CrawlerState, at_s: float) -> None:
        self._connection.execute("INSERT INTO crawler_history VALUES (?, ?, ?)", (name, state.value, at_s))


def _row_of(member: Member) -> Row:
    crawler, place, capacity = member.crawler, member.crawler.location, member.crawler.capacity
    placed: Row = (None,) * 5
    if place is not None:
        placed = (place.latitude, place.longitude, place.radius_km, place.city, place.country)
    return (
        crawler.name,
        packed(crawler.address),
        crawler.agent_url,
        packed_or_none(member.first),
        packed_or_none(member.last),
        *placed,
        json.dumps(crawler.labels, ensure_ascii=False, sort_keys=True),
        capacity.bandwidth_mbps,
        capacity.memory_gb,
        capacity.max_pieces,
        capacity.connections,
        crawler.state.value,
        crawler.joined_s,
        crawler.changed_s,
    )


def _member_of(row: Row) -> Member:
    latitude, longitude, radius_km, city, country = row[5:10]
    place = None
    if latitude is not None:
        place = Location(
            latitude=latitude, longitude=longitude, radius_km=radius_km, city=city, country=country
        )
    crawler = Crawler(
        name=row[0],
        address=unpacked(row[1]),
        agent_url=row[2],
        location=place,
        labels=json.loads(row[10]),
        capacity=Capacity(bandwidth_mbps=row[11], memory_gb=row[12], max_pieces=row[13], connections=row[14]),
        state=CrawlerState(row[15]),
        joined_s=row[16],
        changed_s=row[17],
    )
    return Member(crawler=crawler, first=unpacked_or_none(row[3]), last=unpacked_or_none(row[4]))
