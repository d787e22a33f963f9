"""Delegate an invented world of many sites and print what it took as JSON; run by `benchmarks.delegation`."""

from __future__ import annotations

import json
import resource
import sys
import time
from dataclasses import replace

import numpy as np

from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.delegate.replay.quality import Quality, quality_of
from ipmicra.delegate.replay.replay import Replay
from ipmicra.delegate.replay.world import LocationKind, World, locations_of
from ipmicra.delegate.subnets import SubnetTree
from ipmicra.lab.worlds.hosting import HOSTING_PLAN, invent_hosting
from ipmicra.lab.worlds.synthetic import BIG_PLAN, invent

UNIT_BYTES = 1 if sys.platform == "darwin" else 1024
"""Unit of ru_maxrss."""
PARTS = 20


def large_world(sites: int) -> tuple[World, SubnetTree, list[int]]:
    """Invent a world whose places are right, and an order of arrival."""
    plan = replace(BIG_PLAN, sites=sites, subnets=sites // 5)
    world, tree = invent(plan, np.random.default_rng(1))
    return world, tree, np.random.default_rng(2).permutation(sites).tolist()


def hosting_world(sites: int) -> tuple[World, SubnetTree, list[int]]:
    """Invent a world where a third of the subnets span continents; its sites are in no order already."""
    plan = replace(HOSTING_PLAN, sites=sites, subnets=max(sites // 5, 1))
    world, tree = invent_hosting(plan, np.random.default_rng(0))
    return world, tree, list(range(sites))


def main(kind: str, sites: int) -> None:
    """Let the sites arrive one by one; the median decision counts, by processor time."""
    world, tree, order = (hosting_world if kind == "hosting" else large_world)(sites)
    world_bytes = _peak_bytes()
    locations = locations_of(world, LocationKind.WORLD, {})
    replay = Replay(world, DelegationMachine(tree, Predict(), locations=locations))
    taken: list[float] = []
    parts = [_part(replay, part.tolist(), taken) for part in np.array_split(np.array(order), PARTS)]
    quarters = [parts[i : i + PARTS // 4] for i in range(0, PARTS, PARTS // 4)]
    figures = {
        "probed": len(taken),
        "decided": sites,
        "probes_each": _mean(parts, "probes_per_site") * sites / len(taken),
        "probed_ms": 1e3 * float(np.median(taken)),
        "probed_mean_ms": 1e3 * float(np.mean(taken)),
        "probes_by_quarter": [_mean(quarter, "probes_per_site") for quarter in quarters],
        "optimal": _mean(parts, "optimal"),
        "within_2ms": _mean(parts, "within_2ms"),
        "seconds": time.process_time(),
        "world_bytes": world_bytes,
        "peak_bytes": _peak_bytes(),
    }
    print(json.dumps(figures))


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT_BYTES


def _part(replay: Replay, order: list[int], taken: list[float]) -> Quality:
    """Let some sites arrive and forget what they got: a million answers take memory of their own."""
    outcomes = []
    for site in order:
        start = time.process_time()
        outcome = replay.arrive(site)
        outcomes.append(outcome)
        if outcome.probes:
            taken.append(time.process_time() - start)
    return quality_of(outcomes)


def _mean(parts: list[Quality], name: str) -> float:
    return float(np.average([getattr(one, name) for one in parts], weights=[one.sites for one in parts]))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
