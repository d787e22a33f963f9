"""Where each site of a problem stands in coordinate space, and how that is known.

The first of these that is there decides:

1. `samples`: its own, if as many crawlers measured it as fix a coordinate (one more than dimensions);
2. `subnet`: those of its subnet, if as many crawlers measured that;
3. `holder`: it stands where the crawler stands to which the narrowest subnet around it is delegated;
4. `nearest`: it stands where the nearest of the few crawlers stands that measured it;
5. `place`: by the round trips that its place makes likely;
6. `unknown`: nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.assign.fleet_space import FleetSpace
from ipmicra.app.assign.whereabouts import Holder, Whereabouts
from ipmicra.model.crawler import Crawler
from ipmicra.model.site import Site
from ipmicra.model.types import Floats


class Source(StrEnum):
    """Where a coordinate comes from, best first."""

    SAMPLES = "samples"
    SUBNET = "subnet"
    HOLDER = "holder"
    NEAREST = "nearest"
    PLACE = "place"
    UNKNOWN = "unknown"


FIRM = {Source.SAMPLES, Source.SUBNET}
"""Coordinates that are kept until they drift; the others give way to anything better."""


@dataclass(slots=True)
class SitesInSpace:
    """Sites in coordinate space, in rows."""

    points: Floats
    """NaN where a site is nowhere."""
    sources: list[Source]
    labels: list[str]
    """In words."""
    expected_ms: Floats
    """Sites × crawlers: measured where it was, else by distance; NaN where nothing is known."""

    @property
    def is_firm(self) -> NDArray[np.bool_]:
        """Which sites stand by samples."""
        return np.array([source in FIRM for source in self.sources], dtype=bool)

    @property
    def is_somewhere(self) -> NDArray[np.bool_]:
        """Which sites have a coordinate."""
        return np.array([source is not Source.UNKNOWN for source in self.sources], dtype=bool)


class Locating:
    """Finds the coordinates of sites step by step."""

    def __init__(
        self,
        sites: Sequence[Site],
        crawlers: Sequence[Crawler],
        known_ms: Floats,
        fleet: FleetSpace,
        whereabouts: Whereabouts | None,
    ) -> None:
        """Start with nothing; rows of `known_ms` are the sites' own medians."""
        self._sites, self._crawlers, self._known_ms = sites, crawlers, known_ms
        self._fleet, self._about = fleet, whereabouts
        self._points_of_crawlers = fleet.points
        self._stands_at: dict[int, int] = {}
        count = len(sites)
        self._found = SitesInSpace(
            points=np.full((count, fleet.dimensions), np.nan),
            sources=[Source.UNKNOWN] * count,
            labels=["unknown"] * count,
            expected_ms=known_ms.copy(),
        )

    def located(self) -> SitesInSpace:
        """Take all steps."""
        self._by_samples()
        if self._about is not None:
            self._by_subnet(self._about)
            self._by_holder(self._about)
        self._by_nearest()
        if self._about is not None:
            self._by_place(self._about)
        self._expect()
        return self._found

    def _open(self) -> list[int]:
        return [row for row, source in enumerate(self._found.sources) if source is Source.UNKNOWN]

    def _set(self, row: int, point: Floats, source: Source, label: str) -> None:
        self._found.points[row], self._found.sources[row], self._found.labels[row] = point, source, label

    def _by_samples(self) -> None:
        heard = self._fleet.heard(self._known_ms)
        rows = np.flatnonzero(heard >= self._fleet.needed)
        for row, point in zip(rows.tolist(), self._fleet.placed(self._known_ms[rows]), strict=True):
            self._set(row, point, Source.SAMPLES, f"by samples of {heard[row]} crawlers")

    def _by_subnet(self, about: Whereabouts) -> None:
        rows = self._open()
        trips = about.subnet_ms([self._sites[row] for row in rows], self._crawlers)
        column = {number: place for place, number in enumerate(self._fleet.part.tolist())}
        coordinates = self._fleet.coordinates
        counts: dict[int, int] = {}
        for row, by_crawler in zip(rows, trips, strict=True):
            usable = {number: kept for number, kept in by_crawler.items() if number in column and kept}
            if len(usable) < self._fleet.needed:
                continue
            counts[row] = len(usable)
            for number, kept in usable.items():
                coordinates.update([row] * len(kept), [column[number]] * len(kept), kept)
        for row, point in zip(counts, coordinates.subnet_points(list(counts)), strict=True):
            self._set(row, point, Source.SUBNET, f"by samples of its subnet, of {counts[row]} crawlers")

    def _by_holder(self, about: Whereabouts) -> None:
        rows = self._open()
        numbers = {crawler.name: number for number, crawler in enumerate(self._crawlers)}
        for row, holder in zip(rows, about.holders([self._sites[row] for row in rows]), strict=True):
            number = None if holder is None else numbers.get(holder.crawler)
            if holder is not None and number is not None and self._fleet.is_placed[number]:
                self._stand_at(
                    row, number, Source.HOLDER, f"at {holder.crawler}, which holds {holder.subnet}"
                )
                self._told_by(row, number, holder)

    def _told_by(self, row: int, number: int, holder: Holder) -> None:
        if holder.rtt_ms is not None and np.isnan(self._found.expected_ms[row, number]):
            self._found.expected_ms[row, number] = holder.rtt_ms

    def _by_nearest(self) -> None:
        reach = np.where(self._fleet.is_placed, self._known_ms, np.nan)
        for row in self._open():
            count = int(np.isfinite(reach[row]).sum())
            if count:
                number = int(np.nanargmin(reach[row]))
                few = f"the nearest of {count} that measured it; {self._fleet.needed} fix a coordinate"
                self._stand_at(row, number, Source.NEAREST, f"at {self._crawlers[number].name}, {few}")

    def _stand_at(self, row: int, crawler: int, source: Source, label: str) -> None:
        self._stands_at[row] = crawler
        self._set(row, self._points_of_crawlers[crawler], source, label)

    def _by_place(self, about: Whereabouts) -> None:
        rows = self._open()
        if not rows:
            return
        expected = about.place_ms([self._sites[row] for row in rows], self._crawlers, self._fleet.mutual_ms)
        enough = np.flatnonzero(self._fleet.heard(expected) >= self._fleet.needed)
        for number, point in zip(enough.tolist(), self._fleet.placed(expected[enough]), strict=True):
            self._set(rows[number], point, Source.PLACE, "by its place on the map")
            self._found.expected_ms[rows[number]] = expected[number]

    def _expect(self) -> None:
        """Fill in distances between coordinates; whom a site stands at is as far as somebody measured."""
        found = self._found
        for number, point in enumerate(self._points_of_crawlers):
            away = np.linalg.norm(found.points - point, axis=1)
            away[[row for row, crawler in self._stands_at.items() if crawler == number]] = np.nan
            column = found.expected_ms[:, number]
            column[:] = np.where(np.isfinite(column), column, away)
