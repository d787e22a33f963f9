"""The fleet of `network_fleet.py` in network namespaces: what is lost is lost without a word.

A fault cuts the path between two processes, in one direction or in both, for a while: an agent and a
coordinator, the two coordinators, a coordinator and the database. Clocks jump as well, that of the database's
server too. Runs inside `namespaces.run_inside`.
"""

from __future__ import annotations

import shutil
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import trustme

from tests.servers.postgres import PostgresServer
from tests.torture.clocks import JUMPS_S, Clock, clock_library
from tests.torture.faults import JUMP
from tests.torture.history import Fault, History, violations
from tests.torture.namespaces import Router
from tests.torture.network_fleet import LEASE_S, NAMES, Plan, describe, networked_fleet, run_faults

PORT, DATABASE_PORT = 8460, 5432
DATABASE = "db"
LONGEST_S, BEYOND_S = 2.0, {"db": 2.5 * LEASE_S, "agent": 18.0}
"""Now and then a cut lasts beyond a lease, or beyond the time that an agent may stay away."""


@dataclass
class Cuts:
    """Cuts paths between namespaces, several at a time, and lets clocks jump."""

    router: Router
    clocks: Sequence[Clock]
    rng: Random
    _under_way: list[tuple[float, str, str]] = field(default_factory=list)

    def strike(self) -> Fault:
        """Begin a fault, and end those that are due."""
        self.relieve()
        now_s = time.monotonic()
        if self.rng.random() < 1 / 6:
            clock, ahead_s = self.rng.choice(self.clocks), self.rng.choice([0.0, *JUMPS_S])
            clock.set(ahead_s)
            return Fault(clock.file.name, f"{JUMP} to {ahead_s:+g} s", now_s, now_s)
        one, other = self._pair()
        lasts_s = self._duration_s(one, other)
        for source, target in self.rng.choice([[(one, other)], [(other, one)], [(one, other), (other, one)]]):
            self.router.drop(source, target)
            self._under_way.append((now_s + lasts_s, source, target))
        return Fault(f"{one} and {other}", "partition", now_s, now_s + lasts_s)

    def _pair(self) -> tuple[str, str]:
        agents = [name for name in self.router.names if name not in {*NAMES, DATABASE}]
        pairs = [
            *((agent, name) for agent in agents for name in NAMES),
            *((name, DATABASE) for name in NAMES for _ in agents),
            NAMES,
        ]
        return self.rng.choice(pairs)

    def _duration_s(self, one: str, other: str) -> float:
        if self.rng.random() < 1 / 10:
            return BEYOND_S["db" if DATABASE in {one, other} else "agent"]
        return self.rng.uniform(0.1, LONGEST_S)

    def relieve(self, *, everything: bool = False) -> None:
        """End cuts that are due, or all of them."""
        for until_s, source, target in list(self._under_way):
            if everything or until_s <= time.monotonic():
                self._under_way.remove((until_s, source, target))
                if not any((source, target) == (a, b) for _, a, b in self._under_way):
                    self.router.restore(source, target)


def run_namespaces(folder: Path, seed: int, faults: int, agents: int = 3) -> History:
    """Let cuts and jumps hit a fleet in namespaces."""
    rng, router = Random(seed), Router()
    library, signer = clock_library(folder), trustme.CA()
    signer.cert_pem.write_to_path(folder / "ca.pem")
    for name in (DATABASE, *NAMES, *(f"c{number}" for number in range(agents))):
        router.add(name)
    clocks = {name: Clock(folder / f"clock of {name}", library) for name in router.names}
    settings = {"listen_addresses": router.address(DATABASE), "port": str(DATABASE_PORT)}
    where, clock = router.prefix(DATABASE), clocks[DATABASE].environment
    with (
        PostgresServer(settings, namespace=where, trusted="10.77.0.0/16", **clock) as server,
        socket.create_server(("0.0.0.0", 0), backlog=2_000) as sites,
    ):
        store = server.new_store()
        database = store.split("/")[3].partition("?")[0]
        urls = {name: f"https://{router.address(name)}:{PORT}" for name in NAMES}
        url = f"postgresql://tests@{router.address(DATABASE)}:{DATABASE_PORT}/{database}"
        plan = Plan(
            listen={name: f"{router.address(name)}:{PORT}" for name in NAMES},
            public=urls,
            direct=urls,
            store=dict.fromkeys(NAMES, url),
            words={name: _certified(signer, folder, name, router.address(name)) for name in NAMES},
            authority=folder / "ca.pem",
            prefix={name: router.prefix(name) for name in router.names},
            clocks=clocks,
            block=lambda number: f"10.{80 + number}",
            port=sites.getsockname()[1],
        )
        with networked_fleet(folder, plan, store, agents) as fleet:
            cuts = Cuts(router, list(clocks.values()), rng)
            return run_faults(fleet, rng, faults, cuts.strike, lambda: cuts.relieve(everything=True))


def _certified(signer: trustme.CA, folder: Path, name: str, address: str) -> list[str]:
    """Write a certificate for an address; return the words that serve with it, and trust the other one."""
    issued = signer.issue_cert(address)
    chain, key = folder / f"{name}.pem", folder / f"{name}.key"
    issued.cert_chain_pems[0].write_to_path(chain)
    issued.private_key_pem.write_to_path(key)
    return ["--tls-cert", str(chain), "--tls-key", str(key), "--ca", str(folder / "ca.pem")]


def main(folder: str, seed: str, faults: str) -> int:
    """Run inside the router's namespace; say what came of it."""
    began_s = time.monotonic()
    history = run_namespaces(Path(folder), int(seed), int(faults))
    found = violations(history)
    sys.stdout.write(
        f"namespaces: {len(history.faults)} faults, {describe(history)} "
        f"in {time.monotonic() - began_s:.0f} s, {len(found)} violations\n"
    )
    sys.stdout.writelines(f"{one}\n" for one in found[:50])
    if not found:
        shutil.rmtree(folder)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
