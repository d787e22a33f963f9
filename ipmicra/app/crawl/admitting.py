"""What a node may not do to a crawl in which it takes part: rules that keep its damage to itself.

A node speaks for one crawler. Its name is not that of a node of another crawler; nodes, crawls and links are
limited in number, links by the crawler whose nodes found them; and the owners of hosts are asked for in
turns, so that a node that invents hosts does not hold up those that others found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import zip_longest

from ipmicra.app.crawl.mailbox_config import MailboxConfig
from ipmicra.app.crawl.running_crawl import RunningCrawl
from ipmicra.errors import InputError, StoreError
from ipmicra.model.quantities import plural
from ipmicra.wire.links import ExchangeRequest, JoinRequest


def check_joining(
    crawls: Mapping[str, RunningCrawl], name: str, request: JoinRequest, config: MailboxConfig
) -> None:
    """Refuse a node that takes another's name, or is one too many.

    Raises:
        InputError: It says why, and what to do.
    """
    crawl = crawls.get(name)
    if crawl is None or not _is_active(crawl):
        _check_beginning(crawls, request.crawler, config, is_new_name=crawl is None)
        return
    known = crawl.nodes.get(request.node)
    if known is not None and known.row.crawler != request.crawler:
        raise InputError(
            f"a node of {known.row.crawler!r} is called {request.node!r}: choose another name, or wait until "
            "it has left"
        )
    mine = sum(node.row.crawler == request.crawler for node in crawl.nodes.values())
    if known is None and mine >= config.most_nodes:
        raise InputError(f"{request.crawler!r} has {plural(mine, 'node')} in crawl {name!r}: stop one first")


def _check_beginning(
    crawls: Mapping[str, RunningCrawl], crawler: str, config: MailboxConfig, *, is_new_name: bool
) -> None:
    """Refuse one more crawl with nodes, whether it begins or its nodes come back.

    Crawls in which a crawler is alone have lower limits, so that it leaves room for others.
    """
    own = [one for one in crawls.values() if one.crawlers == {crawler}]
    running, alone = _count_active(crawls.values()), _count_active(own)
    if alone >= config.most_alone or running >= config.most_crawls:
        is_own = alone >= config.most_alone
        count = plural(alone if is_own else running, "crawl")
        whose = f"only nodes of {crawler!r} are" if is_own else "nodes are"
        raise InputError(f"{whose} in {count}: let one end, or stop its nodes, first")
    if is_new_name and (len(own) >= config.most_own_names or len(crawls) >= config.most_names):
        known = f"{plural(len(own), 'crawl')} of {crawler!r} alone, {len(crawls):,} in all"
        raise InputError(f"names are kept of {known}: use one of them again")


def _count_active(crawls: Iterable[RunningCrawl]) -> int:
    return sum(_is_active(one) for one in crawls)


def _is_active(crawl: RunningCrawl) -> bool:
    return crawl.is_running and bool(crawl.nodes)


def check_links(
    crawl: RunningCrawl, crawler: str, request: ExchangeRequest, free_bytes: int, config: MailboxConfig
) -> None:
    """Refuse links beyond what one crawler may add to a crawl, or the disk can take; all else is welcome.

    Raises:
        InputError: The crawler's nodes have reported too many.
        StoreError: Nobody's links are taken now.
    """
    if not request.links:
        return
    if free_bytes < config.least_free_bytes:
        reason = f"only {free_bytes >> 20:,} MiB are free on its disk: links are taken again when it has more"
        raise StoreError("of the mailboxes", reason)
    if crawl.found[crawler] + len(request.links) > config.most_found:
        raise InputError(
            f"nodes of {crawler!r} have found {crawl.found[crawler]:,} links in crawl {crawl.row.name!r}: "
            f"{config.most_found:,} are the limit"
        )


def take_questions(crawl: RunningCrawl, most: int) -> list[str]:
    """Remove and return hosts whose owners are to be asked for, in turns of the crawlers that found them."""
    by_finder: dict[str, list[str]] = {}
    for host, finder in crawl.unrouted.items():
        found = by_finder.setdefault(finder, [])
        if len(found) < most:
            found.append(host)
    turns = zip_longest(*by_finder.values())
    hosts = [host for turn in turns for host in turn if host is not None][:most]
    for host in hosts:
        del crawl.unrouted[host]
    return hosts
