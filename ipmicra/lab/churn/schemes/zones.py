"""Schemes on an overlay of zones: hash DHT, NC-CAN, and load balancing on INSERT."""

from __future__ import annotations

import numpy as np

from ipmicra.assign.balance.config import LbiConfig
from ipmicra.assign.balance.lbi import forwarded
from ipmicra.assign.coordinate.space import Space
from ipmicra.assign.overlay.overlay import Overlay
from ipmicra.lab.churn.scheme import Fifo, SchemeView
from ipmicra.lab.churn.schemes.keys import hashed_points
from ipmicra.model.types import Floats, Rows

HALVING = "DL"
"""Zones are cut in the middle, one dimension after the other, as CAN prescribes."""


class ZoneOwners(Fifo):
    """The crawler whose zone holds a site's key crawls it."""

    def __init__(self, setting: SchemeView, space: Space, crawler_keys: Floats, site_keys: Floats) -> None:
        """Start with an empty overlay; it holds no sites itself, so that none moves when a zone is split."""
        super().__init__(setting)
        self._overlay = Overlay(space, scheme=HALVING, rng=setting.rng)
        self._crawler_keys, self._site_keys = crawler_keys, site_keys
        self._number = np.full(setting.world.crawlers, -1)  # in the overlay, anew at each join
        self._crawler = np.empty(0, np.int64)  # the other way round
        self._owners: list[int] | None = None
        self._beside: dict[int, Rows] = {}
        self._takers: list[int] = []

    def joined(self, crawler: int, now: float) -> None:  # noqa: ARG002
        """Let a crawler split the zone that holds its key."""
        number = self._overlay.join(self._crawler_keys[crawler])
        if number >= len(self._crawler):
            self._crawler = np.append(self._crawler, np.full(number + 64, -1))
        self._number[crawler], self._crawler[number] = number, crawler
        self._forget()

    def left(self, crawler: int, now: float) -> None:  # noqa: ARG002
        """Let others take over a crawler's zones."""
        departure = self._overlay.leave(int(self._number[crawler]))
        self._takers = self._crawler[list(departure.takers)].tolist()
        self._forget()

    def choose(self, piece: int, now: float) -> int:  # noqa: ARG002
        """Return the owner of the zone."""
        return self.owner(piece)

    def heir(self, piece: int, leaver: int, now: float) -> int:  # noqa: ARG002
        """Return the crawler that took the leaver's zone over, the first if there were several."""
        return int(self._takers[0])

    def owner(self, piece: int) -> int:
        """Return the crawler whose zone holds the key of a piece's site."""
        if self._owners is None:
            self._owners = self._crawler[self._overlay.owners(self._site_keys)].tolist()
        return int(self._owners[self.crawling.work.site[piece]])

    def neighbours(self, crawler: int) -> Rows:
        """Return the crawlers whose zones border on a crawler's."""
        found = self._beside.get(crawler)
        if found is None:
            numbers = self._overlay.neighbours(int(self._number[crawler]))
            found = self._beside[crawler] = self._crawler[numbers]
        return found

    def _forget(self) -> None:
        self._owners = None
        self._beside.clear()


def hash_can(setting: SchemeView) -> ZoneOwners:
    """Make the hash DHT: keys by SHA-1 in a unit cube."""
    world, dimensions = setting.world, setting.world.space.dimensions
    crawlers = hashed_points([f"crawler-{i}" for i in range(world.crawlers)], dimensions)
    sites = hashed_points([f"site-{i}" for i in range(world.sites)], dimensions)
    cube = Space(low=np.zeros(dimensions), high=np.ones(dimensions))
    return ZoneOwners(setting, cube, crawlers, sites)


def nc_can(setting: SchemeView) -> ZoneOwners:
    """Make NC-CAN: network coordinates are keys."""
    world = setting.world
    return ZoneOwners(setting, world.space, world.crawler_points, world.site_points)


class Lbi(ZoneOwners):
    """NC-CAN with load balancing on INSERT."""

    def __init__(self, setting: SchemeView, config: LbiConfig | None = None) -> None:
        """Start as NC-CAN."""
        world = setting.world
        super().__init__(setting, world.space, world.crawler_points, world.site_points)
        self.config = config or LbiConfig()

    def choose(self, piece: int, now: float) -> int:  # noqa: ARG002
        """Let overloaded crawlers hand the piece on; every crawler has one unit of capacity."""
        crawling = self.crawling
        path = forwarded(
            self.owner(piece),
            crawling.held,
            crawling.held_pages,
            self.neighbours,
            config=self.config,
            distance=lambda around: self._distances(piece, around),
        )
        return path[-1]

    def _distances(self, piece: int, around: Rows) -> Floats:
        world = self.setting.world
        offsets = world.crawler_points[around] - world.site_points[self.crawling.work.site[piece]]
        distances: Floats = np.sqrt(np.einsum("ij,ij->i", offsets, offsets))
        return distances
