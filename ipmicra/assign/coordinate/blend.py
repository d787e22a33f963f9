"""Methods of estimating: one embedding or several, weighed by cross-validation, and a ridge on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.coordinate.config import BlendConfig, GnpConfig, VivaldiConfig
from ipmicra.assign.coordinate.gnp import Embedding, Expectation, place_hosts
from ipmicra.assign.coordinate.landmarks import place_landmarks
from ipmicra.assign.coordinate.levenberg import Anchors
from ipmicra.assign.coordinate.ridge import Ridge, fit_ridge, likeness
from ipmicra.assign.coordinate.vivaldi import place_by_vivaldi
from ipmicra.model.types import Floats

Rows = NDArray[np.intp]
_LEAST_REGRET = 0.01
"""Added to every regret before weighing: with few crawlers a regret of 0 is luck."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One embedding of the fleet."""

    config: GnpConfig
    crawlers: Embedding
    """Every crawler: landmarks by the landmarks' own fit, the others placed as hosts are."""
    regret: float
    """Mean over crawlers, each placed as a host, of log(round trip to the one named nearest ÷ to the
    nearest)."""

    @property
    def weight(self) -> float:
        """What it counts in a blend; the root keeps a lucky embedding from outweighing the rest."""
        return float((self.regret + _LEAST_REGRET) ** -0.5)

    def placed(self, rtt_ms: Floats, expectation: Expectation | None = None) -> Embedding:
        """Place hosts by samples of any crawlers (hosts × crawlers, NaN where there is none)."""
        used = np.flatnonzero(np.isfinite(rtt_ms).any(axis=0))
        if not len(used):
            used = np.arange(len(self.crawlers.points))
        anchors = Anchors(points=self.crawlers.points[used], heights=self.crawlers.heights[used])
        return place_hosts(rtt_ms[:, used], anchors, self.config, expectation=expectation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blend:
    """Embeddings that are averaged in logarithms, and the correction of their mean."""

    landmarks: Rows
    members: tuple[Member, ...]
    floor_ms: float
    ridge: Ridge | None

    def estimates(self, rtt_ms: Floats) -> Floats:
        """Estimate round trips from samples (both hosts × crawlers, ms; NaN where there is no sample)."""
        return self.estimates_of([member.placed(rtt_ms) for member in self.members], rtt_ms)

    def estimates_of(self, placed: Sequence[Embedding], rtt_ms: Floats) -> Floats:
        """Estimate round trips of hosts that have been placed in every embedding."""
        estimates = [one.distances(member.crawlers) for one, member in zip(placed, self.members, strict=True)]
        mean = mean_log(estimates, self.members, self.floor_ms)
        if self.ridge is not None:
            at_landmarks = np.exp(mean[:, self.landmarks]) - self.floor_ms
            mean += self.ridge.corrections(likeness(rtt_ms[:, self.landmarks], at_landmarks, self.floor_ms))
        return np.maximum(np.exp(mean) - self.floor_ms, 0.0)


def mean_log(estimated_ms: Sequence[Floats], members: Sequence[Member], floor_ms: float) -> Floats:
    """Average estimates in logarithms, by the members' weights."""
    total = np.zeros_like(estimated_ms[0])
    for one, member in zip(estimated_ms, members, strict=True):
        total += member.weight * np.log(one + floor_ms)
    return total / sum(member.weight for member in members)


def mean_regret(estimated_ms: Floats, true_ms: Floats, floor_ms: float) -> float:
    """Return how much farther than the nearest crawler the estimated one is (logarithms); NaN is no truth."""
    is_known = np.isfinite(true_ms)
    rows = np.flatnonzero(is_known.any(axis=1))
    named = np.where(is_known, estimated_ms, np.inf)[rows].argmin(axis=1)
    logs = np.log(true_ms + floor_ms)[rows]
    return float(np.mean(logs[np.arange(len(rows)), named] - np.nanmin(logs, axis=1)))


def fit_gnp(
    mutual_ms: Floats, landmarks: Rows, config: GnpConfig, floor_ms: float, rng: np.random.Generator
) -> Member:
    """Embed the fleet by GNP."""
    anchors = place_landmarks(mutual_ms[np.ix_(landmarks, landmarks)], config, rng)
    as_hosts = place_hosts(mutual_ms[:, landmarks], anchors, config)
    points, heights = as_hosts.points.copy(), as_hosts.heights.copy()
    points[landmarks], heights[landmarks] = anchors.points, anchors.heights
    crawlers = Embedding(points=points, heights=heights, error=as_hosts.error)
    regret = mean_regret(as_hosts.distances(crawlers), mutual_ms, floor_ms)
    return Member(config=config, crawlers=crawlers, regret=regret)


def fit_vivaldi(
    mutual_ms: Floats, landmarks: Rows, config: VivaldiConfig, floor_ms: float, rng: np.random.Generator
) -> Member:
    """Embed the fleet by Vivaldi; hosts, which run no Vivaldi, are placed by least squares."""
    crawlers = place_by_vivaldi(mutual_ms, config, rng)
    placing = GnpConfig(dimensions=config.dimensions, has_height=True)
    member = Member(config=placing, crawlers=crawlers, regret=0.0)
    estimates = member.placed(_only(mutual_ms, landmarks)).distances(crawlers)
    return Member(config=placing, crawlers=crawlers, regret=mean_regret(estimates, mutual_ms, floor_ms))


def fit_members(
    mutual_ms: Floats, landmarks: Rows, config: BlendConfig, rng: np.random.Generator
) -> tuple[Member, ...]:
    """Embed the fleet in every way that the default method tries."""
    kinds = [
        GnpConfig(dimensions=dimensions, nearness=nearness, has_height=has_height)
        for dimensions, nearness, has_height in product(config.dimensions, config.nearness, config.heights)
        if dimensions < len(landmarks) or dimensions == min(config.dimensions)
    ]
    return tuple(fit_gnp(mutual_ms, landmarks, kind, config.ridge.floor_ms, rng) for kind in kinds)


def blend(
    mutual_ms: Floats, landmarks: Rows, members: tuple[Member, ...], config: BlendConfig, *, has_ridge: bool
) -> Blend:
    """Put embeddings together; the ridge is fitted to what their mean says of the crawlers as hosts."""
    floor_ms = config.ridge.floor_ms
    ridge = None
    if has_ridge:
        samples = _only(mutual_ms, landmarks)
        estimates = [member.placed(samples).distances(member.crawlers) for member in members]
        mean = mean_log(estimates, members, floor_ms)
        known = likeness(mutual_ms[:, landmarks], np.exp(mean[:, landmarks]) - floor_ms, floor_ms)
        ridge = fit_ridge(known, np.log(mutual_ms + floor_ms) - mean, config.ridge)
    return Blend(landmarks=landmarks, members=members, floor_ms=floor_ms, ridge=ridge)


def _only(mutual_ms: Floats, landmarks: Rows) -> Floats:
    """Keep the samples of landmarks: what a host would have."""
    kept = np.full_like(mutual_ms, np.nan)
    kept[:, landmarks] = mutual_ms[:, landmarks]
    return kept
