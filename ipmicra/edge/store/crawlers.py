"""Keep the fleet: crawlers and their states."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ipmicra.edge.store.connection import Connection, in_transaction
from ipmicra.edge.store.keys import packed, packed_or_none, unpacked, unpacked_or_none
from ipmicra.edge.store.ports import Member, StateChange
from ipmicra.edge.store.schema import Index, Row, Table
from ipmicra.model.crawler import Capacity, Crawler, CrawlerState
from ipmicra.model.location import Location

CRAWLERS = Table(
    "crawlers",
    {
        "name": str,
        "address": bytes,
        "agent_url": str | None,
        "subnet_first": bytes | None,
        "subnet_last": bytes | None,
        "latitude": float | None,
        "longitude": float | None,
        "radius_km": float | None,
        "city": str | None,
        "country": str | None,
        "labels": str,
        "bandwidth_mbps": float | None,
        "memory_gb": float | None,
        "max_pieces": int | None,
        "connections": int | None,
        "state": str,
        "joined_s": float,
        "changed_s": float,
    },
    key=("name",),
)
CRAWLER_HISTORY = Table(
    "crawler_history",
    {"crawler": str, "state": str, "at_s": float},
    indexes=(Index(columns=("crawler", "at_s")),),
    is_ordered=True,
)
_CRAWLER = CRAWLERS.shape()
_CHANGE = CRAWLER_HISTORY.shape("state", "at_s")


class CrawlerTable:
    """Crawlers by name, and the history of each."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    @in_transaction
    def put(self, member: Member) -> None:
        """Keep a crawler in place of the one of that name; a new state goes into its history."""
        before = self.get(member.crawler.name)
        self._connection.execute(CRAWLERS.put, _row_of(member))
        if before is None or before.crawler.state is not member.crawler.state:
            self._note(member.crawler.name, member.crawler.state, member.crawler.changed_s)

    def get(self, name: str) -> Member | None:
        """Return the crawler of a name."""
        return self._connection.read_one(_CRAWLER, _member_of, "WHERE name = ?", (name,))

    def all(self, states: Sequence[CrawlerState] = ()) -> list[Member]:
        """Return crawlers in the order of their names; only those in the given states, if any are given."""
        members = self._connection.read(_CRAWLER, _member_of, "ORDER BY name")
        return [member for member in members if not states or member.crawler.state in states]

    @in_transaction
    def set_state(self, name: str, state: CrawlerState, at_s: float) -> bool:
        """Change a crawler's state; return whether it was another one before."""
        sql = "UPDATE crawlers SET state = ?, changed_s = ? WHERE name = ? AND state <> ?"
        is_changed = self._connection.execute(sql, (state.value, at_s, name, state.value)) > 0
        if is_changed:
            self._note(name, state, at_s)
        return is_changed

    def history(self, name: str) -> list[StateChange]:
        """Return a crawler's states, oldest first."""
        return self._connection.read(_CHANGE, _change_of, "WHERE crawler = ? ORDER BY rowid", (name,))

    def _note(self, name: str, state: CrawlerState, at_s: float) -> None:
        self._connection.execute(CRAWLER_HISTORY.insert, (name, state.value, at_s))


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
        labels=_labels_of(row[10]),
        capacity=Capacity(bandwidth_mbps=row[11], memory_gb=row[12], max_pieces=row[13], connections=row[14]),
        state=CrawlerState(row[15]),
        joined_s=row[16],
        changed_s=row[17],
    )
    return Member(crawler=crawler, first=unpacked_or_none(row[3]), last=unpacked_or_none(row[4]))


def _labels_of(text: str) -> dict[str, str]:
    return {str(key): str(value) for key, value in dict(json.loads(text)).items()}


def _change_of(row: Row) -> StateChange:
    return StateChange(state=CrawlerState(row[0]), at_s=row[1])
