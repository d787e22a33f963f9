"""Few subnets of one parent are probed for at a time: what a sibling teaches may save a probe."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable

from ipmicra.delegate.subnets import SubnetTree, key_of
from ipmicra.model.site import Site

WIDER_BITS = {4: 16, 6: 96}
"""Bits below the wider slice that stands for a parent where an address is not registered."""


class Gate:
    """Holds back sites whose parent has enough subnets under way."""

    def __init__(self, tree: SubnetTree, per_parent: int) -> None:
        """Let so many through for each parent."""
        self._tree, self._per_parent = tree, per_parent
        self._under_way: Counter[Hashable] = Counter()
        self._waiting: dict[Hashable, deque[Site]] = {}
        self._parents: dict[int, Hashable] = {}
        """By attempt."""
        self.held_back = 0
        """Sites that wait."""

    def parent_of(self, site: Site) -> Hashable | None:
        """Return what siblings share; None where they reveal nothing about each other."""
        key = key_of(self._tree, site.address)
        if key < 0:
            return site.address.version, int(site.address) >> WIDER_BITS[site.address.version]
        above = self._tree.parent(key)
        return None if above is None or self._tree.parent(above) is None else above

    def is_full(self, parent: Hashable | None) -> bool:
        """Return whether a parent has enough under way."""
        return parent is not None and self._under_way[parent] >= self._per_parent

    def hold_back(self, parent: Hashable, site: Site) -> None:
        """Let a site wait."""
        self._waiting.setdefault(parent, deque()).append(site)
        self.held_back += 1

    def opened(self, attempt: int, parent: Hashable | None) -> None:
        """Note that an attempt is under way."""
        if parent is not None and attempt not in self._parents:
            self._parents[attempt] = parent
            self._under_way[parent] += 1

    def closed(self, attempt: int) -> list[Site]:
        """Note that an attempt is over; return the sites that waited for it."""
        parent = self._parents.pop(attempt, None)
        if parent is None:
            return []
        self._under_way[parent] -= 1
        if not self._under_way[parent]:
            del self._under_way[parent]
        return self._release(self._waiting.pop(parent, deque()))

    def empty(self) -> list[Site]:
        """Return all that wait, to be given up."""
        waiting, self._waiting = self._waiting, {}
        return [site for sites in waiting.values() for site in self._release(sites)]

    def _release(self, sites: deque[Site]) -> list[Site]:
        self.held_back -= len(sites)
        return list(sites)
