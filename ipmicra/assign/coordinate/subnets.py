"""Coordinates of subnets from delegation's own samples, with no extra probe."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.coordinate.blend import Blend
from ipmicra.assign.coordinate.config import UpdateConfig
from ipmicra.assign.coordinate.gnp import Embedding, Expectation
from ipmicra.errors import InputError
from ipmicra.model.types import Floats

LineageOf = Callable[[int], Sequence[int]]
Samples = dict[int, dict[int, list[float]]]
"""Subnet → crawler → its last round trips in ms."""


class SubnetBook:
    """What was measured of each subnet, and where that puts it; placed when it is asked for."""

    def __init__(self, blended: Blend, config: UpdateConfig) -> None:
        """Start empty."""
        self.config = config
        self.samples: Samples = {}
        self._blend = blended
        self._under: dict[int, set[int]] = {}
        self._estimates: dict[int, Floats] = {}
        self._places: dict[int, list[Floats]] = {}

    def __len__(self) -> int:
        """Count the subnets that have a sample."""
        return len(self.samples)

    def update(
        self,
        subnets: NDArray[np.int64],
        crawlers: NDArray[np.int64],
        rtt_ms: NDArray[np.float64],
        lineage_of: LineageOf | None,
    ) -> int:
        """Take in samples; return how many were usable."""
        if not len(subnets) == len(crawlers) == len(rtt_ms):
            raise InputError("subnets, crawlers and round trips must be equally many")
        count = len(self._blend.members[0].crawlers.points)
        if len(crawlers) and not (crawlers.min() >= 0 and crawlers.max() < count):
            raise InputError(f"crawlers are numbered 0 to {count - 1}")
        usable = np.flatnonzero(np.isfinite(rtt_ms) & (rtt_ms > 0))
        for place in usable.tolist():
            self._take(int(subnets[place]), int(crawlers[place]), float(rtt_ms[place]))
        if lineage_of is not None:
            for subnet in {int(subnets[place]) for place in usable.tolist()}:
                self._enlist(subnet, lineage_of)
        return len(usable)

    def predict(self, subnets: Sequence[int], lineage_of: LineageOf | None) -> Floats:
        """Estimate the round trips of subnets to all crawlers; NaN where nothing is known."""
        width = len(self._blend.members[0].crawlers.points)
        found = np.full((len(subnets), width), np.nan)
        self._place([subnet for subnet in subnets if subnet in self.samples], lineage_of)
        for number, subnet in enumerate(subnets):
            if subnet in self.samples:
                found[number] = self._estimates[subnet]
            elif lineage_of is not None:
                found[number] = self._inherited(subnet, lineage_of, width)
        return found

    def points(self, subnets: Sequence[int], lineage_of: LineageOf | None) -> Floats:
        """Return where subnets with samples are in the first embedding; NaN for the others."""
        found = np.full((len(subnets), self._blend.members[0].crawlers.points.shape[1]), np.nan)
        self._place([subnet for subnet in subnets if subnet in self.samples], lineage_of)
        for number, subnet in enumerate(subnets):
            if subnet in self.samples:
                found[number] = self._places[subnet][0]
        return found

    def restore(self, samples: Samples) -> None:
        """Restore what was saved; lineages are learnt again as they are passed."""
        self.samples = samples
        self._estimates, self._places, self._under = {}, {}, {}

    def _take(self, subnet: int, crawler: int, rtt_ms: float) -> None:
        """Remember one sample; what was estimated of its subnet no longer holds."""
        kept = self.samples.setdefault(subnet, {}).setdefault(crawler, [])
        kept.append(rtt_ms)
        del kept[: -self.config.remembered]
        self._estimates.pop(subnet, None)

    def _enlist(self, subnet: int, lineage_of: LineageOf) -> None:
        """Make a subnet known to all that hold it."""
        for holder in lineage_of(subnet):
            self._under.setdefault(int(holder), set()).add(subnet)

    def _row(self, subnet: int, width: int) -> Floats:
        """Return the median sample of each crawler; NaN where there is none."""
        row = np.full(width, np.nan)
        for crawler, kept in self.samples[subnet].items():
            row[crawler] = float(np.median(kept))
        return row

    def _place(self, subnets: Sequence[int], lineage_of: LineageOf | None) -> None:
        """Place measured subnets whose samples changed; siblings help where samples are few."""
        changed = sorted({subnet for subnet in subnets if subnet not in self._estimates})
        if not changed:
            return
        width = len(self._blend.members[0].crawlers.points)
        samples = np.array([self._row(subnet, width) for subnet in changed])
        placed: list[Embedding] = []
        for number, member in enumerate(self._blend.members):
            middle = member.crawlers.points.mean(axis=0)
            points = np.array([self._expected(subnet, number, middle, lineage_of) for subnet in changed])
            placed.append(member.placed(samples, Expectation(points=points, pull=self.config.pull)))
        found = self._blend.estimates_of(placed, samples)
        found = np.where(np.isfinite(samples), samples, found)
        for number, subnet in enumerate(changed):
            self._estimates[subnet] = found[number]
            self._places[subnet] = [one.points[number] for one in placed]

    def _expected(self, subnet: int, member: int, middle: Floats, lineage_of: LineageOf | None) -> Floats:
        """Return where a subnet is expected: its placed siblings' mean, or the fleet's middle."""
        for group in self._groups(subnet, lineage_of):
            near = [self._places[one][member] for one in group if one in self._places and one != subnet]
            if near:
                return np.asarray(np.mean(near, axis=0))
        return middle

    def _inherited(self, subnet: int, lineage_of: LineageOf, width: int) -> Floats:
        """Return the mean estimate (in logarithms) of the nearest relatives that have samples."""
        for group in self._groups(subnet, lineage_of):
            relatives = sorted(group & self.samples.keys())
            if relatives:
                self._place(relatives, lineage_of)
                logs = np.log([self._estimates[one] + self._blend.floor_ms for one in relatives])
                return np.asarray(np.exp(logs.mean(axis=0)) - self._blend.floor_ms)
        return np.full(width, np.nan)

    def _groups(self, subnet: int, lineage_of: LineageOf | None) -> list[set[int]]:
        """Return the measured subnets under each holder of a subnet, narrowest holder first."""
        if lineage_of is None:
            return []
        holders = reversed([int(holder) for holder in lineage_of(subnet)])
        return [self._under[holder] for holder in holders if holder in self._under]
