"""What the delegation is worth: other ways of assigning the same sites, on the same known round trips.

A way that is added to `standings`, such as a placing under capacity, gets its row by the same arithmetic.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.demo.config import DemoConfig
from ipmicra.app.report.columns import NOBODY, Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import ReportData
from ipmicra.app.report.figures import page_rates
from ipmicra.delegate.delegator import Delegator
from ipmicra.delegate.ports import LocationSource
from ipmicra.delegate.subnets import SubnetTree
from ipmicra.simulate.contest import contestants
from ipmicra.simulate.replay import Replay
from ipmicra.simulate.world import World

REPLAYED = ("paper", "geo", "everyone")


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoStanding:
    """How well one way of assigning the sites does."""

    policy: str
    optimal: float
    """Share of the sites that have their nearest crawler."""
    within_2ms: float
    """Share that have one at most 2 ms farther."""
    probes_per_site: float
    mean_rtt_ms: float
    pages_per_hour: float
    """Of the fleet, while all its connections have work."""
    pages_per_hour_to_the_end: float
    """Until the last crawler is done: uneven loads count."""
    against_hash: float = 1.0
    """Pages per hour in relation to a hash of the sites' names."""

    def as_record(self) -> dict[str, Any]:
        """Give the figures by name, short enough to read."""
        return {
            key: round(value, 4) if isinstance(value, float) else value for key, value in asdict(self).items()
        }


def standings(
    data: ReportData, world: World, tree: SubnetTree, locations: LocationSource, config: DemoConfig
) -> list[DemoStanding]:
    """Compare the delegation with ways that are replayed on the world; the hash comes last."""
    columns = Columns(data)
    hashed = columns.hash_crawler
    assert hashed is not None  # noqa: S101 - a world has its round trips
    ways = [
        (data.policy, columns.crawler, columns.probes),
        *((policy, *_replayed(policy, world, tree, locations, config)) for policy in REPLAYED),
        ("site hash", hashed, np.zeros(len(columns), np.int64)),
    ]
    rows = [_standing(columns, *way) for way in ways]
    return [replace(one, against_hash=one.pages_per_hour / rows[-1].pages_per_hour) for one in rows]


def _replayed(
    policy: str, world: World, tree: SubnetTree, locations: LocationSource, config: DemoConfig
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Let a policy assign the sites with probes answered from the world; give crawlers and probes."""
    one, *_ = contestants([policy], thresholds_ms=[config.threshold_ms], prices_ms=(), nearest=[1])
    machine = Delegator(tree, one.make(np.random.default_rng(config.seed)), locations=locations)
    numbers = {crawler.name: i for i, crawler in enumerate(world.crawlers)}
    outcomes = Replay(world, machine).run(range(len(world.sites)))
    crawlers = [NOBODY if one.crawler is None else numbers[one.crawler] for one in outcomes]
    return np.array(crawlers), np.array([one.probes for one in outcomes])


def _standing(
    columns: Columns,
    policy: str,
    crawler: NDArray[np.int64],
    probes: NDArray[np.int64],
) -> DemoStanding:
    true_ms, nearest_ms = columns.data.true_rtt_ms, columns.oracle_ms
    assert true_ms is not None  # noqa: S101 - a world has its round trips
    assert nearest_ms is not None  # noqa: S101
    rtt_ms = true_ms[crawler, np.arange(len(columns))]
    config = ReportConfig()
    rates = page_rates(columns, rtt_ms, crawler, config.cost)
    assert rates is not None  # noqa: S101 - every site has pages
    return DemoStanding(
        policy=policy,
        optimal=float((rtt_ms <= nearest_ms).mean()),
        within_2ms=float((rtt_ms <= nearest_ms + config.within_ms).mean()),
        probes_per_site=float(probes.mean()),
        mean_rtt_ms=float(rtt_ms.mean()),
        pages_per_hour=rates.busy,
        pages_per_hour_to_the_end=rates.to_the_end or 0.0,
    )
