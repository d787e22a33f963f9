"""What the exchange of links costs: its share of the processor time of whole crawls by two nodes to eight.

Nodes count what they spend on it: making and keeping messages, sending and reading them. What the coordinator
spends during the crawl is added, less what it takes in the same time without one. Messages are sent so many
times a second: the slower the machine, the more they weigh beside the pages.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.bench import Bench
from benchmarks.node import CHILD
from benchmarks.results import Row, Target
from ipmicra.app.serve.place import OPERATOR_TOKEN
from tests.loopback_crawl import CRAWLERS, World, crawl_coordinator
from tests.servers.coordinator import RunningCoordinator
from tests.servers.loopback_web import LoopbackWeb, loopback_web

HOSTS, NODES = 32, (2, 4, 8)
TIMEOUT_S, IDLE_S = 600, 5


def measure_share(bench: Bench) -> list[Row]:
    """Crawl the same web with more and more nodes, half of them for either crawler."""
    world = World(hosts=HOSTS, pages=max(4, bench.sizes.crawled // HOSTS))
    rows = []
    with tempfile.TemporaryDirectory() as place, loopback_web(world.page) as web:
        folder = Path(place)
        with crawl_coordinator(world, folder) as box:
            before_s = spent_s(box.pid)
            time.sleep(IDLE_S)
            idle = (spent_s(box.pid) - before_s) / IDLE_S
            for count in NODES:
                bench.say(f"{count} nodes exchange links")
                before_s = spent_s(box.pid)
                told = crawled_by(web, box, folder, count)
                idle_s = idle * max(one["wall_s"] for one in told)
                rows.append(row_of(count, told, max(0.0, spent_s(box.pid) - before_s - idle_s)))
    return rows


def crawled_by(web: LoopbackWeb, box: RunningCoordinator, folder: Path, count: int) -> list[dict[str, float]]:
    nodes = []
    for number in range(count):
        crawler = CRAWLERS[number % len(CRAWLERS)]
        settings: dict[str, Any] = {
            "ADDONS": {"ipmicra.scrapy.Addon": 100},
            "IPMICRA_CRAWLER": crawler,
            "IPMICRA_NODE": f"{crawler}-{number}",
            "IPMICRA_COORDINATOR": box.url,
            "IPMICRA_TOKEN_FILE": str(folder / "home" / OPERATOR_TOKEN),
            "IPMICRA_CRAWL": f"crawl{count}",
            "JOBDIR": str(folder / f"{count}-{number}"),
        }
        given = {"settings": settings, "starts": ["http://h0.example/", "http://h2.example/"]}
        environment = dict(os.environ) | web.environment | {"NODE": json.dumps(given)}
        words = [sys.executable, "-m", CHILD]
        nodes.append(subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True))
    return [json.loads(one.communicate(timeout=TIMEOUT_S)[0].splitlines()[-1]) for one in nodes]


def row_of(count: int, told: list[dict[str, float]], coordinator_s: float) -> Row:
    nodes_s = sum(one["cpu_s"] for one in told)
    exchange_s = sum(one["exchange_s"] for one in told)
    pages = sum(one["pages"] for one in told)
    return Row(
        what=f"exchange of {count} nodes with their coordinator, part of the processor time of the crawl",
        value=(exchange_s + coordinator_s) / (nodes_s + coordinator_s),
        unit="",
        target=Target(sense="≤", limit=0.05),
        figures=(
            f"{pages:,.0f} pages",
            f"nodes {1e6 * exchange_s / pages:,.0f} µs a page",
            f"coordinator {1e6 * coordinator_s / pages:,.0f} µs",
            f"all {1e6 * (nodes_s + coordinator_s) / pages:,.0f} µs",
        ),
    )


def spent_s(pid: int) -> float:
    """Return the processor time of a process."""
    words = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
