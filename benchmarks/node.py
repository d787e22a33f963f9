"""A node of a distributed crawl beside plain Scrapy, and the exchange of links beside bare SQLite."""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import requests

from benchmarks.bench import Bench
from benchmarks.measure import run
from benchmarks.results import Row, Target
from ipmicra.app.serve.place import OPERATOR_TOKEN
from ipmicra.edge.crawls.ledger import _ADD, Ledger
from ipmicra.model.link import Link
from ipmicra.wire.links import ExchangeRequest, JoinRequest, decode_joined, encode_exchange, encode_join
from tests.loopback_crawl import World, crawl_coordinator
from tests.servers.coordinator import RunningCoordinator
from tests.servers.loopback_web import LoopbackWeb, loopback_web

CHILD = "benchmarks.child_node"
BATCH = 500
ROUNDS = 5


class OwnWorld(World):
    """All hosts belong to the one crawler."""

    def owner(self, host: str) -> str:
        del host
        return "fra"


def measure_node(bench: Bench) -> list[Row]:
    """Crawl the same web with plain Scrapy, with a file of assignments, and with a coordinator."""
    world = OwnWorld(hosts=20, pages=bench.sizes.crawled // 20)
    bench.say(f"crawling {bench.sizes.crawled:,} pages with and without the add-on")
    told: dict[str, list[dict[str, float]]] = {"plain": [], "file": [], "coordinator": []}
    with tempfile.TemporaryDirectory() as place, loopback_web(world.page) as web:
        folder = Path(place)
        with crawl_coordinator(world, folder) as box:
            write_assignments(world, folder / "assignments.csv")
            for number in range(3):
                for name, settings in settings_of(folder, box, number).items():
                    told[name].append(crawled(web, settings))
    return rows_of(told, bench.sizes.crawled)


def settings_of(folder: Path, box: RunningCoordinator, number: int) -> dict[str, dict[str, Any]]:
    node = {"ADDONS": {"ipmicra.scrapy.Addon": 100}, "IPMICRA_CRAWLER": "fra"}
    exchange = {
        "IPMICRA_COORDINATOR": box.url,
        "IPMICRA_TOKEN_FILE": str(folder / "home" / OPERATOR_TOKEN),
        "IPMICRA_CRAWL": f"crawl{number}",
    }
    return {
        "plain": {},
        "file": node | {"IPMICRA_ASSIGNMENTS": str(folder / "assignments.csv")},
        "coordinator": node | exchange,
    }


def crawled(web: LoopbackWeb, settings: dict[str, Any]) -> dict[str, float]:
    given = {"settings": settings, "starts": ["http://h0.example/", "http://h2.example/"]}
    environment = dict(os.environ) | web.environment | {"NODE": json.dumps(given)}
    found: dict[str, float] = json.loads(run([sys.executable, "-m", CHILD], environment).splitlines()[-1])
    return found


def rows_of(told: dict[str, list[dict[str, float]]], pages: int) -> list[Row]:
    def per_page(name: str, what: str) -> list[float]:
        return [one[what] / one["pages"] for one in told[name]]

    plain = per_page("plain", "cpu_s")
    rows = []
    for name, words in (("file", "a file of assignments"), ("coordinator", "a coordinator")):
        own = per_page(name, "cpu_s")
        ratios = [theirs / ours for theirs, ours in zip(plain, own, strict=True)]
        wall = median(per_page("plain", "wall_s")) / median(per_page(name, "wall_s"))
        rows.append(
            Row(
                what=f"node with {words}, all {pages:,} pages own: pages per second, × plain Scrapy",
                value=median(ratios),
                low=min(ratios),
                high=max(ratios),
                rounds=len(ratios),
                target=Target(sense="≥", limit=0.9),
                key=f"node with {words}",
                figures=(
                    f"by processor time of the node: {1 / median(own):,.0f} pages/s",
                    f"plain {1 / median(plain):,.0f} pages/s",
                    f"by the clock {wall:.2f} ×",
                ),
            )
        )
    return rows


# --- the exchange


def measure_exchange(bench: Bench) -> list[Row]:
    """Send batches of new links to a coordinator, and write the same rows with a bare `executemany`."""
    batches = bench.sizes.crawled // 50
    bench.say(f"exchanging {batches * BATCH:,} links")
    world = OwnWorld(hosts=20, pages=1)
    ours, bare = [], []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        ledger = Ledger(folder / "bare.db")
        with crawl_coordinator(world, folder) as box, requests.Session() as line:
            line.trust_env = False
            post = poster(line, box)
            for number in range(ROUNDS + 1):
                links = [batch_of(world, number * batches + at) for at in range(batches)]
                ours.append(batches * BATCH / timed(post, links))
                bare.append(batches * BATCH / timed(lambda one: write(ledger, one), links))
        ledger.close()
    ours, bare = ours[1:], bare[1:]
    ratios = [one / other for one, other in zip(ours, bare, strict=True)]
    return [
        Row(
            what="exchange through the coordinator, on disk, × a bare durable `executemany` of the batches",
            value=median(ratios),
            low=min(ratios),
            high=max(ratios),
            rounds=ROUNDS,
            target=Target(sense="≥", limit=0.5),
            figures=(
                f"{median(ours):,.0f} links/s over HTTP, {BATCH} at a time",
                f"executemany into the same table {median(bare):,.0f} rows/s",
            ),
        )
    ]


def poster(line: requests.Session, box: RunningCoordinator) -> Callable[[tuple[Link, ...]], None]:
    line.headers["Authorization"] = f"Bearer {box.token}"
    url = f"{box.url}/v1/crawls/bench"
    joined = decode_joined(
        line.post(f"{url}/join", encode_join(JoinRequest(node="fra", crawler="fra"))).content
    )

    def post(links: tuple[Link, ...]) -> None:
        body = encode_exchange(ExchangeRequest(session=joined.session, links=links))
        line.post(f"{url}/exchange", body).raise_for_status()

    return post


def batch_of(world: World, number: int) -> tuple[Link, ...]:
    start = number * BATCH
    extra = '{"callback":"parse","headers":{"Referer":["http://h1.example/some/page"]}}'
    return tuple(
        Link(
            url=f"http://h{at % world.hosts}.example/a/usual/path/{at}",
            host=f"h{at % world.hosts}.example",
            depth=3,
            key=at + 1,
            extra=extra,
        )
        for at in range(start, start + BATCH)
    )


def write(ledger: Ledger, links: tuple[Link, ...]) -> None:
    rows = [(1, "", "fra", one.host, 0, one.key, one.host, one.url, 3, 0, one.extra) for one in links]
    with ledger.transaction():
        ledger._raw.executemany(_ADD, rows)  # noqa: SLF001 - bare, into the same table


def timed(action: Callable[[tuple[Link, ...]], object], batches: list[tuple[Link, ...]]) -> float:
    began_s = time.perf_counter()
    for batch in batches:
        action(batch)
    return time.perf_counter() - began_s


# --- the coordinator


def write_assignments(world: World, path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["host", "crawler"])
        writer.writerows((name, world.owner(name)) for name in world.names)
