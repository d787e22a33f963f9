"""Which links a node is given next: those of its blocks in turn, so many as it has room for."""

from __future__ import annotations

from dataclasses import replace

from ipmicra.app.crawl.mailbox_config import MailboxConfig
from ipmicra.app.crawl.running_crawl import Block, NodeState, RunningCrawl
from ipmicra.edge.crawls.ledger import Ledger
from ipmicra.wire.links import DeliveredLink, ExchangeRequest

LEAST = 5
"""Links of one block in an answer, if there is room for them: a few more messages do not matter."""


def links_for(
    ledger: Ledger, crawl: RunningCrawl, node: NodeState, request: ExchangeRequest, config: MailboxConfig
) -> list[DeliveredLink]:
    """Deliver links to a node; those of a delivery that did not arrive come again, and nothing else."""
    if request.received < node.delivery:
        again = ledger.delivered(crawl.row.id, node.row.node, request.received)
        count_held(ledger, crawl, node.row.node)  # it may have finished some by their keys
        if again:
            return _marked(again, crawl, node, is_moved=True)
    room = min(request.room, config.most_links)
    links: list[DeliveredLink] = []
    for block in list(node.ready):
        if len(links) >= room:
            break
        fair = max(LEAST, room // len(node.ready))
        most = min(fair, room - len(links), config.most_per_slot - node.held[block[1]])
        if most > 0 and block[1] not in node.lost:
            links += _links_of(ledger, crawl, node, block, most)
    for one in links:
        crawl.held[one.number] = (node.row.node, one.slot)
        node.held[one.slot] += 1
    node.delivery += bool(links)
    return links


def _links_of(
    ledger: Ledger, crawl: RunningCrawl, node: NodeState, block: Block, most: int
) -> list[DeliveredLink]:
    found = ledger.deliver(crawl.row.id, block, node.row.node, node.delivery + 1, most)
    del node.ready[block]
    if len(found) == most:
        node.ready[block] = None  # there may be more: at the end of the row
    if not found:
        return []
    is_moved = crawl.sessions.get(block, "") != node.row.session and block in crawl.holders
    crawl.sessions[block] = node.row.session
    return _marked(found, crawl, node, is_moved=is_moved)


def _marked(
    links: list[DeliveredLink], crawl: RunningCrawl, node: NodeState, *, is_moved: bool
) -> list[DeliveredLink]:
    return [
        replace(one, is_moved=is_moved, is_open=crawl.is_open(one.link.host, node.row.session))
        for one in links
    ]


def count_held(ledger: Ledger, crawl: RunningCrawl, name: str) -> None:
    """Count anew what was delivered to a node and is held."""
    node = crawl.nodes[name]
    crawl.forget_held(name)
    node.held.clear()
    for number, slot, delivery in ledger.held(crawl.row.id, name):
        crawl.held[number] = (name, slot)
        node.held[slot] += 1
        node.delivery = max(node.delivery, delivery)
