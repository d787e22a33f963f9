"""Chord by SHA-1, as Apoidea used it: the next crawler on the ring owns a site."""

from __future__ import annotations

import numpy as np

from ipmicra.lab.churn.scheme import Fifo, SchemeView
from ipmicra.lab.churn.schemes.keys import hashed_points


class Chord(Fifo):
    """A ring of hashed names."""

    def __init__(self, setting: SchemeView) -> None:
        """Hash all names."""
        super().__init__(setting)
        world = setting.world
        self._crawler_at = hashed_points([f"crawler-{i}" for i in range(world.crawlers)], 1)[:, 0]
        self._site_at = hashed_points([f"site-{i}" for i in range(world.sites)], 1)[:, 0]
        self._order = np.argsort(self._crawler_at)

    def joined(self, crawler: int, now: float) -> None:
        """Nothing moves."""

    def left(self, crawler: int, now: float) -> None:
        """Nothing but the leaver's own tasks moves."""

    def choose(self, piece: int, now: float) -> int:  # noqa: ARG002
        """Return the first crawler at or after the site's key."""
        return self._successor(float(self._site_at[self.crawling.work.site[piece]]))

    def heir(self, piece: int, leaver: int, now: float) -> int:  # noqa: ARG002
        """Return the first crawler after the leaver."""
        return self._successor(float(self._crawler_at[leaver]))

    def _successor(self, key: float) -> int:
        there = self._order[self.crawling.is_there[self._order]]
        place = int(np.searchsorted(self._crawler_at[there], key))
        return int(there[place % len(there)])
