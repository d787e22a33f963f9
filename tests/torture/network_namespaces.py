"""The fleet and the crawl of this campaign in network namespaces: packets are dropped silently.

A fault cuts the path between two processes, in one direction or in both, for a while: an agent and a
coordinator, the two coordinators, a coordinator and the database; or a node of a crawl and its coordinator.
Clocks jump as well, that of the database's server too. Runs inside `namespaces.run_inside`.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random

import trustme

from tests.loopback_crawl import CRAWLERS, Crawl, World, crawl_coordinator, node_settings
from tests.servers.loopback_web import loopback_web
from tests.servers.postgres import PostgresServer
from tests.torture import network_crawl
from tests.torture.clocks import Clock, clock_library
from tests.torture.crawl_history import CrawlHistory
from tests.torture.cuts import Cuts
from tests.torture.history import History, violations
from tests.torture.namespaces import Router
from tests.torture.network import Part, judged
from tests.torture.network_crawl import WORLD, crawl_through, run_crawls
from tests.torture.network_fleet import LEASE_S, NAMES, Plan, describe, networked_fleet, run_faults

PORT, DATABASE_PORT = 8460, 5432
DATABASE = "db"
BOX = "box"
"""The coordinator of a crawl."""


def beyond_s(one: str, other: str) -> float:
    """Return a time beyond a lease, or beyond the time that an agent may stay away."""
    return 2.5 * LEASE_S if DATABASE in {one, other} else 18.0


def run_fleet(folder: Path, seed: int, faults: int, agents: int = 3) -> History:
    """Let cuts and jumps hit a fleet."""
    with Router((DATABASE, *NAMES, *(f"c{number}" for number in range(agents)))) as router:
        return _faulted(folder, router, seed, faults, agents)


def _faulted(folder: Path, router: Router, seed: int, faults: int, agents: int) -> History:
    rng, signer = Random(seed), _signer(folder)
    clocks = _clocks(folder, router.names)
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
            pairs = [
                *((agent, name) for agent in fleet.agents for name in NAMES),
                *((name, DATABASE) for name in NAMES for _ in fleet.agents),
                NAMES,
            ]
            cuts = Cuts(router=router, clocks=list(clocks.values()), rng=rng, pairs=pairs, beyond_s=beyond_s)
            return run_faults(fleet, rng, faults, cuts.strike, lambda: cuts.relieve(everything=True))


def _clocks(folder: Path, names: Sequence[str]) -> dict[str, Clock]:
    """Make a clock for each process."""
    library = clock_library(folder)
    return {name: Clock(folder / f"clock of {name}", library) for name in names}


def _signer(folder: Path) -> trustme.CA:
    """Make an authority whose certificate all of them trust."""
    signer = trustme.CA()
    signer.cert_pem.write_to_path(folder / "ca.pem")
    return signer


def _certified(signer: trustme.CA, folder: Path, name: str, address: str) -> list[str]:
    """Write a certificate for an address; return the words that serve with it, and trust the other one."""
    issued = signer.issue_cert(address)
    chain, key = folder / f"{name}.pem", folder / f"{name}.key"
    issued.cert_chain_pems[0].write_to_path(chain)
    issued.private_key_pem.write_to_path(key)
    return ["--tls-cert", str(chain), "--tls-key", str(key), "--ca", str(folder / "ca.pem")]


def run_crawl(folder: Path, seed: int, faults: int, world: World = WORLD) -> CrawlHistory:
    """Let cuts and jumps hit the nodes of a crawl."""
    with Router((BOX, *CRAWLERS)) as router:
        return _crawled(folder, router, Random(seed), faults, world)


def _crawled(folder: Path, router: Router, rng: Random, faults: int, world: World) -> CrawlHistory:
    """Run a crawl. Its web is at the router, where all nodes reach it whatever is cut."""
    signer, clocks = _signer(folder), _clocks(folder, router.names)
    words = [
        *("--listen", f"{router.address(BOX)}:{PORT}", "--node-lease", str(network_crawl.LEASE_S)),
        *_certified(signer, folder, BOX, router.address(BOX)),
    ]
    box = crawl_coordinator(world, folder, *words, **clocks[BOX].environment)
    box.prefix, box.authority = router.prefix(BOX), folder / "ca.pem"
    cuts = Cuts(
        router=router,
        clocks=list(clocks.values()),
        rng=rng,
        pairs=[(BOX, name) for name in CRAWLERS],
        beyond_s=lambda *_: rng.uniform(0.8, 1.2) * network_crawl.BEYOND_S,
        beyond_share=network_crawl.BEYOND_SHARE,
    )
    with loopback_web(world.page, "0.0.0.0") as web, box:
        settings = node_settings(box, network_crawl.SETTINGS) | {"IPMICRA_CA": str(folder / "ca.pem")}
        with Crawl(world, folder, web, box, settings) as crawl:
            for name in CRAWLERS:
                crawl.prefixes[name] = router.prefix(name)
                crawl.environments[name] = clocks[name].environment | {
                    "http_proxy": f"http://{router.gateway(name)}:{web.port}"
                }
            return crawl_through(crawl, cuts, faults)


def fleet_part(folder: Path, seed: int, faults: int) -> tuple[str, list[str]]:
    history = run_fleet(folder, seed, faults)
    return f"{len(history.faults)} faults, {describe(history)}", violations(history)


PARTS: dict[str, Part] = {
    "namespaces": fleet_part,
    "crawl-namespaces": partial(run_crawls, run_crawl),
    "small crawl": partial(run_crawls, partial(run_crawl, world=World(hosts=4, pages=12))),
}
"""The last one is for the suite."""


def main(name: str, folder: str, seed: str, faults: str) -> int:
    """Run a part inside the router's namespace."""
    return not judged(name, PARTS[name], Path(folder), int(seed), int(faults))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
