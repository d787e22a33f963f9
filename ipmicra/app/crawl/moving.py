"""Sites that get another owner while they are crawled.

A site moves in two steps, so that nobody fetches from it in the meantime: the node that holds its block is
told to give the block up; once it has, waiting links of the site go to their new block, whose holder pauses
for one polite delay. Until then new links of the site are filed under its old owner, who gets no more of
them. Sites of the block that do not move go back to where they were.
"""

from __future__ import annotations

from collections.abc import Iterable

from ipmicra.app.crawl.running_crawl import Block, RunningCrawl
from ipmicra.edge.crawls.ledger import Ledger
from ipmicra.model.link import Share


def begin_move(crawl: RunningCrawl, host: str, shares: tuple[Share, ...]) -> bool:
    """Note that a site has other owners than before; return whether it can move at once."""
    crawl.moves[host] = shares
    is_free = True
    for crawler, slot in blocks_of(crawl.shares[host]):
        node = crawl.nodes.get(crawl.holders.get((crawler, slot), ""))
        if node is not None and (crawler, slot) not in blocks_of(shares):
            node.lost[slot] = None
            is_free = False
    return is_free


def moves_of_slot(crawl: RunningCrawl, slot: str) -> list[str]:
    """Return the sites that can move now that a slot was given up."""
    return [host for host in crawl.moves if any(share.slot == slot for share in crawl.shares[host])]


def finish_move(ledger: Ledger, crawl: RunningCrawl, host: str) -> list[Block]:
    """File a site under its new owners; return the blocks that have links of it now.

    A vantage that a site had and has no more keeps its owner until the crawl is over.
    """
    shares = crawl.moves.pop(host)
    crawl.share_out(host, shares)
    crawl.close_host(host)
    ledger.put_shares(crawl.row.id, host, shares)
    for share in shares:
        ledger.reroute(crawl.row.id, host, share)
        crawl.sessions[share.crawler, share.slot] = ""  # whoever gets it pauses first
    return list(blocks_of(shares))


def blocks_of(shares: Iterable[Share]) -> dict[Block, None]:
    """Return the blocks of shares."""
    return {(share.crawler, share.slot): None for share in shares}
