"""Nodes of a crawl and their coordinator, while the network between them and their clocks misbehave.

Each node reaches its coordinator over a wire of its own, or from a namespace of its own
(`network_namespaces.py`). Some faults last longer than the time after which a node counts as dead, so that
its blocks move to the other one and back. The web itself is not disturbed: what it was asked for is the
history.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from tests.loopback_crawl import CRAWLERS, Crawl, World, crawl_of
from tests.patience import PATIENCE_S, wait_until
from tests.torture.clocks import Clock, clock_library
from tests.torture.coordinator import say
from tests.torture.crawl_history import CrawlHistory, crawl_violations
from tests.torture.cuts import Cuts
from tests.torture.faults import Faults
from tests.torture.lossy import LossyNetwork

LEASE_S = 4.0
BEYOND_S, BEYOND_SHARE = 5.0 * LEASE_S, 1 / 2
"""Half of the faults last so long: a crawl is over in a minute, and a node counts as dead after two leases,
so with fewer or shorter ones sites would rarely move."""
SETTLE_S = 14.0
"""Two leases, a rejoin with its pauses, and some of a busy machine."""
WORLD = World(hosts=20, pages=100)
SETTINGS = {"DOWNLOAD_DELAY": 0.25, "DOWNLOAD_TIMEOUT": PATIENCE_S, "RETRY_ENABLED": False}
"""A busy machine makes Scrapy's own limit run out, and it would fetch such a page again by itself."""
PER_CRAWL = 30
"""Faults of one crawl."""


def run_crawl(
    folder: Path, seed: int, faults: int, world: World = WORLD, delay_s: float = SETTINGS["DOWNLOAD_DELAY"]
) -> CrawlHistory:
    """Let faults of wires and clocks hit one crawl; wait for its end."""
    rng = Random(seed)
    library = clock_library(folder)
    clocks = {name: Clock(folder / f"clock of {name}", library) for name in ("box", *CRAWLERS)}
    settings = SETTINGS | {"DOWNLOAD_DELAY": delay_s}
    with (
        LossyNetwork(seed) as network,
        crawl_of(world, folder, settings, lease_s=LEASE_S, environment=clocks["box"].environment) as crawl,
    ):
        port = urlsplit(crawl.box.url).port or 0
        for name in CRAWLERS:
            crawl.doors[name] = network.add(f"of {name}", ("127.0.0.1", port)).url
            crawl.environments[name] = clocks[name].environment
        drawn = Faults(
            network, list(clocks.values()), rng, beyond_s={"of": BEYOND_S}, beyond_share=BEYOND_SHARE
        )
        return crawl_through(crawl, drawn, faults)


def crawl_through(crawl: Crawl, drawn: Faults | Cuts, faults: int) -> CrawlHistory:
    """Let so many faults hit a crawl; return what happened once it has ended."""
    restarts: list[str] = []
    for name in CRAWLERS:
        crawl.start(name)
    # A node that cannot join when it is started says so and ends.
    wait_until(lambda: all(crawl.web.urls(name) for name in CRAWLERS), "the crawl to begin")
    for _ in range(faults):
        time.sleep(drawn.rng.uniform(0.2, 1.8))
        drawn.strike()
        _supervise(crawl, restarts)
        if all(node.process.poll() == 0 for node in crawl.nodes.values()):
            break
    drawn.relieve(everything=True)
    for clock in drawn.clocks:
        clock.set(0.0)
    deadline_s = time.monotonic() + 5 * PATIENCE_S
    while any(node.process.poll() != 0 for node in crawl.nodes.values()):
        assert time.monotonic() < deadline_s, crawl.report()
        _supervise(crawl, restarts)
        time.sleep(0.1)
    history = crawl.history(SETTLE_S)
    history.faults, history.restarts, history.has_stand_ins = drawn.log, restarts, True
    return history


def _supervise(crawl: Crawl, restarts: list[str]) -> None:
    """Start nodes again that ended with an error, and note that they did."""
    for node in list(crawl.nodes.values()):
        if node.process.poll() not in {None, 0}:
            restarts.append(f"{node.name}: {node.text[-1500:]}")
            crawl.start(node.name)


def describe_crawl(history: CrawlHistory) -> str:
    """Return the figures of a crawl in a line."""
    urls = {one.url for one in history.fetched}
    stood_in = sum(one.node != history.owner[one.host] for one in history.fetched)
    return f"{len(urls)} pages, {len(history.fetched) - len(urls)} fetched twice, {stood_in} by stand-ins"


def run_crawls(
    run: Callable[[Path, int, int], CrawlHistory], folder: Path, seed: int, faults: int
) -> tuple[str, list[str]]:
    """Run as many crawls as the faults need, each with a seed of its own; return figures and violations."""
    found: list[str] = []
    done = pages = again = 0
    crawls = -(-faults // PER_CRAWL)
    for number in range(crawls):
        own = folder / str(number)
        own.mkdir()
        history = run(own, seed + number, min(PER_CRAWL, faults - number * PER_CRAWL))
        say(f"seed {seed + number}: {len(history.faults)} faults, {describe_crawl(history)}")
        found += [f"seed {seed + number}: {one}" for one in crawl_violations(history)]
        done, urls = done + len(history.faults), {one.url for one in history.fetched}
        pages, again = pages + len(urls), again + len(history.fetched) - len(urls)
    return f"{done} faults, {crawls} crawls, {pages} pages, {again} fetched twice", found
