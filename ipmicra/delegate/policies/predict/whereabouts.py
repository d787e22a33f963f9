"""Where a site may be: what its own samples and its neighbours' say.

How it works
------------
A site is somewhere: at a place where sites or crawlers were seen before. Each such place (`Candidates`) says
what the round trips from all crawlers would be, by distance and by what sites in its region taught. Samples
make some places likely and rule others out (`Belief`). That is how a site is looked for whose place is
unknown, and the other hypothesis about one whose place may be wrong.

Neighbours help. Samples of other sites without a place, in the same slice or subnet, count as noisy samples
of this one (`Neighbours`), the less the farther slices of the subnet are apart (`Kinship`). And where a place
stands for several points, samples that told between them for one site tell for the next in its slice.

Every source of places has some that are wrong. How many is learnt (`PlacementCheck`): a site whose samples
fit other places better than its own counts as a wrong one. Shares lean on wider ones as long as little was
seen: a source's on that of all sources, and that on the configured one.

A Gaussian around the mean of all places, which is what stands for an unknown place while few places are
known, needs more probes to find the nearest crawler: round trips from a few points on Earth are far from
Gaussian before the first sample, and close to it after the second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.attempt import Attempt
from ipmicra.delegate.config import PredictConfig
from ipmicra.delegate.policies.predict.belief import Belief, student_constant
from ipmicra.delegate.policies.predict.covariance import Covariance
from ipmicra.delegate.policies.predict.prior import MARGIN_KM, Expectation, Field, Geography, Outlook
from ipmicra.delegate.policies.predict.trips import Trips
from ipmicra.delegate.subnets import slice_of
from ipmicra.model.geo import unit_vectors
from ipmicra.model.location import Location
from ipmicra.model.types import Floats

Beside = Mapping[int, tuple[float, float]]
"""What neighbours say: a round trip and the variance of its logarithm for each crawler."""
CELL_DEGREES = 2.0
"""Places in one cell of this width are one candidate."""
MOST = 256
"""Candidates that are kept: those of the crawlers, and the first places that were seen."""
TINY = 1e-9
"""Least weight of a point that is remembered."""
RENEWED = 1.1
"""What candidates foretell is computed anew when so many times as many sites were learnt from."""


MOST_LOG = 500.0
"""Logarithms of ratios are cut here, before they overflow."""
NARROWEST = 0.5
"""No expectation without a place is narrower than this, in logarithms: a bound, to save its making."""


class WrongShare:
    """Counts places and wrong ones among them, in all and by source."""

    def __init__(self, config: PredictConfig) -> None:
        """Begin without any."""
        self._config = config
        self.sites = self.wrong = 0
        self._by_source: dict[str, tuple[int, int]] = {}

    def count(self, source: str, *, is_wrong: bool) -> None:
        """Count a place."""
        sites, wrong = self._by_source.get(source, (0, 0))
        self._by_source[source] = sites + 1, wrong + is_wrong
        self.sites += 1
        self.wrong += is_wrong

    def of(self, source: str, assumed: float) -> float:
        """Return the share of a source's wrong places; it leans on that of all, which leans on `assumed`."""
        trust, own_trust = self._config.places_trusted, self._config.source_trust
        share = (trust * assumed + self.wrong) / (trust + self.sites)
        sites, wrong = self._by_source.get(source, (0, 0))
        return (own_trust * share + wrong) / (own_trust + sites)


