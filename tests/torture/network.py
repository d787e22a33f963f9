"""`bin/torture network`: cut, delay, lose and repeat what processes say to each other, and let clocks jump.

Three parts, each with a history that is checked at its end:

    fleet        two coordinators on one PostgreSQL and agents that call out, over wires on loopback
    crawl        nodes of a crawl, their mailboxes and owners; the same
    namespaces   the fleet in network namespaces of its own, with partitions by routing; needs root

The seed decides which faults come, in which order and for how long; what they hit depends on the machine.
"""

from __future__ import annotations

import argparse
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

from tests.servers.postgres import HOW, PostgresServer, binaries, postgres_server
from tests.servers.refusing import free_port
from tests.torture.clocks import Clock, clock_library
from tests.torture.coordinator import say
from tests.torture.faults import Faults
from tests.torture.history import History, violations
from tests.torture.lossy import LossyNetwork
from tests.torture.namespaces import run_inside, why_not
from tests.torture.network_crawl import run_crawl, run_crawls
from tests.torture.network_fleet import LEASE_S, NAMES, Plan, describe, networked_fleet, run_faults

FULL = 300
AGENTS = 3
SOCKET = ".s.PGSQL.5432"
NAMESPACES = ("namespaces", "crawl-namespaces")
Part = Callable[[Path, int, int], tuple[str, list[str]]]
"""Takes a folder, a seed and how many faults; returns figures, and what was wrong."""


def run_fleet(folder: Path, server: PostgresServer, seed: int, faults: int, agents: int = AGENTS) -> History:
    """Let faults of wires and clocks hit a fleet on loopback."""
    rng = Random(seed)
    library = clock_library(folder)
    with (
        LossyNetwork(seed) as network,
        socket.create_server(("0.0.0.0", 0), backlog=2_000) as sites,
    ):
        store = server.new_store()
        database = store.split("/")[3].partition("?")[0]
        ports = {name: free_port() for name in NAMES}
        public = {name: network.add(f"to {name}", ("127.0.0.1", ports[name])).url for name in NAMES}
        stores = {
            name: network.add(f"db of {name}", server.folder / SOCKET, is_http=False).port for name in NAMES
        }
        names = [f"c{number}" for number in range(agents)]
        clocks = {name: Clock(folder / f"clock of {name}", library) for name in (*NAMES, *names)}
        plan = Plan(
            listen={name: f"127.0.0.1:{port}" for name, port in ports.items()},
            public=public,
            direct={name: f"http://127.0.0.1:{port}" for name, port in ports.items()},
            store={name: f"postgresql://tests@127.0.0.1:{port}/{database}" for name, port in stores.items()},
            proxy={name: network.add(f"from {name}", None).url for name in names},
            clocks=clocks,
            port=sites.getsockname()[1],
        )
        with networked_fleet(folder, plan, store, agents) as fleet:
            drawn = Faults(network, list(clocks.values()), rng, beyond_s={"db of": 2 * LEASE_S, "from": 16.0})
            return run_faults(fleet, rng, faults, drawn.strike, lambda: drawn.relieve(everything=True))


def run_part(name: str, seed: int, faults: int) -> bool:
    """Run one part, and say what came of it; return whether all is well."""
    say(f"replay with: bin/torture network --only {name} --seed {seed} --faults {faults}")
    folder = Path(tempfile.mkdtemp(prefix=f"ipmicra-{name}-"))
    folder.chmod(0o755)  # PostgreSQL runs as nobody, and goes by a clock in here
    if name in NAMESPACES:
        return run_inside("tests.torture.network_namespaces", name, str(folder), str(seed), str(faults)) == 0
    return judged(name, PARTS[name], folder, seed, faults)


def judged(name: str, part: Part, folder: Path, seed: int, faults: int) -> bool:
    """Run a part in a folder, which is kept if something is wrong; return whether all is well."""
    began_s = time.monotonic()
    figures, found = part(folder, seed, faults)
    say(f"{name}: {figures} in {time.monotonic() - began_s:.0f} s, {len(found)} violations")
    for one in found[:50]:
        say(one)
    if found:
        say(f"logs are in {folder}")
    else:
        shutil.rmtree(folder)
    return not found


def fleet_part(folder: Path, seed: int, faults: int) -> tuple[str, list[str]]:
    with postgres_server() as server:
        history = run_fleet(folder, server, seed, faults)
    return f"{len(history.faults)} faults, {describe(history)}", violations(history)


PARTS: dict[str, Part] = {"fleet": fleet_part, "crawl": partial(run_crawls, run_crawl)}


def main() -> int:
    """Run a campaign from the command line."""
    parser = argparse.ArgumentParser(prog="bin/torture network", description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=FULL, help="of each part")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", choices=[*PARTS, *NAMESPACES], nargs="+")
    chosen = parser.parse_args()
    chosen.only = chosen.only or [*PARTS, *NAMESPACES]
    if binaries() is None:
        say(HOW)
        return 1
    reason = why_not()
    if reason is not None and not {*NAMESPACES}.isdisjoint(chosen.only):
        say(f"namespaces are left out: {reason}")
        chosen.only = [name for name in chosen.only if name not in NAMESPACES]
    outcomes = [run_part(name, chosen.seed, chosen.faults) for name in chosen.only]
    return not all(outcomes)


if __name__ == "__main__":
    sys.exit(main())
