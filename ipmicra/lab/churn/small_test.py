"""The small test of section 5.1 as a simulation: ten crawlers in four cities, 203 sites, no queue.

[1] Xu, Zhang, Zhang & Fang 2010. Places, providers and detours between providers are drawn; [1] measured.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ipmicra.assign.balance.config import LbiConfig
from ipmicra.assign.balance.lbi import forwarded
from ipmicra.assign.coordinate.coordinates import Coordinates
from ipmicra.assign.coordinate.space import learn_space_moving
from ipmicra.assign.overlay.overlay import Overlay
from ipmicra.model.types import Floats, Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallConfig:
    """The test; ours where [1] is not cited."""

    crawlers: int = 10
    """[1]."""
    cities: int = 4
    """[1]."""
    sites: int = 203
    """[1]."""
    landmarks: int = 8
    """Nodes of the coordinate service, drawn over the country like sites."""
    providers: int = 3
    page_bytes: int = 10_000
    bandwidth_mbps: float = 2.0
    """Limit of a crawler's download rate [1]."""
    polite_wait_ms: float = 100.0
    country_ms: float = 60.0
    """Round trip from side to side of the country."""
    detour_ms: float = 35.0
    """Mean addition between two providers, whose nets meet in few places."""
    access_ms: float = 4.0
    """Median of the access delay."""
    noise: float = 0.15
    """Standard deviation of the logarithm of every round trip."""
    moved_share: float = 0.05
    """Part of the sites that the bounds of coordinate space move."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallWorld:
    """Crawlers, then landmarks, then sites: places on a plane, providers, round trips between all."""

    places: Floats
    provider: Rows
    rtt_ms: Floats
    crawlers: int
    landmarks: int

    @property
    def to_sites_ms(self) -> Floats:
        """Return the round trips from crawlers (rows) to sites (columns)."""
        return self.rtt_ms[: self.crawlers, self.crawlers + self.landmarks :]


def small_world(config: SmallConfig, rng: np.random.Generator) -> SmallWorld:
    """Draw a country."""
    cities = rng.random((config.cities, 2))
    others = rng.random((config.landmarks + config.sites, 2))
    places = np.concatenate([cities[np.arange(config.crawlers) % config.cities], others])
    provider = rng.integers(0, config.providers, len(places))
    distances = np.linalg.norm(places[:, None] - places[None], axis=2) * config.country_ms
    between = np.triu(rng.exponential(config.detour_ms, (config.providers, config.providers)), 1)
    detour = (between + between.T)[np.ix_(provider, provider)]
    access = config.access_ms * np.exp(rng.normal(0, 0.7, len(places)))
    factor = np.triu(np.exp(rng.normal(0, config.noise, distances.shape)), 1)
    rtt_ms = (distances + detour + access[:, None] + access) * (factor + factor.T)
    return SmallWorld(
        places=places, provider=provider, rtt_ms=rtt_ms, crawlers=config.crawlers, landmarks=config.landmarks
    )


def small_choices(world: SmallWorld, config: SmallConfig, rng: np.random.Generator) -> dict[str, Rows]:
    """Return the crawler of each site under each scheme."""
    first = world.crawlers + world.landmarks
    crawlers, sites = slice(0, world.crawlers), slice(first, None)
    rtt_ms = world.to_sites_ms
    distances = np.linalg.norm(world.places[crawlers, None] - world.places[None, sites], axis=2)
    is_foreign = world.provider[crawlers, None] != world.provider[None, sites]
    return {
        "random": rng.integers(0, world.crawlers, rtt_ms.shape[1]),
        "city": distances.argmin(axis=0),
        "isp-city": (distances + 10.0 * is_foreign).argmin(axis=0),
        "rtt-worst": rtt_ms.argmax(axis=0),
        "rtt-best": rtt_ms.argmin(axis=0),
        "nc-can": _nc_can(world, config, rng),
    }


def _nc_can(world: SmallWorld, config: SmallConfig, rng: np.random.Generator) -> Rows:
    """Place crawlers and sites by GNP, own zones, balance on INSERT with a threshold of the mean load."""
    landmarks = np.arange(world.crawlers, world.crawlers + world.landmarks)
    coordinates = Coordinates.fit(
        world.rtt_ms[np.ix_(landmarks, landmarks)], rng=rng, landmarks=world.landmarks, method="gnp"
    )
    crawler_points = coordinates.points(world.rtt_ms[: world.crawlers, landmarks])
    site_points = coordinates.points(world.rtt_ms[world.crawlers + world.landmarks :, landmarks])
    overlay = Overlay(learn_space_moving(site_points, config.moved_share), scheme="DL", rng=rng)
    overlay.join_many(crawler_points)
    lbi = LbiConfig(threshold=config.sites / config.crawlers)
    held, chosen = np.zeros(world.crawlers), []
    for owner in overlay.owners(site_points).tolist():
        taker = forwarded(owner, held, held, lambda one: np.array(overlay.neighbours(one)), config=lbi)[-1]
        held[taker] += 1
        chosen.append(taker)
    return np.array(chosen)


def small_throughput(world: SmallWorld, chosen: Rows, config: SmallConfig) -> tuple[float, float]:
    """Return the throughput of all sites together in Mb/s (equation 6 of [1]) and the mean RTT/2 in ms."""
    rtt_ms = world.to_sites_ms[chosen, np.arange(len(chosen))]
    page_bits = config.page_bytes * 8
    page_ms = rtt_ms + page_bits / config.bandwidth_mbps / 1e3 + config.polite_wait_ms
    return float((page_bits / page_ms / 1e3).sum()), float(rtt_ms.mean() / 2)