class PlacementCheck:
    """Counts wrong places, and weighs one site's samples.

    Densities are those of a Student distribution, so that one detour does not refute a place.
    """

    def __init__(self, config: PredictConfig) -> None:
        """Begin with the share that is expected before any sample."""
        self._config = config
        self._tail = config.tail
        self._constant = student_constant(self._tail)
        self._all, self._sure = WrongShare(config), WrongShare(config)
        self._lost_ms = 0.0

    def __repr__(self) -> str:
        """Say what was counted."""
        return f"<PlacementCheck: {self._all.wrong} of {self._all.sites} places wrong>"

    def learn(self, source: str, loss_ms: float | None, *, was_sure: bool) -> None:
        """Count a site that had a place from some source and was sampled.

        `loss_ms` is what believing the place would have cost, None if it was right; `was_sure` says that the
        place alone nearly settled the site.
        """
        is_wrong = loss_ms is not None
        self._all.count(source, is_wrong=is_wrong)
        self._lost_ms += loss_ms or 0.0
        if was_sure:
            self._sure.count(source, is_wrong=is_wrong)

    def share(self, source: str) -> float:
        """Return the share of a source's places that are wrong: as assumed, as seen of all, as seen of it."""
        return self._all.of(source, self._config.misplaced)

    def expected_loss_ms(self, source: str) -> float:
        """Return what believing a place without a probe is expected to lose; nil until the first wrong one.

        Only places count that nearly settled their sites: where more was unknown, more is wrong.
        """
        return self._sure.of(source, 0.0) * self.loss_ms

    @property
    def loss_ms(self) -> float:
        """Mean loss of believing a wrong place."""
        trust = self._config.losses_trusted
        return (trust * self._config.misplaced_loss_ms + self._lost_ms) / (trust + self._all.wrong)

    def most(self, values: list[float]) -> float:
        """Return the highest density that no place could give to such values."""
        return len(values) * (self._constant - log(NARROWEST)) - sum(values)

    def doubt(self, source: str, placed: float, unplaced: float) -> float:
        """Return the chance that a place is wrong, by the logarithms of the samples' densities."""
        share = self.share(source)
        if share >= 1.0:
            return 1.0
        return 1.0 / (1.0 + exp(min(placed - unplaced, MOST_LOG)) * (1.0 - share) / share)


class Neighbours:
    """Samples of sites without a place: what they say of others in their slice and subnet."""

    def __init__(self) -> None:
        """Begin with none."""
        self._seen = Trips()

    def learn(self, keys: tuple[int, ...], rtts_ms: Mapping[int, float]) -> None:
        """Take in a site's samples for its subnet and its slice; several of a crawler are averaged."""
        for key in keys:
            known = self._seen.of(key)
            for crawler, rtt_ms in rtts_ms.items():
                known[crawler] = float(np.sqrt(known.get(crawler, rtt_ms) * rtt_ms))
            self._seen.put(key, known)

    def of(self, keys: tuple[int, ...], variances: tuple[float, ...]) -> dict[int, tuple[float, float]]:
        """Return what is known of each crawler, with its variance; the last key that knows it counts."""
        found: dict[int, tuple[float, float]] = {}
        for key, variance in zip(keys, variances, strict=True):
            for crawler, rtt_ms in self._seen.of(key).items():
                found[crawler] = rtt_ms, variance
        return found


