"""Two crawlers that divide one web by a hash of host names and exchange links: the test of paper 004.

How it works
------------
The web is synthetic: pages on hosts of Zipf sizes, links inside the host or, with a small probability, to
any page. Each crawler starts at the largest host that belongs to it. Time advances in steps of the
exchange's own check interval; in each step every crawler downloads as many pages as its rate allows, hands
their links to its `UrlExchange` (the product's own, a sans-IO machine), and carries out what that returns:
crawl these here, send those there. Batches arrive immediately and are never lost. The run ends when nothing
is queued and nothing is waiting to be sent.

Two checks are built in: together the crawlers must find the pages that one crawler would have found from the
same seeds (`reachable`), and fetch no page twice.

The paper reports pages downloaded, URLs exchanged and the parameters of its table 2; it says neither how many
links a page has, nor how many of them leave their host. Both are arguments here.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ipmicra.model.link import Link
from ipmicra.partition.exchange.exchange import (
    Action,
    Crawl,
    ExchangeConfig,
    ExchangeTally,
    Found,
    Idle,
    Received,
    Send,
    Tick,
    UrlExchange,
)
from ipmicra.partition.exchange.exchange import Delivered as Arrived
from ipmicra.partition.hashing import hash_one

PUBLISHED_PAGES = (901_355, 681_645)
"""Pages that the two crawlers of paper 004 downloaded in ten hours."""
PUBLISHED_SENT = (4_645_344, 3_887_462)
"""URLs that each of them sent to the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoCrawlersConfig:
    """Size and shape of the test."""

    pages: int = 20_000
    """Pages of the invented web; paper 004 downloaded 1.58 million."""
    hosts: int = 400
    links_per_page: float = 20.0
    """Paper 004 does not say."""
    leaving_share: float = 0.1
    """Share of links that lead to another host; paper 004 cites 90 % that stay."""
    pages_per_s: float = 25.0
    """Of one crawler; paper 004's single crawler fetched 1,176,804 pages in ten hours, 33 per second."""
    crawlers: int = 2
    exchange: ExchangeConfig = field(default_factory=ExchangeConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlerResult:
    """What one crawler did."""

    pages: int
    tally: ExchangeTally
    links_seen: int
    """All links on the pages, repeated ones as well."""
    foreign_seen: int
    """Of these, the ones that belong to another crawler."""

    @property
    def foreign_share(self) -> float:
        """Share of links that belong elsewhere."""
        return self.foreign_seen / self.links_seen if self.links_seen else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoCrawlersResult:
    """What all crawlers did, and what the web was."""

    crawlers: tuple[CrawlerResult, ...]
    reachable: int
    """Pages that one crawler alone would find from the same seeds."""
    fetched_twice: int
    seconds: float
    """Simulated."""


class _Node:
    """A crawler with its queue."""

    def __init__(self, name: str, names: list[str], config: TwoCrawlersConfig) -> None:
        self.exchange = UrlExchange(name, lambda host: names[hash_one(host) % len(names)], config.exchange)
        self.name = name
        self.names = names
        self.queue: deque[Link] = deque()
        self.done: list[int] = []
        self.links_seen = self.foreign_seen = 0


def simulate_two_crawlers(config: TwoCrawlersConfig, rng: np.random.Generator) -> TwoCrawlersResult:
    """Crawl the invented web from one page per crawler until nothing is left to crawl or to send."""
    starts, targets, host = _invented_pages(config, rng)
    names = [f"crawler-{number + 1}" for number in range(config.crawlers)]
    nodes = {name: _Node(name, names, config) for name in names}
    seeds = _seeds(host, names)
    for name, page in seeds.items():
        _act(nodes[name], nodes[name].exchange.handle(Received(links=[_link(page, host)]), 0.0), nodes, 0.0)
    step_s = config.exchange.check_every_s
    now_s, budget = 0.0, 0.0
    while any(node.queue or node.exchange.pending for node in nodes.values()):
        now_s += step_s
        budget += config.pages_per_s * step_s
        for node in nodes.values():
            _crawl_some(node, int(budget), (starts, targets, host), nodes, now_s)
            _act(node, node.exchange.handle(Tick(), now_s), nodes, now_s)
            if not node.queue:
                _act(node, node.exchange.handle(Idle(), now_s), nodes, now_s)
        budget -= int(budget)
    return _result(list(nodes.values()), _reachable(starts, targets, list(seeds.values())), now_s)


def _crawl_some(
    node: _Node,
    count: int,
    web: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    nodes: dict[str, _Node],
    now_s: float,
) -> None:
    """Download some pages and hand in their links."""
    starts, targets, host = web
    for _ in range(min(count, len(node.queue))):
        page = int(node.queue.popleft().url.rpartition("/")[2])
        node.done.append(page)
        links = [_link(int(target), host) for target in targets[starts[page] : starts[page + 1]]]
        node.links_seen += len(links)
        node.foreign_seen += sum(
            node.names[hash_one(link.host) % len(node.names)] != node.name for link in links
        )
        _act(node, node.exchange.handle(Found(links=links), now_s), nodes, now_s)


def _act(node: _Node, actions: list[Action], nodes: dict[str, _Node], now_s: float) -> None:
    """Carry out actions; batches arrive immediately."""
    for action in actions:
        if isinstance(action, Crawl):
            node.queue.extend(action.links)
        elif isinstance(action, Send):
            receiver = nodes[action.receiver]
            _act(receiver, receiver.exchange.handle(Received(links=action.links), now_s), nodes, now_s)
            _act(node, node.exchange.handle(Arrived(receiver=action.receiver), now_s), nodes, now_s)


def _link(page: int, host: NDArray[np.int64]) -> Link:
    name = f"h{host[page]}.example"
    return Link(url=f"http://{name}/{page}", host=name)


def _invented_pages(
    config: TwoCrawlersConfig, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Draw pages on hosts of Zipf sizes, and their links: inside the host, or to any page."""
    size = 1.0 / np.arange(1, config.hosts + 1)
    host = np.sort(rng.choice(config.hosts, config.pages, p=size / size.sum()))
    begins, ends = np.searchsorted(host, host), np.searchsorted(host, host, side="right")
    degree = rng.poisson(config.links_per_page, config.pages)
    source = np.repeat(np.arange(config.pages), degree)
    inside = begins[source] + (rng.random(len(source)) * (ends - begins)[source]).astype(np.int64)
    anywhere = rng.integers(0, config.pages, len(source))
    targets = np.where(rng.random(len(source)) < config.leaving_share, anywhere, inside)
    return np.concatenate(([0], np.cumsum(degree))), targets, host


def _seeds(host: NDArray[np.int64], names: list[str]) -> dict[str, int]:
    """Let each crawler start at the first page of the largest host that belongs to it."""
    seeds: dict[str, int] = {}
    for page in np.flatnonzero(np.diff(host, prepend=-1)).tolist():
        seeds.setdefault(names[hash_one(_link(page, host).host) % len(names)], page)
    return seeds


def _result(nodes: list[_Node], reachable: int, seconds: float) -> TwoCrawlersResult:
    done = [page for node in nodes for page in node.done]
    return TwoCrawlersResult(
        crawlers=tuple(
            CrawlerResult(
                pages=len(node.done),
                tally=node.exchange.tally,
                links_seen=node.links_seen,
                foreign_seen=node.foreign_seen,
            )
            for node in nodes
        ),
        reachable=reachable,
        fetched_twice=len(done) - len(set(done)),
        seconds=seconds,
    )


def _reachable(starts: NDArray[np.int64], targets: NDArray[np.int64], seeds: list[int]) -> int:
    """Count the pages that can be reached from the first ones."""
    is_seen = np.zeros(len(starts) - 1, bool)
    is_seen[seeds] = True
    front = np.array(seeds)
    while len(front):
        found = np.unique(np.concatenate([targets[starts[page] : starts[page + 1]] for page in front]))
        front = found[~is_seen[found]]
        is_seen[front] = True
    return int(is_seen.sum())
