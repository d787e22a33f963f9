"""What happened in a crawl whose processes or network failed, and what must never have happened."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from tests.torture.history import Fault


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page that the web was asked for; the time by the monotonic clock."""

    at_s: float
    node: str
    url: str
    host: str
    block: int
    """Hosts of one address block, which share polite delays."""
    process: int = 0
    """How often its node had been killed before."""


@dataclass(slots=True)
class CrawlHistory:
    """Everything that was fetched, and when whose path to the coordinator was broken."""

    pages: set[str]
    """Every URL that a single node would fetch."""
    owner: dict[str, str]
    """Nodes by host, as long as all is well."""
    delay_s: float
    """Between two requests to a block."""
    settle_s: float
    """How long around a fault a node may be unable to say what it did, or others may stand in for it."""
    has_stand_ins: bool = True
    """Whether faults may last until others stand in for a node."""
    fetched: list[Fetched] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    restarts: list[str] = field(default_factory=list)
    """Nodes that ended by themselves, with their last words."""

    def was_disturbed(self, node: str, at_s: float) -> bool:
        """Return whether a node's path, or the coordinator, had a fault around a moment."""
        return any(
            one.began_s - self.settle_s <= at_s <= one.ended_s + self.settle_s
            for one in self.faults
            if one.where.endswith(node)
        )


def crawl_violations(history: CrawlHistory) -> list[str]:
    """Return what must not have happened, in sentences; nothing if all is well."""
    return [
        *missed(history),
        *fetched_again(history),
        *misplaced(history),
        *two_holders(history),
        *ended_early(history),
    ]


def missed(history: CrawlHistory) -> Iterable[str]:
    """Every page that one node would find is fetched, and nothing else."""
    visited = {one.url for one in history.fetched}
    lost = [f"{url} was never fetched" for url in sorted(history.pages - visited)]
    return lost + [f"{url} is no page of this web" for url in sorted(visited - history.pages)]


def fetched_again(history: CrawlHistory) -> Iterable[str]:
    """A page is fetched twice only if whoever fetched it first could not say so."""
    by_url: dict[str, list[Fetched]] = defaultdict(list)
    for one in history.fetched:
        by_url[one.url].append(one)
    return [
        f"{url} was fetched by {first.node} and again by {then.node}, without need"
        for url, visits in by_url.items()
        for first, then in pairwise(visits)
        if not history.was_disturbed(first.node, first.at_s)
    ]


def misplaced(history: CrawlHistory) -> Iterable[str]:
    """A site is fetched by its owner, or by somebody who stands in for an owner that is cut off."""
    return [
        f"{one.url} of {history.owner[one.host]} was fetched by {one.node}"
        for one in history.fetched
        if one.node != history.owner.get(one.host, one.node)
        and not (history.has_stand_ins and history.was_disturbed(history.owner[one.host], one.at_s))
    ]


def two_holders(history: CrawlHistory) -> Iterable[str]:
    """A block has one holder at a time: between two processes there is at least one polite delay.

    Within a process Scrapy sees to that, and what the web hears of it varies with the machine's load.
    """
    found = []
    last: dict[int, Fetched] = {}
    for one in sorted(history.fetched, key=lambda visit: visit.at_s):
        before = last.get(one.block, one)
        is_other = (before.node, before.process) != (one.node, one.process)
        if is_other and one.at_s - before.at_s <= history.delay_s:
            found.append(
                f"block {one.block} was fetched by {before.node} and {one.node} within "
                f"{one.at_s - before.at_s:.3f} s"
            )
        last[one.block] = one
    return found


def ended_early(history: CrawlHistory) -> Iterable[str]:
    """No node ends because of a fault that passes."""
    return [f"ended by itself: {one}" for one in history.restarts]
