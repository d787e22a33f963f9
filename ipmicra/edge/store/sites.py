"""Keep sites, each with its pinned address."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ipmicra.edge.store.connection import Connection
from ipmicra.edge.store.keys import packed, unpacked
from ipmicra.edge.store.schema import Index, Row, Table
from ipmicra.model.address import Address
from ipmicra.model.site import Site

SITES = Table(
    "sites",
    {"host": str, "address": bytes, "scheme": str | None, "port": int | None, "pinned_s": float},
    key=("host",),
    indexes=(Index(columns=("address",)),),
    is_ordered=True,
)
_SITE = SITES.shape(without=("pinned_s",))
_AT_ONCE = 500
"""Hosts in one question to the database."""


class SiteTable:
    """Sites by host, in the order in which they came."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def put_many(self, sites: Iterable[Site], at_s: float) -> None:
        """Pin an address for each new host; a host that has one keeps it until it is forgotten."""
        self._connection.execute_many(SITES.insert_new, _rows_of(sites, at_s))

    def move_many(self, sites: Iterable[Site], at_s: float) -> None:
        """Pin an address for each host, in place of the one it may have."""
        self._connection.execute_many(SITES.put, _rows_of(sites, at_s))

    def get(self, host: str) -> Site | None:
        """Return the site of a host."""
        return self._connection.read_one(_SITE, _site_of, "WHERE host = ?", (host,))

    def all(self) -> list[Site]:
        """Return all sites, oldest first."""
        return self._connection.read(_SITE, _site_of, "ORDER BY rowid")

    def after(self, host: str, count: int) -> list[Site]:
        """Return the sites that follow a host in the order of names, so many at most."""
        return self._connection.read(_SITE, _site_of, "WHERE host > ? ORDER BY host LIMIT ?", (host, count))

    def of_many(self, hosts: Sequence[str]) -> dict[str, Site]:
        """Return the sites of hosts; hosts without one are left out."""
        found: dict[str, Site] = {}
        for start in range(0, len(hosts), _AT_ONCE):
            part = hosts[start : start + _AT_ONCE]
            where = f"WHERE host IN ({', '.join('?' * len(part))})"
            found |= {site.host: site for site in self._connection.read(_SITE, _site_of, where, part)}
        return found

    def at(self, address: Address) -> list[Site]:
        """Return the sites that share an address, oldest first."""
        return self._connection.read(_SITE, _site_of, "WHERE address = ? ORDER BY rowid", (packed(address),))

    def forget(self, host: str) -> bool:
        """Remove a host's pin, so that it is resolved again; return whether there was one."""
        return self._connection.execute("DELETE FROM sites WHERE host = ?", (host,)) > 0


def _rows_of(sites: Iterable[Site], at_s: float) -> Iterator[Row]:
    return ((site.host, packed(site.address), site.scheme, site.port, at_s) for site in sites)


def _site_of(row: Row) -> Site:
    return Site(host=row[0], address=unpacked(row[1]), scheme=row[2], port=row[3])