class Candidates:
    """Places where sites may be, with the expected logarithms of round trips to all crawlers."""

    def __init__(self, config: PredictConfig, geography: Geography) -> None:
        """Begin with none."""
        self._config, self._geography = config, geography
        self._points: list[Floats] = []
        self._counts: list[float] = []
        self._regions: list[NDArray[np.intp] | None] = []
        self._cells: dict[tuple[int, int], int] = {}
        self._outlook: Outlook | None = None
        self._means: Floats = np.zeros((0, 0))
        self._sites = 0
        """Sites that the field had learnt from when the means were made."""

    def __len__(self) -> int:
        """Count the places."""
        return len(self._points)

    def add(self, location: Location, regions: NDArray[np.intp] | None = None) -> None:
        """Count a site or a crawler at a place; `regions` are its nodes in the field."""
        cell = int(location.latitude // CELL_DEGREES), int(location.longitude // CELL_DEGREES)
        known = self._cells.get(cell)
        if known is None and len(self._points) < MOST:
            known = self._cells[cell] = len(self._points)
            self._points.append(unit_vectors(location.latitude, location.longitude))
            self._counts.append(1.0)  # so that each is as likely as if one more site had been seen there
            self._regions.append(None)
            self._outlook = None
        if known is not None:
            self._counts[known] += 1.0
            if self._regions[known] is None:
                self._regions[known] = regions

    def forget_outlook(self) -> None:
        """Take note that the fleet changed."""
        self._outlook = None

    def belief(self, field: Field) -> Belief:
        """Return what is believed of a site that is at any of the places."""
        outlook, is_new = self._outlook, False
        if outlook is None:
            points, counts = np.array(self._points), np.ones(len(self._points))
            outlook = self._outlook = self._geography.outlook_of(points, counts, MARGIN_KM)
            is_new = True
        if is_new or field.sites > RENEWED * self._sites + 1:
            self._means, self._sites = field.expect_at(outlook.levels, self._regions), field.sites
        counts, config = np.array(self._counts), self._config
        return Belief(
            self._means,
            outlook.floors,
            outlook.least,
            np.log(counts / counts.sum()),
            self._covariance(field, outlook),
            config.offset_ms,
            config.tail,
        )

    def _covariance(self, field: Field, outlook: Outlook) -> Covariance:
        """Return the covariance of any site's round trips at a known place, with what its region adds."""
        spread = self._config.placed
        regional = spread.root**2 + spread.coarse**2 + spread.country**2 + spread.fine**2
        return field.within.of_site(regional if outlook.unsure is None else regional + outlook.unsure)


class Whereabouts:
    """What is believed of sites without a place, and of those whose place is wide."""

    def __init__(self, config: PredictConfig, geography: Geography) -> None:
        """Begin without places."""
        self._config = config
        self._candidates, self._neighbours = Candidates(config, geography), Neighbours()
        self._crawlers = 0
        self._told: dict[tuple[int, Location], bytes] = {}
        """Logarithms of the weights of a place's points, by slice: an array takes twice as many bytes."""

    def add_crawler(self, place: Location | None) -> None:
        """Take note of a crawler."""
        if place is not None:
            self._candidates.add(place)
        self._candidates.forget_outlook()
        self._crawlers += 1

    @property
    def is_known(self) -> bool:
        """Whether enough places of sites are known to look for one whose place nobody said."""
        return len(self._candidates) >= self._config.mixed_places + self._crawlers

    def narrowed(self, attempt: Attempt, outlook: Outlook) -> Outlook:
        """Return what a site's place says, with points weighed by what its slice taught."""
        if attempt.location is None or len(outlook.scores) == 1:
            return outlook
        scores = np.frombuffer(self._told.get((slice_of(attempt.address), attempt.location), b""), np.float32)
        if len(scores) != len(outlook.scores):
            return outlook
        return replace(outlook, scores=scores.astype(np.float64))

    def belief(self, attempt: Attempt, field: Field, between: float | None) -> Belief:
        """Return what is believed of a site that may be anywhere.

        `between` is the variance between slices of its subnet, None if that is no wider than one.
        """
        belief, spread = self._candidates.belief(field), self._config.site_spread**2
        for crawler, (rtt_ms, variance) in self.beside(attempt, between).items():
            belief.condition(crawler, rtt_ms, variance + spread)
        return belief

    def beside(self, attempt: Attempt, between: float | None) -> Beside:
        """Return what sites without a place in an attempt's slice and subnet say of it."""
        own, variance = slice_of(attempt.address), self._config.unplaced.subnet**2
        if between is None:
            return self._neighbours.of((own,), (variance,))
        return self._neighbours.of((attempt.row, own), (between, variance))

    def learn(
        self, attempt: Attempt, rtts_ms: Mapping[int, float], prior: Expectation, places: Floats
    ) -> None:
        """Note where a site is, or else what it says of its neighbours."""
        place = attempt.location
        if place is None or not prior.outlook.is_placed:
            self._neighbours.learn((attempt.row, slice_of(attempt.address)), rtts_ms)
            return
        if place.radius_km <= self._config.coarse_km:
            self._candidates.add(place, prior.branch.trees)
        if len(places) > 1:
            scores = np.log(np.maximum(places, TINY)).astype(np.float32)
            self._told[slice_of(attempt.address), place] = scores.tobytes()
