"""Measure a crawl: the servers' own record says what was fetched by whom, the nodes say what they found.

A crawl takes from the first request that a server received to the last byte that one sent. What the model
expects comes from the same plan, pages and round trips.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ipmicra.app.crawl.request import CrawlRequest, Limits
from ipmicra.edge.crawl_node.status import NodeStatus
from ipmicra.edge.hierarchy_file import write_atomically
from ipmicra.edge.loopback.loopback_world import LoopbackWorld
from ipmicra.edge.loopback.web_pages import WebPages
from ipmicra.edge.loopback.web_plan import WebPlan
from ipmicra.edge.loopback.web_server import Hit, read_hits
from ipmicra.errors import IpmicraError
from ipmicra.lab.crawls.model import cost_of, modelled_s
from ipmicra.lab.crawls.nodes import run_nodes
from ipmicra.model.foreign_text import csv_text

PATIENCE = 6.0
"""A crawl may take so many times what the model expects, and a minute on top."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCrawl:
    """What one way of assigning the sites did in a real crawl."""

    policy: str
    pages: int
    """Pages that were served; robots.txt is not counted."""
    seconds: float
    pages_per_s: float
    mean_rtt_ms: float
    """Measured: half of the time to the first byte without the server's wait; mean of all pages."""
    foreign_links: int
    """Different links that nodes found to sites of other crawlers."""
    duplicates: int
    """Pages that were served more than once."""
    robots_violations: int
    """Requests for what robots.txt forbids."""
    foreign_requests: int
    """Requests to a site by a crawler that does not own it."""
    most_connections: int
    """Requests of one crawler that were being answered at the same time."""
    model_pages_per_s: float = 0.0
    """What the download equation says about the same sites and crawlers."""
    processor: float = 0.0
    """Share of the machine's processors in use during the crawl, by everybody."""

    @property
    def difference(self) -> float:
        """How far the measured rate is from the model's: -0.1 is 10 % slower."""
        return self.pages_per_s / self.model_pages_per_s - 1

    def as_record(self) -> dict[str, Any]:
        """Return the figures by name, short enough to read."""
        record = asdict(self) | {"difference": self.difference}
        return {
            name: round(value, 4) if isinstance(value, float) else value for name, value in record.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlPlace:
    """A loopback web that runs, and where its crawls are kept."""

    world: LoopbackWorld
    port: int
    hits: Path
    """The servers' record."""
    folder: Path
    connections: int = 5
    """Of each crawler; as in the papers."""
    per_slot: int | None = None
    """Connections of a crawler to one address block; None for all that it has."""
    delay_s: float = 0.0
    pages: int | None = None
    """Pages that each node fetches at most."""
    seconds_at_most: float | None = None


def measure(place: CrawlPlace, policy: str, owners: Mapping[str, str]) -> MeasuredCrawl:
    """Crawl all sites, each by the crawler that owns it."""
    plan = place.world.web
    if plan is None:
        raise IpmicraError("this world has no pages to crawl")
    offset = place.hits.stat().st_size
    folder = place.folder / "".join(letter if letter.isalnum() else "-" for letter in policy)
    asked = _requests(place, owners, folder)
    expected_s = model_s(place, owners)
    with processor_share() as busy:
        done = run_nodes(asked, folder, 60 + PATIENCE * expected_s)
    hits = read_hits(place.hits, offset)
    return replace(
        _measured(plan, policy, owners, hits, done.statuses),
        model_pages_per_s=sum(plan.pages.values()) / expected_s,
        processor=busy.share,
    )


def _requests(place: CrawlPlace, owners: Mapping[str, str], folder: Path) -> dict[str, CrawlRequest]:
    """Return what each crawler that owns a site is asked to do."""
    folder.mkdir(parents=True)
    world = place.world
    loopback, sources = world.addresses(), world.sources()
    hosts = folder / "hosts"
    lines = [f"{loopback[site.address]} {site.host}\n" for site in world.sites]
    write_atomically(hosts, [line.encode() for line in lines])
    assignments = folder / "assignments.csv"
    rows = [(site.host, site.address, owners[site.host]) for site in world.sites]
    write_atomically(assignments, [csv_text(("host", "address", "crawler"), rows).encode()])
    limits = Limits(
        connections=place.connections,
        per_slot=place.per_slot or place.connections,
        delay_s=place.delay_s,
        pages=place.pages,
    )
    return {
        crawler.name: CrawlRequest(
            seeds=tuple(
                f"http://{site.host}:{place.port}/"
                for site in world.sites
                if owners[site.host] == crawler.name
            ),
            node=crawler.name,
            crawler=crawler.name,
            assignments=assignments,
            limits=limits,
            follows_sitemaps=False,
            has_warc=False,
            hosts=hosts,
            source=str(sources[crawler.name]),
        )
        for crawler in world.crawlers
        if crawler.name in owners.values()
    }


def model_s(place: CrawlPlace, owners: Mapping[str, str]) -> float:
    """Return how long a crawl takes by the download equation."""
    world, plan = place.world, place.world.web
    assert plan is not None  # noqa: S101 - checked by `measure`
    numbers = {crawler.name: number for number, crawler in enumerate(world.crawlers)}
    pages = np.array([plan.pages[site.host] for site in world.sites])
    rtt_ms = np.array([world.rtt_ms[owners[site.host], site.address] for site in world.sites])
    crawler = np.array([numbers[owners[site.host]] for site in world.sites])
    return modelled_s(pages, rtt_ms, crawler, len(numbers), cost_of(plan, place.connections))


def _measured(
    plan: WebPlan,
    policy: str,
    owners: Mapping[str, str],
    hits: Sequence[Hit],
    statuses: Mapping[str, NodeStatus],
) -> MeasuredCrawl:
    pages = Counter((hit.host, hit.path) for hit in hits if WebPages.number_of(hit.path) is not None)
    seconds = max(hit.ended_s for hit in hits) - min(hit.began_s for hit in hits)
    timed = [(one.first_byte_ms, one.pages) for one in statuses.values() if one.first_byte_ms is not None]
    first_byte_ms = sum(mean * count for mean, count in timed) / sum(count for _, count in timed)
    return MeasuredCrawl(
        policy=policy,
        pages=len(pages),
        seconds=seconds,
        pages_per_s=len(pages) / seconds,
        mean_rtt_ms=(first_byte_ms - plan.wait_ms) / 2,
        foreign_links=sum(one.foreign for one in statuses.values()),
        duplicates=pages.total() - len(pages),
        robots_violations=sum(hit.path.startswith("/private/") for hit in hits),
        foreign_requests=sum(owners.get(hit.host) != hit.crawler for hit in hits),
        most_connections=max(hit.connections for hit in hits),
    )


@dataclass(slots=True)
class ProcessorShare:
    """How busy the machine's processors were."""

    share: float = 0.0


@contextmanager
def processor_share() -> Iterator[ProcessorShare]:
    """Measure how busy the processors are while the context lasts, by everybody."""
    found, before = ProcessorShare(), _processor_times()
    yield found
    found.share = _busy(before, _processor_times())


def _processor_times() -> tuple[float, float]:
    """Return the time that all processors were busy and idle since the machine started."""
    words = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
    times = [float(word) for word in words[:8]]
    idle = times[3] + times[4]
    return sum(times) - idle, idle


def _busy(before: tuple[float, float], after: tuple[float, float]) -> float:
    busy, idle = after[0] - before[0], after[1] - before[1]
    return busy / (busy + idle) if busy + idle else 0.0
