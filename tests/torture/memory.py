"""`bin/torture memory`: refuse every allocation of compiled code once; then whole commands with too little.

Each piece of work is run in forked children, the n-th with the n-th allocation refused (`failing_memory.c`,
preloaded). It ends with the right result or with MemoryError; a crash, a wrong result or any other error is a
finding, and so is a wrong result when the same process does the work again afterwards. `bindings.py` does
the same with what bindings ask of Python, `limits.py` with commands under falling limits.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ipmicra.app.build.build import build
from ipmicra.assign.balance.auction.assigner import assign_sites
from ipmicra.assign.balance.demand import Demand
from ipmicra.assign.coordinate.space import Space
from ipmicra.assign.overlay.zones import Zones
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.delegate.replay.replay import Replay
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.lab.worlds.hosting import HostingPlan, invent_hosting
from ipmicra.native import kernels
from tests.cli.command_line import ROOT
from tests.torture import bindings, limits

SOURCE = Path(__file__).with_name("failing_memory.c")
DUMPS = sorted(path for path in (ROOT / "rir_dumps/sample").iterdir() if path.is_file())
RIGHT, REFUSED, WRONG = 0, 3, 4
Work = Callable[[Path], bytes]


def _build(folder: Path) -> bytes:
    build(DUMPS, folder / "built.ipm")
    return (folder / "built.ipm").read_bytes()


def _look_up(folder: Path) -> bytes:
    whole = folder / "whole.ipm"
    if not whole.exists():
        build(DUMPS, whole)
    with Hierarchy.open(whole) as tree:
        wide = [f"2001:{i:x}::1" for i in range(200)]
        rows = tree.lookup_many(np.arange(0, 1 << 32, 1 << 20, dtype=np.uint32))
        single = [tree.row_of(text) for text in wide]
        return rows.tobytes() + tree.lookup_many(wide).tobytes() + str(single).encode()


def _overlay(_folder: Path) -> bytes:
    zones, rng = Zones(Space(low=np.zeros(2), high=np.ones(2))), np.random.default_rng(1)
    for _ in range(60):
        zone = zones.holding(rng.random(2))
        axis, at = zones.loop_cut(zone)
        zones.split(zone, axis, at)
    points = rng.random((100, 2))
    starts = zones.holding_many(points)
    near = [zones.neighbours(int(zone), is_torus=True).tolist() for zone in zones.leaves()]
    return zones.hops(starts, points[::-1].copy(), is_torus=True).tobytes() + str(near).encode()


def _auction(_folder: Path) -> bytes:
    rng = np.random.default_rng(1)
    demand = Demand(cost_ms=rng.random((200, 7)) * 100, load=rng.random(200) + 1, units=np.ones(7))
    return assign_sites(demand).crawler.tobytes()


def _predict(_folder: Path) -> bytes:
    plan = HostingPlan(crawlers=6, sites=60, subnets=12, countries=4, cities_per_country=2)
    world, tree = invent_hosting(plan, np.random.default_rng(1))
    outcomes = Replay(world, DelegationMachine(tree, Predict())).run(range(len(world.sites)))
    return str(outcomes).encode()


def _moves(_folder: Path) -> bytes:
    rng, found = np.random.default_rng(1), b""
    for parts in (1, 3, 5):
        starts, ends = np.arange(0, 61, 3), rng.integers(0, 20, 60)
        graph, weight = (starts, ends, rng.random(60)), np.ones(20)
        part = rng.integers(0, parts, 20)
        load, limit = np.bincount(part, weight, parts).astype(float), np.full(parts, 25.0)
        kernels.move_once(graph, graph, np.ones(2), 2.0, part, load, limit, weight, np.full(2, 9.0))
        found += part.tobytes()
    return found


WORKS: dict[str, Work] = {
    "build": _build,
    "look-up": _look_up,
    "overlay": _overlay,
    "auction": _auction,
    "moves": _moves,
    "predict": _predict,
}


class FailingMemory:
    """The preloaded library."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        self._library.torture_asked.restype = ctypes.c_long
        lines = Path("/proc/self/maps").read_text(encoding="ascii").splitlines()
        ranges = [line.split()[0].split("-") for line in lines if line.endswith(Path(kernels.__file__).name)]
        self._first = int(ranges[0][0], 16)
        self._end = int(ranges[-1][1], 16)

    def refuse(self, at: int) -> None:
        """Count from now on, and refuse the n-th allocation; 0 refuses none."""
        first, end = ctypes.c_size_t(self._first), ctypes.c_size_t(self._end)
        self._library.torture_refuse(first, end, ctypes.c_long(at))

    def asked(self) -> int:
        return int(self._library.torture_asked())


def refused_once(memory: FailingMemory, work: Work, folder: Path, at: int, right: bytes) -> int:
    """Do a work in a child whose n-th allocation is refused; return how it ended, negative for a signal."""
    child = os.fork()
    if not child:
        code = 1
        try:
            memory.refuse(at)
            try:
                code = RIGHT if _digest(work(folder)) == right else WRONG
            except MemoryError:
                code = REFUSED
            memory.refuse(0)
            if _digest(work(folder)) != right:
                code = WRONG
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def campaign(names: list[str], every: int, folder: Path) -> int:
    """Refuse allocations, one after the other; return the number of findings."""
    memory, found = FailingMemory(), 0
    for name in names:
        work = WORKS[name]
        right = _digest(work(folder))
        memory.refuse(0)
        assert _digest(work(folder)) == right
        total, refused = memory.asked(), 0
        for at in range(1, total + 1, every):
            code = refused_once(memory, work, folder, at, right)
            refused += code == REFUSED
            if code not in {RIGHT, REFUSED}:
                found += 1
                print(f"{name}: allocation {at} of {total}: ended with {code}", flush=True)  # noqa: T201
        print(f"{name}: {total:,} allocations, {refused:,} ended in MemoryError", flush=True)  # noqa: T201
    print(f"compiled code: {found} findings", flush=True)  # noqa: T201
    return found


def main() -> int:
    """Run the campaign; return 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    known = [*WORKS, "bindings", *(f"limit-{name}" for name in limits.COMMANDS)]
    parser.add_argument("--only", nargs="+", choices=known, default=known, help="pieces of work, or commands")
    parser.add_argument("--steps", type=int, default=16, help="limits that each command is run under")
    parser.add_argument("--every", type=int, default=1, help="only every so many allocations")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        if "failing_memory" in os.environ.get("LD_PRELOAD", ""):
            return int(bool(campaign([one for one in asked.only if one in WORKS], asked.every, folder)))
        library = folder / "failing_memory.so"
        words = [os.environ.get("CC", "cc"), "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
        subprocess.run(words, check=True)
        again = [sys.executable, "-m", "tests.torture.memory", *sys.argv[1:]]
        environment = {**os.environ, "LD_PRELOAD": str(library)}
        failed = subprocess.run(again, env=environment, check=False).returncode
        if "bindings" in asked.only:
            failed |= bool(bindings.campaign(WORKS.values(), folder))
        chosen = [name for name in limits.COMMANDS if f"limit-{name}" in asked.only]
        return failed | bool(chosen and limits.campaign(chosen, asked.steps, folder))


if __name__ == "__main__":
    sys.exit(main())
