"""What is kept in memory of a running crawl: little for each host, nothing for links that are fetched."""

from __future__ import annotations

import tracemalloc

from ipmicra.app.crawl.running_crawl import NodeState, RunningCrawl
from ipmicra.edge.crawls.ledger import CrawlRow, NodeRow
from ipmicra.model.link import Share
from ipmicra.wire.links import CrawlState

ROW = CrawlRow(id=1, name="c", run=1, state=CrawlState.RUNNING)
NODE = NodeRow(node="fra-1", crawler="fra", session="s", is_there=True)


def shares_of(block: int) -> tuple[Share, ...]:
    """Return new ones each time, as every answer about an owner has."""
    return (Share(crawler="fra", slot=f"192.0.2.0/{block}"),)


def test_hosts_of_one_block_keep_one_copy_of_their_shares() -> None:
    restored = RunningCrawl(row=ROW, shares={f"old{number}": shares_of(24) for number in range(3)})
    restored.share_out("new", shares_of(24))
    restored.share_out("other", shares_of(25))
    assert len({id(one) for one in restored.shares.values()}) == 2
    assert restored.shares["other"] == shares_of(25)


def test_host_that_is_opened_costs_no_second_copy_of_its_name() -> None:
    count = 5_000
    hosts = [f"{'a' * 1_000}{number}" for number in range(count)]
    crawl = RunningCrawl(row=ROW)
    for host in hosts:
        crawl.share_out(host, shares_of(24))
        crawl.fresh[host] = host
    tracemalloc.start()
    for number in range(count):
        assert crawl.is_open(f"{'a' * 1_000}{number}", NODE.session)  # as a link from the ledger has it
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 500 * count


def test_slot_whose_links_are_all_fetched_is_forgotten() -> None:
    node = NodeState(row=NODE, seen_s=0.0)
    for number in range(1_000):
        node.held[f"slot {number}"] += 2
        node.let_go(f"slot {number}")
        assert node.held[f"slot {number}"] == 1
        node.let_go(f"slot {number}")
    assert not node.held
