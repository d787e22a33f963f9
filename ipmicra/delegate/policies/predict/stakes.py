"""What is at stake at a site: its pages, each of which costs round trips.

A shorter round trip is saved again with every page, so the price of a probe is divided by the pages of the
sites that it is for. Prices are those of a list's middle site: half of the list has more pages and costs
less.
A factor of `MOST` is the limit both ways, since numbers of pages are estimates and span many powers of ten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from statistics import median

MOST = 4.0
"""A probe costs at most this many times more or less than for the middle site."""


class Stakes:
    """Pages by host."""

    def __init__(self, pages: Mapping[str, float]) -> None:
        """Take numbers of pages; those that are no numbers above 0 are unknown."""
        self._pages = {host: count for host, count in pages.items() if isfinite(count) and count > 0}
        self._middle = median(self._pages.values()) if self._pages else 1.0

    def __repr__(self) -> str:
        """Say how many there are."""
        return f"<Stakes: {len(self._pages)} hosts, {self._middle:g} pages in the middle>"

    def factor(self, hosts: Iterable[str]) -> float:
        """Return by how much the price of a probe changes for some hosts, which get one answer together.

        A host whose pages are unknown has as many as the middle one.
        """
        pages = sum(self._pages.get(host, self._middle) for host in hosts)
        return min(max(self._middle / pages, 1.0 / MOST), MOST) if pages else 1.0

    def range(self) -> tuple[float, float]:
        """Return the lowest and the highest factor of a single host."""
        found = [self.factor([host]) for host in self._pages] or [1.0]
        return min(found), max(found)
