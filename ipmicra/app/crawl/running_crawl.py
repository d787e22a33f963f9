"""A running crawl as the mailboxes see it: its nodes, who holds which block, whose links wait.

Theory of operation
-------------------
What matters here follows from the ledger and is rebuilt from it when the coordinator starts; what is not
(`openings`, rates) only makes a crawl faster. It is kept in memory because each message needs it, and it
grows with hosts and nodes, never with links; the one exception, `held`, is bounded by the room of nodes.

*A host* is first `unrouted`, until its owner is known. Then it has `shares`, one for each vantage or piece.
It is `fresh` until its first link is delivered. If nobody else may fetch from it, the session that gets that
link then has the host to itself (`openings`), and may fetch further links of it at once and report them as
claimed. That ends for good when the site moves or its slot is given up.

*A block* (crawler and slot) has a holder, or is `homeless` as long as there is no node that may hold it.
`sessions` remembers who was last given links of it: another one waits for a polite delay first.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection
from dataclasses import dataclass, field

from ipmicra.assign.balance.pieces import directory_of
from ipmicra.edge.crawls.ledger import CrawlRow, NodeRow
from ipmicra.model.link import Share
from ipmicra.partition.hashing import hash_one
from ipmicra.wire.links import CrawlState

Block = tuple[str, str]
"""Crawler and slot."""
LATELY = 20
"""Seconds, about, over which the pages per second of a node are counted."""


@dataclass(slots=True)
class NodeState:
    """A node that takes part in a crawl."""

    row: NodeRow
    seen_s: float
    waiting: int = 0
    """Messages of it that arrived and wait to be taken: then the mailboxes are slow, not the node."""
    is_idle: bool = False
    delivery: int = 0
    held: Counter[str] = field(default_factory=Counter)
    """Links that were delivered to it and that it holds, by slot."""
    holding: int = 0
    """Links that it holds by its own account, with those that it claimed."""
    pages: int = 0
    """Links that it finished, fetched or given up, since it joined or the coordinator started."""
    foreign: int = 0
    """Links that it found to sites of other crawlers, each once."""
    repeated: int = 0
    """Links that it found again and kept to itself."""
    known: int = 0
    """Links that it reported, and others had before."""
    lately: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=LATELY))
    """When it was heard of, and how many pages it had finished then."""
    lost: dict[str, None] = field(default_factory=dict)
    """Slots that it is told to give up."""
    ready: dict[Block, None] = field(default_factory=dict)
    """Its blocks in which links may wait, the one served longest ago first."""

    def hear(self, now_s: float, finished: int) -> None:
        """Note a message."""
        self.seen_s = now_s
        self.pages += finished
        if not self.lately or now_s - self.lately[-1][0] >= 1.0:
            self.lately.append((now_s, self.pages))

    def pages_per_s(self, now_s: float) -> float:
        """Return how fast it has been of late."""
        if not self.lately or now_s - self.lately[0][0] < 1.0:
            return 0.0
        return (self.pages - self.lately[0][1]) / (now_s - self.lately[0][0])

    def let_go(self, slot: str) -> None:
        """Note that it has finished a link of a slot."""
        self.held[slot] -= 1
        if not self.held[slot]:
            del self.held[slot]


@dataclass(slots=True)
class RunningCrawl:
    """What is kept in memory of a crawl."""

    row: CrawlRow
    nodes: dict[str, NodeState] = field(default_factory=dict)
    """Those that take part now."""
    crawlers: set[str] = field(default_factory=set)
    """Those that have or had a node."""
    holders: dict[Block, str] = field(default_factory=dict)
    sessions: dict[Block, str] = field(default_factory=dict)
    """The session that was last given links of a block."""
    homeless: dict[Block, None] = field(default_factory=dict)
    """Blocks with links but without a holder."""
    shares: dict[str, tuple[Share, ...]] = field(default_factory=dict)
    unrouted: dict[str, str] = field(default_factory=dict)
    """Hosts whose owners are to be asked for, and the crawlers that found them."""
    found: Counter[str] = field(default_factory=Counter)
    """Links that were added, by the crawler whose node found them."""
    moves: dict[str, tuple[Share, ...]] = field(default_factory=dict)
    """New shares of sites that are to move."""
    held: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Node and slot of links that were delivered and are held, by number."""
    fresh: dict[str, str] = field(default_factory=dict)
    """Hosts of which nothing was delivered yet, each by itself: so `openings` and `shares` keep one text."""
    given_up: set[str] = field(default_factory=set)
    """Slots that a node has given up: others may fetch from their hosts."""
    owners: set[str] = field(default_factory=set)
    """Crawlers that have blocks with a holder."""
    openings: dict[str, str] = field(default_factory=dict)
    """The session that has been alone with a host from its first link on, by host."""
    _same: dict[tuple[Share, ...], tuple[Share, ...]] = field(default_factory=dict)
    """Shares that some host has, each by itself."""

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.row.state is CrawlState.RUNNING

    def is_open(self, host: str, session: str) -> bool:
        """Return whether nobody but a session has ever been given links of a host; note a first delivery.

        Sites in pieces or with several vantages are never open: others fetch from them, too. Nor are those of
        a slot that was given up.
        """
        shares = self.shares.get(host, ())
        own = self.fresh.pop(host, None)
        if own is not None and _is_undivided(shares):
            self.openings[own] = session
        return self.openings.get(host) == session and shares[0].slot not in self.given_up

    def close_host(self, host: str) -> None:
        """Note that others may fetch from a host from now on."""
        self.fresh.pop(host, None)
        self.openings.pop(host, None)

    def share_out(self, host: str, shares: tuple[Share, ...]) -> None:
        """Set the shares of a host. Hosts of one block have equal ones, of which one copy is kept."""
        self.shares[host] = self._same.setdefault(shares, shares)

    def claimed_share(self, host: str, node: str) -> Share | None:
        """Return the share of a host if a node may claim links of it: it holds its block."""
        shares = self.shares.get(host, ())
        if not _is_undivided(shares) or self.holders.get((shares[0].crawler, shares[0].slot)) != node:
            return None
        return shares[0]

    def best(self, block: Block) -> str | None:
        """Return the node that should hold a block; None if its crawler has not been there yet."""
        crawler, slot = block
        names = [name for name, node in self.nodes.items() if node.row.crawler == crawler]
        if not names and crawler in self.crawlers:
            names = list(self.nodes)
        return max(names, key=lambda name: hash_one(f"{name} {slot}"), default=None)

    def __post_init__(self) -> None:
        """Look who has blocks."""
        self.owners = {crawler for crawler, _ in self.holders}
        for host, shares in self.shares.items():
            self.share_out(host, shares)

    def hold(self, block: Block, node: str) -> None:
        """Let a node hold a block."""
        self.holders[block] = node
        self.owners.add(block[0])

    def held_at(self, node: str, slot: str) -> list[Block]:
        """Return the blocks of a slot that a node holds."""
        return [(one, slot) for one in sorted(self.owners) if self.holders.get((one, slot)) == node]

    def forget_held(self, node: str, slots: Collection[str] | None = None) -> None:
        """Forget what a node holds, all of it or that of some slots."""
        self.held = {
            number: (holder, at)
            for number, (holder, at) in self.held.items()
            if holder != node or (slots is not None and at not in slots)
        }

    @property
    def absent(self) -> list[str]:
        """Crawlers that own links and have no node."""
        return sorted({crawler for crawler, _ in self.homeless})


def shares_of_url(shares: tuple[Share, ...], url: str) -> list[Share]:
    """Return the shares that a URL belongs to: one per vantage."""
    if not any(share.filters for share in shares):
        return list(shares)
    directory = directory_of(url)
    return [share for share in shares if share.admits(directory)]


def _is_undivided(shares: tuple[Share, ...]) -> bool:
    return len(shares) == 1 and not shares[0].filters
