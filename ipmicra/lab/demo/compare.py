"""What delegating and placing are worth: other ways of assigning the same sites, on the same round trips."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import ReportData
from ipmicra.app.report.figures import page_rates
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.registry import policy_variants
from ipmicra.delegate.ports import LocationSource
from ipmicra.delegate.replay.replay import Replay
from ipmicra.delegate.replay.world import World
from ipmicra.delegate.subnets import SubnetTree
from ipmicra.lab.demo.config import DemoConfig
from ipmicra.model.assignment import Assignment
from ipmicra.model.delegation import Decision
from ipmicra.model.types import NOBODY

REPLAYED = ("paper", "geo", "everyone")
DELEGATED, PLACED, HASHED = "predict", "predict + fair load", "site hash"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours:
    """What the demonstration itself did, by host."""

    results: Mapping[str, Decision]
    placed: Mapping[str, Assignment]


@dataclass(frozen=True, slots=True)
class Replaying:
    """What replayed policies may know."""

    tree: SubnetTree
    locations: LocationSource
    config: DemoConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRow:
    """How well one way of assigning the sites does."""

    policy: str
    optimal: float
    """Share of the sites that have their nearest crawler."""
    within_2ms: float
    """Share that have one at most 2 ms farther."""
    probes_per_site: float
    mean_rtt_ms: float
    busiest: float
    """Pages of the busiest crawler in relation to the mean."""
    pages_per_hour: float
    """Of the fleet, while all its connections have work."""
    pages_per_hour_to_the_end: float
    """All pages over the time until the last crawler is done: uneven loads count."""
    against_hash: float = 1.0
    """The same in relation to a hash of the sites' names."""

    def as_record(self) -> dict[str, Any]:
        """Return the figures by name, short enough to read."""
        return {
            key: round(value, 4) if isinstance(value, float) else value for key, value in asdict(self).items()
        }


def compare_ways(data: ReportData, ours: Ours, world: World, replaying: Replaying) -> list[DemoRow]:
    """Compare what was done with ways that are replayed on the world; the hash comes last.

    `data` has the sites in the order of the world.
    """
    columns = Columns(data)
    hashed = columns.hash_crawler
    assert hashed is not None  # noqa: S101 - a world has its round trips
    numbers = {crawler.name: i for i, crawler in enumerate(data.crawlers)}
    hosts = [site.host for site in data.sites]
    results = [ours.results[host] for host in hosts]
    probes = np.array([one.probes for one in results])
    ways = [
        (PLACED, _numbered(numbers, [ours.placed[host].crawler for host in hosts]), probes),
        (DELEGATED, _numbered(numbers, [one.crawler for one in results]), probes),
        *((policy, *_replayed(policy, world, numbers, replaying)) for policy in REPLAYED),
        (HASHED, hashed, np.zeros(len(columns), np.int64)),
    ]
    rows = [_row(columns, *way) for way in ways]
    base = rows[-1].pages_per_hour_to_the_end
    return [replace(one, against_hash=one.pages_per_hour_to_the_end / base) for one in rows]


def _numbered(numbers: Mapping[str, int], names: Iterable[str | None]) -> NDArray[np.int64]:
    return np.array([NOBODY if name is None else numbers[name] for name in names], np.int64)


def _replayed(
    policy: str, world: World, numbers: Mapping[str, int], replaying: Replaying
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Let a policy assign the sites with probes answered from the world; return crawlers and probes."""
    config = replaying.config
    one, *_ = policy_variants([policy], thresholds_ms=[config.threshold_ms], prices_ms=(), nearest=[1])
    chosen = one.make(np.random.default_rng(config.seed))
    machine = DelegationMachine(replaying.tree, chosen, locations=replaying.locations)
    outcomes = Replay(world, machine).run(range(len(world.sites)))
    crawlers = _numbered(numbers, [one.crawler for one in outcomes])
    return crawlers, np.array([one.probes for one in outcomes])


def _row(
    columns: Columns,
    policy: str,
    crawler: NDArray[np.int64],
    probes: NDArray[np.int64],
) -> DemoRow:
    true_ms, nearest_ms = columns.data.true_rtt_ms, columns.oracle_ms
    assert true_ms is not None  # noqa: S101 - a world has its round trips
    assert nearest_ms is not None  # noqa: S101
    rtt_ms = true_ms[crawler, np.arange(len(columns))]
    config = ReportConfig()
    rates = page_rates(columns, rtt_ms, crawler, config.cost)
    assert rates is not None  # noqa: S101 - every site has pages
    pages = np.bincount(crawler, columns.pages, columns.crawlers)
    return DemoRow(
        policy=policy,
        optimal=float((rtt_ms <= nearest_ms).mean()),
        within_2ms=float((rtt_ms <= nearest_ms + config.within_ms).mean()),
        probes_per_site=float(probes.mean()),
        mean_rtt_ms=float(rtt_ms.mean()),
        busiest=float(pages.max() / pages.mean()),
        pages_per_hour=rates.busy,
        pages_per_hour_to_the_end=rates.to_the_end or 0.0,
    )
