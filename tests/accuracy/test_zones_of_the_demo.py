"""How near zones bring sites in the demonstration's worlds, beside delegations by the same samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ipmicra.app.assign.assign import AssignRequest, assign_seeds
from ipmicra.app.assign.problem import ZoneWishes
from ipmicra.app.build.build import build
from ipmicra.delegate.replay.world import World
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import Member
from ipmicra.edge.store.store import Store
from ipmicra.lab.demo.config import DemoConfig
from ipmicra.lab.demo.dumps import sample_dumps
from ipmicra.lab.demo.invent import invent_world
from ipmicra.model.sample import Sample

SIZES = {"as it is": DemoConfig(), "small": DemoConfig(crawlers=8, sites=60, seed=3)}


@pytest.fixture(scope="module")
def hierarchy_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "hierarchy.ipm"
    build(sample_dumps(None), path)
    return path


def measured(world: World, store: Store) -> None:
    """Let everybody measure everybody, without noise."""
    assert world.mutual_ms is not None
    for crawler in world.crawlers:
        store.crawlers.put(Member(crawler=crawler))
    store.sites.put_many(world.sites, 1.0)
    targets = [site.address for site in world.sites] + [crawler.address for crawler in world.crawlers]
    for crawler, row in zip(world.crawlers, np.hstack([world.rtt_ms, world.mutual_ms]), strict=True):
        store.samples.add_many(
            Sample(crawler=crawler.name, address=address, rtt_ms=float(rtt_ms), taken_s=1.0)
            for address, rtt_ms in zip(targets, row.tolist(), strict=True)
            if np.isfinite(rtt_ms)
        )


@pytest.mark.parametrize("size", SIZES)
def test_zones_are_within_a_tenth_of_the_nearest_crawlers_before_load_counts(
    hierarchy_file: Path, memory_store: Store, size: str
) -> None:
    """Who delegates by these samples gives each site to the crawler that measured least: the best of all."""
    with Hierarchy.open(hierarchy_file) as hierarchy:
        world = invent_world(hierarchy, SIZES[size]).world
        measured(world, memory_store)
        numbers = {crawler.name: number for number, crawler in enumerate(world.crawlers)}
        hosts = [site.host for site in world.sites]
        means = {}
        for name, backend, wishes in (
            ("can", "can", ZoneWishes()),
            ("lbi", "lbi", ZoneWishes(overload=1e6)),
            ("DL", "can", ZoneWishes(scheme="DL")),
        ):
            request = AssignRequest(texts=hosts, backend=backend, zones=wishes, is_kept=False)
            report, _ = assign_seeds(memory_store, request, hierarchy)
            chosen = [numbers[str(one.crawler)] for one in report.assignments]
            means[name] = float(np.mean(world.given_ms(np.array(chosen))))
    nearest = float(np.mean(world.nearest_ms()))
    assert means["can"] <= 1.1 * nearest
    assert means["lbi"] == means["can"]
    assert means["DL"] > 1.1 * nearest, "the test would not tell a bad scheme from a good one"
