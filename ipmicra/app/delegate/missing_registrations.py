"""Registrations that the dumps lack, grafted onto the hierarchy as leaves below the root."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from ipaddress import IPv4Network, IPv6Network, summarize_address_range

import pytricia

from ipmicra.delegate.subnets import SubnetTree
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.rdap import RegistrationSource
from ipmicra.edge.store.ports import Graft, StorePort
from ipmicra.errors import FetchError
from ipmicra.model.address import Address

KEPT_S = 90 * 86400.0
"""How long an answer of a registry is good for: as long as a delegation."""
WIDEST = {4: 8, 6: 16}
"""A wider registration says whose region an address is in, not whose it is."""


class GraftedTree:
    """A hierarchy with further subnets, numbered behind its own; each is a leaf below the root."""

    def __init__(self, tree: Hierarchy, grafts: Sequence[Graft] = ()) -> None:
        """Begin with what is known."""
        self._tree, self._size = tree, len(tree)
        self._grafts: list[Graft] = []
        self._rows = {version: pytricia.PyTricia(bits) for version, bits in ((4, 32), (6, 128))}
        self._organisations: dict[str, int] = {}
        self._base_row = tree.row_of
        for graft in grafts:
            self.add(graft)

    def add(self, graft: Graft) -> None:
        """Graft a registration, unless it is too wide or the range is not registered."""
        version = graft.first.version
        if not graft.is_known:
            return
        prefixes: list[IPv4Network | IPv6Network] = list(summarize_address_range(graft.first, graft.last))
        if min(prefix.prefixlen for prefix in prefixes) < WIDEST[version]:
            return
        for prefix in prefixes:
            self._rows[version].insert(str(prefix), self._size + len(self._grafts))
        self._grafts.append(graft)

    def is_outside(self, address: Address) -> bool:
        """Return whether neither hierarchy nor grafts know whose an address is."""
        return self.parent(self.row_of(str(address))) is None

    def row_of(self, address: str) -> int:
        """Return the row of the narrowest subnet that holds an address."""
        row = self._base_row(address)
        if not self._grafts or self._tree.parent(row) is not None:
            return row
        found = self._rows[6 if ":" in address else 4].get(address)
        return row if found is None else int(found)

    def parent(self, row: int) -> int | None:
        """Return the row above, None for a root."""
        if row < self._size:
            return self._tree.parent(row)
        return self._tree.lineage_rows(self._base_row(str(self._grafts[row - self._size].first)))[0]

    def descendants(self, row: int) -> Sequence[int]:
        """Return the rows inside; a graft has none."""
        return self._tree.descendants(row) if row < self._size else range(0)

    def bounds(self, row: int) -> tuple[Address, Address]:
        """Return first and last address."""
        if row < self._size:
            return self._tree.bounds(row)
        graft = self._grafts[row - self._size]
        return graft.first, graft.last

    def organisation_number(self, row: int) -> int:
        """Return the number of the organisation; those of grafts are counted down from -1."""
        if row < self._size:
            return self._tree.organisation_number(row)
        handle = self._grafts[row - self._size].handle
        return 0 if handle is None else -self._organisations.setdefault(handle, len(self._organisations) + 1)

    def country(self, row: int) -> str | None:
        """Return the country, two letters."""
        return self._tree.country(row) if row < self._size else self._grafts[row - self._size].country

    def registry_number(self, row: int) -> int:
        """Return the number of the registry, of a graft that of the root."""
        return self._tree.registry_number(row if row < self._size else 0)

    def status_number(self, row: int) -> int:
        """Return the number of the status, 0 for a graft."""
        return self._tree.status_number(row) if row < self._size else 0


class Grafter:
    """Asks for what the hierarchy lacks, keeps the answers, and grafts them."""

    def __init__(
        self,
        tree: GraftedTree,
        store: StorePort,
        source: RegistrationSource,
        clock: Callable[[], float],
    ) -> None:
        """Take over the answers of earlier runs that still hold."""
        self._tree, self._store, self._source, self._clock = tree, store, source, clock
        self._nobodys: set[Address] = set()
        for graft in store.grafts.all():
            if graft.asked_s + KEPT_S < clock():
                continue
            tree.add(graft)
            if not graft.is_known:
                self._nobodys.add(graft.first)

    async def graft(self, address: Address) -> str | None:
        """Add the subnet of an address if a registry knows one; return why, if no registry can be asked."""
        if address in self._nobodys or not self._tree.is_outside(address):
            return None
        try:
            # Only the request leaves this thread: a store serves the thread that opened it.
            found = await asyncio.to_thread(self._source.ask, address)
        except FetchError as error:
            return str(error)
        if found is None:
            self._nobodys.add(address)
            found = Graft(
                first=address, last=address, handle=None, name=None, country=None, asked_s=self._clock()
            )
        self._store.grafts.put(found)
        self._tree.add(found)
        return None


def grafted(tree: Hierarchy, store: StorePort, now_s: float) -> SubnetTree:
    """Return a hierarchy with the grafts of earlier runs, the hierarchy itself if there are none."""
    kept = [graft for graft in store.grafts.all() if graft.is_known and graft.asked_s + KEPT_S >= now_s]
    return GraftedTree(tree, kept) if kept else tree
