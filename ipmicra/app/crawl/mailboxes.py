"""Mailboxes of running crawls: who fetches which link, and when a crawl is at its end.

Theory of operation
-------------------
The ledger has every link of a crawl (see `edge/crawls/ledger.py`); this module decides which node gets which.
It never waits, and belongs to one thread.

*Blocks.* The links of one crawler in one slot (an address block whose hosts share polite delays) form a
block, and a block has one holder at a time: a node of its crawler, chosen by rendezvous hashing, so that few
blocks move when nodes come and go. A crawler whose nodes have all left or died is stood in for by the others
until one returns. A crawler that never had a node keeps its links waiting: it may just not be started yet.

*Hand-over.* When another node should hold a block, its holder is told to give it up, finishes what is in
flight, discards the rest and says so; only then does the block get its new holder, who waits for one polite
delay before the first request. A holder that does not answer is not asked: it may not start downloads once
its lease has run out, and the block moves after twice that time.

*Sessions.* A node that joins gets a session, and what an earlier process of the same name held waits again.
Messages of sessions that have ended are refused, so a node that was taken for dead starts anew.

*The end.* A page is finished only together with, or after, the links that were found on it. So the crawl is
at its end if and only if no link is unfinished and every node that takes part has said, since it was last
given anything, that it has nothing to do. No message can be under way at that moment that would change this:
whatever a node has to say keeps it from being idle.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ipmicra.app.crawl.admitting import check_joining, check_links, take_questions
from ipmicra.app.crawl.crawl_status import describe_crawl, describe_node
from ipmicra.app.crawl.delivering import count_held, links_for
from ipmicra.app.crawl.mailbox_config import MailboxConfig
from ipmicra.app.crawl.moving import begin_move, finish_move, moves_of_slot
from ipmicra.app.crawl.running_crawl import Block, NodeState, RunningCrawl, shares_of_url
from ipmicra.edge.crawls.ledger import CrawlRow, Ledger, LinkState, NodeRow
from ipmicra.edge.log import EventLog
from ipmicra.errors import InputError, IpmicraError
from ipmicra.model.link import Link, Share
from ipmicra.wire.links import (
    CrawlState,
    DeliveredLink,
    ExchangeAnswer,
    ExchangeRequest,
    JoinAnswer,
    JoinRequest,
)
from ipmicra.wire.observed import Observed

events = EventLog("crawl")


class UnknownSessionError(InputError):
    """A message of a session that has ended or never was; its node must join again."""


class Mailboxes:
    """All crawls of a coordinator."""

    def __init__(
        self,
        ledger: Ledger,
        config: MailboxConfig | None = None,
        *,
        ticks: Callable[[], float],
        clock: Callable[[], float],
    ) -> None:
        """Go on with what the ledger has; `ticks` is monotonic, `clock` tells the time of day."""
        self._ledger, self._config = ledger, config or MailboxConfig()
        self._ticks, self._clock = ticks, clock
        self.uncounted = ledger.uncounted()
        """Crawls that have ended and whose pages were not handed on."""
        self.sights: list[tuple[str, tuple[Observed, ...]]] = []
        """What nodes observed since somebody looked, with their crawlers."""
        self._crawls = {row.name: self._restored(row) for row in ledger.crawls()}

    def _restored(self, row: CrawlRow) -> RunningCrawl:
        """Rebuild what is only kept in memory; every node is taken to have been heard of just now."""
        crawl = RunningCrawl(
            row=row, holders=self._ledger.holders(row.id), shares=self._ledger.shares(row.id)
        )
        for node in self._ledger.nodes(row.id):
            crawl.crawlers.add(node.crawler)
            if node.is_there:
                crawl.nodes[node.node] = NodeState(row=node, seen_s=self._ticks())
        for name in crawl.nodes:
            count_held(self._ledger, crawl, name)
        crawl.unrouted = dict.fromkeys(self._ledger.unrouted(row.id), "")
        crawl.homeless = dict.fromkeys(self._ledger.waiting_blocks(row.id))
        self._settle(crawl)
        return crawl

    # --- who takes part

    def join(self, name: str, request: JoinRequest) -> JoinAnswer:
        """Let a node take part in a crawl; one that has ended begins anew unless the node was part of it."""
        crawl = self._crawls.get(name)
        lease_s = self._config.lease_s
        if (
            crawl is not None
            and request.run is not None
            and request.run < crawl.row.run + (crawl.row.state is CrawlState.ENDED)
        ):
            return JoinAnswer(run=request.run, session="ended", lease_s=lease_s, state=CrawlState.ENDED)
        check_joining(self._crawls, name, request, self._config)
        if crawl is None or crawl.row.state is CrawlState.ENDED:
            crawl = self._crawls[name] = RunningCrawl(row=self._ledger.begin(name, self._clock()))
        session = secrets.token_hex(16)
        row = NodeRow(node=request.node, crawler=request.crawler, session=session, is_there=True)
        crawl.forget_held(request.node)
        self._ledger.put_node(crawl.row.id, row)
        crawl.nodes[request.node] = NodeState(row=row, seen_s=self._ticks())
        crawl.crawlers.add(request.crawler)
        for block, holder in crawl.holders.items():
            if holder == request.node:
                crawl.nodes[request.node].ready[block] = None
        self._settle(crawl)
        events.info("node_joined", "{node} of {crawler} joined crawl {crawl}", **_names(crawl, row))
        return JoinAnswer(run=crawl.row.run, session=session, lease_s=lease_s)

    def bury(self) -> list[str]:
        """Take nodes that were not heard of for long out of their crawls; return their names."""
        latest_s = self._ticks() - self._config.lease_s * self._config.silent_leases
        dead = [
            (crawl, node)
            for crawl in self._crawls.values()
            for node in crawl.nodes.values()
            if node.seen_s < latest_s and not node.waiting
        ]
        for crawl, node in dead:
            events.warning(
                "node_silent", "{node} of {crawler} is silent in crawl {crawl}", **_names(crawl, node.row)
            )
            self._remove(crawl, node)
            self._end_if_done(crawl)
        return [node.row.node for _, node in dead]

    def _remove(self, crawl: RunningCrawl, node: NodeState) -> None:
        crawl.forget_held(node.row.node)
        del crawl.nodes[node.row.node]
        self._ledger.put_node(crawl.row.id, replace(node.row, is_there=False))
        crawl.homeless |= node.ready
        for block, holder in crawl.holders.items():
            if holder == node.row.node:
                crawl.homeless[block] = None
        self._settle(crawl)

    # --- what nodes say

    def exchange(self, name: str, request: ExchangeRequest) -> ExchangeAnswer:
        """Take what a node says and answer with what it is to do.

        Raises:
            UnknownSessionError: Its session is over: it must join again.
            InputError: Its links are too many.
        """
        found = self.find(name, request.session)
        if found is None:
            raise UnknownSessionError(f"crawl {name!r} knows no such session: join it (again)")
        crawl, node = found
        check_links(crawl, node.row.crawler, request, self._ledger.free_bytes(), self._config)
        node.hear(self._ticks(), len(request.done) + len(request.fetched))
        try:
            links = self._exchanged(crawl, node, request)
        except IpmicraError:
            self._crawls[name] = self._restored(crawl.row)  # nothing was written: what is in memory is wrong
            raise
        node.is_idle = node.is_idle and not links
        self._end_if_done(crawl)
        return ExchangeAnswer(
            delivery=node.delivery,
            links=tuple(links),
            lost=tuple(node.lost)[: self._config.most_links],
            state=crawl.row.state,
            absent=tuple(crawl.absent),
        )

    def _exchanged(
        self, crawl: RunningCrawl, node: NodeState, request: ExchangeRequest
    ) -> list[DeliveredLink]:
        """Write what a node says in one transaction; return the links that it is to fetch."""
        node.holding, node.repeated = request.holding, max(node.repeated, request.repeated)
        with self._ledger.transaction():
            self._add(crawl, self._claim(crawl, node, request), node)
            self._ledger.finish(crawl.row.id, node.row, request.done, request.fetched)
            self._ledger.see(crawl.row.id, node.row.crawler, request.observed)
            self.sights += [(node.row.crawler, request.observed)] if request.observed else []
            for number in request.done:
                holder, slot = crawl.held.get(number, ("", ""))
                if holder == node.row.node:
                    del crawl.held[number]
                    node.let_go(slot)
            self._release(crawl, node, request.released)
            node.is_idle = request.is_idle and not request.links
            if request.is_leaving:
                events.info("node_left", "{node} of {crawler} left crawl {crawl}", **_names(crawl, node.row))
                self._remove(crawl, node)
                return []
            return links_for(self._ledger, crawl, node, request, self._config)

    def find(self, name: str, session: str) -> tuple[RunningCrawl, NodeState] | None:
        """Return the crawl and node of a session; may be asked from any thread."""
        crawl = self._crawls.get(name)
        for node in list(crawl.nodes.values()) if crawl else ():
            if crawl and node.row.session == session:
                return crawl, node
        return None

    def _claim(self, crawl: RunningCrawl, node: NodeState, request: ExchangeRequest) -> Iterable[Link]:
        """Write the links that a node holds already; return the others."""
        if not request.claimed:
            return request.links
        keys, name = set(request.claimed), node.row.node
        shares = {link.host: crawl.claimed_share(link.host, name) for link in request.links}
        rows = [(link, share) for link in request.links if link.key in keys and (share := shares[link.host])]
        self._ledger.claim(crawl.row.id, name, rows)
        taken = {link.key for link, _ in rows}
        return [link for link in request.links if link.key not in taken]

    def _add(self, crawl: RunningCrawl, links: Iterable[Link], finder: NodeState | None = None) -> None:
        rows: list[tuple[Link, Share | None]] = []
        blocks: dict[Block, None] = {}
        for link in links:
            shares = crawl.shares.get(link.host)
            if shares is None:
                crawl.unrouted.setdefault(link.host, finder.row.crawler if finder else "")
                rows.append((link, None))
                continue
            for share in shares if len(shares) == 1 else shares_of_url(shares, link.url):
                rows.append((link, share))
                blocks[share.crawler, share.slot] = None
        added = self._ledger.add(crawl.row.id, rows)
        if finder is not None:
            crawl.found[finder.row.crawler] += added
            finder.known += len(rows) - added
            finder.foreign += sum(
                share is not None and share.crawler != finder.row.crawler for _, share in rows
            )
        for block in blocks:
            self._note_waiting(crawl, block)

    def _end_if_done(self, crawl: RunningCrawl) -> None:
        if (
            crawl.is_running
            and crawl.nodes
            and all(node.is_idle for node in crawl.nodes.values())
            and not self._ledger.has_unfinished(crawl.row.id)
        ):
            self._ledger.end(crawl.row.id)
            crawl.row = replace(crawl.row, state=CrawlState.ENDED)
            self.uncounted.append(crawl.row)
            events.info("crawl_ended", "crawl {crawl} has ended", crawl=crawl.row.name)

    # --- who holds what

    def _note_waiting(self, crawl: RunningCrawl, block: Block) -> None:
        holder = crawl.nodes.get(crawl.holders.get(block, ""))
        if holder is None:
            crawl.homeless[block] = None
            self._settle_block(crawl, block)
        else:
            holder.ready[block] = None

    def _settle(self, crawl: RunningCrawl) -> None:
        """Find holders for homeless blocks, and have those given up that another node should hold."""
        with self._ledger.transaction():
            for block in list(crawl.homeless):
                self._settle_block(crawl, block)
        for block, holder in crawl.holders.items():
            node = crawl.nodes.get(holder)
            if node is not None and crawl.best(block) != holder:
                node.lost[block[1]] = None

    def _settle_block(self, crawl: RunningCrawl, block: Block) -> None:
        best = crawl.best(block)
        if best is None:
            return
        crawl.homeless.pop(block, None)
        crawl.nodes[best].ready[block] = None
        if crawl.holders.get(block) != best:
            if block not in crawl.holders:
                crawl.sessions[block] = crawl.nodes[best].row.session  # nobody was there before
            crawl.hold(block, best)
            self._ledger.put_holders(crawl.row.id, [(*block, best)])

    def _release(self, crawl: RunningCrawl, node: NodeState, slots: Iterable[str]) -> None:
        """Let the blocks of slots that a node gave up move to whom they belong."""
        given = {slot: None for slot in slots if slot in node.lost}
        if given:
            crawl.forget_held(node.row.node, given)
            crawl.given_up |= given.keys()
        for slot in given:
            del node.lost[slot], node.held[slot]
            self._ledger.take_back(crawl.row.id, node.row.node, slot)
            for block in crawl.held_at(node.row.node, slot):
                node.ready.pop(block, None)
                crawl.sessions[block] = ""
                self._settle_block(crawl, block)
            for host in moves_of_slot(crawl, slot):
                self._move(crawl, host)

    def _move(self, crawl: RunningCrawl, host: str) -> None:
        for block in finish_move(self._ledger, crawl, host):
            self._note_waiting(crawl, block)

    # --- who owns what

    @property
    def has_questions(self) -> bool:
        """Whether the owners of any host are to be asked for; may be asked from any thread."""
        return any(crawl.unrouted for crawl in list(self._crawls.values()))

    def has_news(self, name: str, session: str) -> bool:
        """Return whether it may be worth looking what a node is to do; may be asked from any thread."""
        found = self.find(name, session)
        if found is None:
            return True
        crawl, node = found
        return bool(node.ready or node.lost) or not crawl.is_running

    def questions(self, most: int) -> dict[str, list[str]]:
        """Return hosts whose owners are to be asked for, by crawl; each host once, the rest next time."""
        asked = {name: take_questions(crawl, most) for name, crawl in self._crawls.items()}
        return {name: hosts for name, hosts in asked.items() if hosts}

    def routed(self, name: str, answers: Mapping[str, tuple[Share, ...] | str]) -> None:
        """Take owners of hosts; a text says why a host cannot have one, and its links are given up."""
        crawl = self._crawls[name]
        with self._ledger.transaction():
            for host, answer in answers.items():
                if isinstance(answer, str):
                    events.warning("host_refused", "{host}: {reason}", host=host, reason=answer)
                    self._ledger.refuse(crawl.row.id, host)
                    continue
                known = crawl.shares.get(host)
                if known is not None:
                    if set(known) != set(answer) and begin_move(crawl, host, answer):
                        self._move(crawl, host)
                    continue
                crawl.share_out(host, answer)
                crawl.fresh[host] = host
                self._ledger.put_shares(crawl.row.id, host, answer)
                self._add(crawl, self._ledger.take_unrouted(crawl.row.id, host))
        self._end_if_done(crawl)

    def hosts(self, among: Collection[str] | None = None) -> dict[str, list[str]]:
        """Return hosts of running crawls whose owners are known, by crawl: all, or those among some."""
        return {
            name: list(crawl.shares) if among is None else [one for one in among if one in crawl.shares]
            for name, crawl in self._crawls.items()
            if crawl.is_running
        }

    @property
    def host_count(self) -> int:
        """Hosts of running crawls whose owners are known; may be asked from any thread."""
        return sum(len(one.shares) for one in list(self._crawls.values()) if one.is_running)

    def ask_again(self, name: str, hosts: Iterable[str]) -> None:
        """Ask for the owners of hosts again, later: nobody could answer."""
        self._crawls[name].unrouted |= dict.fromkeys(hosts, "")

    # --- how it is

    def row_of(self, name: str) -> CrawlRow | None:
        """Return the row of a crawl; may be asked from any thread."""
        crawl = self._crawls.get(name)
        return crawl.row if crawl else None

    def note_counted(self, row: CrawlRow) -> None:
        """Note that the pages of a crawl were handed on."""
        self._ledger.note_counted(row.id, self._clock())
        self.uncounted.remove(row)

    def status(self, name: str, counts: Mapping[LinkState, int]) -> dict[str, Any]:
        """Describe a crawl whose links somebody counted."""
        crawl = self._crawls[name]
        return describe_crawl(crawl, counts, self._ledger.seen(crawl.row.id), self._ticks())

    def glimpse(self) -> list[dict[str, Any]]:
        """Describe all nodes by what is in memory; may be asked from any thread."""
        now_s = self._ticks()
        return [
            {"crawl": name, "state": crawl.row.state.value} | describe_node(node, now_s)
            for name, crawl in sorted(self._crawls.items())
            for node in list(crawl.nodes.values())
        ]

    def names(self) -> list[str]:
        """Return the names of all crawls."""
        return sorted(self._crawls)


def _names(crawl: RunningCrawl, row: NodeRow) -> dict[str, str]:
    return {"node": row.node, "crawler": row.crawler, "crawl": crawl.row.name}
