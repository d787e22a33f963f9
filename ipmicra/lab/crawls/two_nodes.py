"""The parallel test of "Design of a distributed Web crawler" as a real crawl: two nodes that exchange links.

Hosts are divided by a hash of their names. Each node starts at the main page of a host of its own, and hands
links to the other's hosts over through a coordinator, a real process as well. The paper downloaded for ten
hours; here the web is small, and crawled to its end.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from ipmicra.app.build.build import build
from ipmicra.app.crawl.request import CoordinatorAccess, CrawlRequest, Limits
from ipmicra.app.home import Home
from ipmicra.app.serve.place import OPERATOR_TOKEN
from ipmicra.edge.loopback.web_plan import WebPlan
from ipmicra.edge.loopback.web_server import read_hits
from ipmicra.lab.crawls.coordinator_process import running_coordinator
from ipmicra.lab.crawls.measured import CrawlPlace, processor_share
from ipmicra.lab.crawls.nodes import run_nodes
from ipmicra.lab.crawls.running import running_web, web_world
from ipmicra.lab.demo.dumps import sample_dumps
from ipmicra.lab.experiments.two_crawlers import (
    PUBLISHED_PAGES,
    PUBLISHED_SENT,
    TwoCrawlersConfig,
    simulate_two_crawlers,
)
from ipmicra.model.assignment import Assignment
from ipmicra.partition.hashing import hash_one

TIMEOUT_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCrawl:
    """What one node did, beside the simulation and the paper."""

    node: str
    pages: int
    links_sent: int
    """Different links to hosts of the other node."""
    sent_per_page: float
    simulated_sent_per_page: float
    """In the simulation, on a web of as many hosts, pages and links per page."""
    published_sent_per_page: float
    fetched_twice: int
    """Pages that both nodes, or one of them twice, have fetched."""
    processor: float

    def as_record(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {
            key: round(value, 4) if isinstance(value, float) else value for key, value in asdict(self).items()
        }


def crawl_two_nodes(hosts: int, pages: int, seed: int) -> list[NodeCrawl]:
    """Crawl a web of some hosts, each of some pages, with two nodes."""
    world = web_world(np.full((2, hosts), 20.0))
    config = TwoCrawlersConfig(hosts=hosts, pages=hosts * pages)
    plan = WebPlan(
        pages={site.host: pages for site in world.sites},
        seed=seed,
        links=round(config.links_per_page),
        leaving=config.leaving_share,
        line_bps=10_000_000.0,
        private=False,
    )
    owners = {site.host: f"c{hash_one(site.host) % 2}" for site in world.sites}
    with running_web(world, plan) as place:
        _write_home(place, owners)
        home = place.folder
        with running_coordinator(home) as url, processor_share() as busy:
            done = run_nodes(_requests(place, owners, url), home / "nodes", TIMEOUT_S)
        served = [(hit.host, hit.path) for hit in read_hits(place.hits) if hit.path != "/robots.txt"]
        sent = {name: _sent(home / "nodes" / name, name, owners) for name in done.statuses}
    simulated = simulate_two_crawlers(config, np.random.default_rng(seed)).crawlers
    return [
        NodeCrawl(
            node=name,
            pages=done.statuses[name].pages,
            links_sent=sent[name],
            sent_per_page=sent[name] / max(1, done.statuses[name].pages),
            simulated_sent_per_page=simulated[number].tally.sent / max(1, simulated[number].pages),
            published_sent_per_page=PUBLISHED_SENT[number] / PUBLISHED_PAGES[number],
            fetched_twice=len(served) - len(set(served)),
            processor=busy.share,
        )
        for number, name in enumerate(sorted(done.statuses))
    ]


def _write_home(place: CrawlPlace, owners: Mapping[str, str]) -> None:
    """Write the home of the coordinator: two crawlers, and the hosts assigned to them."""
    place.folder.mkdir(parents=True)
    home = Home(folder=place.folder)
    build(sample_dumps(None), home.hierarchy)
    from ipmicra.app.fleet.fleet import Fleet

    with home.open_store() as store, home.open_hierarchy() as hierarchy:
        Fleet(store, hierarchy).add_many(place.world.crawlers)
        store.assignments.put_many(
            Assignment(
                host=site.host,
                address=site.address,
                crawler=owners[site.host],
                reason="by hash",
                backend="balance",
                assigned_s=1.0,
            )
            for site in place.world.sites
        )


def _requests(place: CrawlPlace, owners: Mapping[str, str], url: str) -> dict[str, CrawlRequest]:
    world = place.world
    loopback, sources = world.addresses(), world.sources()
    hosts = place.folder / "hosts"
    hosts.write_text("".join(f"{loopback[site.address]} {site.host}\n" for site in world.sites))
    access = CoordinatorAccess(url=url, crawl="two-nodes", token=place.folder / OPERATOR_TOKEN)
    firsts = {crawler: host for host, crawler in reversed(list(owners.items()))}
    return {
        name: CrawlRequest(
            seeds=(f"http://{host}:{place.port}/",),
            node=name,
            crawler=name,
            coordinator=access,
            limits=Limits(connections=place.connections, per_slot=place.connections, delay_s=0.0),
            follows_sitemaps=False,
            has_warc=False,
            hosts=hosts,
            source=str(sources[name]),
        )
        for name, host in sorted(firsts.items())
    }


def _sent(folder: Path, node: str, owners: Mapping[str, str]) -> int:
    """Count the different links of a node's table that belong to the other node."""
    with (folder / f"{node}-0001-links.csv").open(newline="", encoding="utf-8") as file:
        targets = {row["target"] for row in csv.DictReader(file)}
    return sum(owners.get(urlsplit(url).hostname or "", node) != node for url in targets)
