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
from ipmicra.delegate.replay.quality import quality_of
from ipmicra.delegate.replay.replay import Replay
from ipmicra.delegate.replay.world import LocationKind, locations_of
from ipmicra.lab.worlds.synthetic import BIG_PLAN, invent

UNIT_BYTES = 1 if sys.platform == "darwin" else 1024
"""Unit of ru_maxrss."""


def main(sites: int) -> None:
    """Let the sites arrive one by one; the median decision counts, by processor time."""
    plan = replace(BIG_PLAN, sites=sites, subnets=sites // 5)
    world, tree = invent(plan, np.random.default_rng(1))
    locations = locations_of(world, LocationKind.WORLD, {})
    replay = Replay(world, DelegationMachine(tree, Predict(), locations=locations))
    outcomes, taken = [], []
    for site in np.random.default_rng(2).permutation(sites).tolist():
        start = time.process_time()
        outcome = replay.arrive(site)
        outcomes.append(outcome)
        if outcome.probes:
            taken.append(time.process_time() - start)
    found = quality_of(outcomes)
    figures = {
        "probed": len(taken),
        "decided": len(outcomes),
        "probes_each": found.probes_per_site * sites / len(taken),
        "probed_ms": 1e3 * float(np.median(taken)),
        "optimal": found.optimal,
        "seconds": time.process_time(),
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT_BYTES,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main(int(sys.argv[1]))
