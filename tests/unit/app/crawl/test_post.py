"""The mailboxes as a coordinator runs them."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from ipmicra.app.crawl.mailbox_config import MailboxConfig
from ipmicra.app.crawl.post import Post
from ipmicra.edge.crawls.ledger import Ledger, LinkState
from ipmicra.errors import StoreError
from ipmicra.model.link import Link, Share
from ipmicra.wire.links import CrawlState, ExchangeAnswer, ExchangeRequest, JoinRequest
from ipmicra.wire.observed import Observed
from tests.patience import PATIENCE_S


class OneOwner:
    """Gives every host to one crawler."""

    def __init__(self) -> None:
        self.pages: list[tuple[str, str, int]] = []
        self.asked: list[str] = []
        self.changes: list[str] | None = []

    def crawlers(self) -> Sequence[str]:
        return ["fra"]

    def changed(self) -> Collection[str] | None:
        changed, self.changes = self.changes, []
        return changed

    def crawled(self, pages: Sequence[tuple[str, str, int]]) -> None:
        self.pages += pages

    def observed(self, crawler: str, sights: Sequence[Observed]) -> None: ...

    async def shares_of_many(self, hosts: Sequence[str]) -> dict[str, tuple[Share, ...] | str]:
        self.asked += hosts
        return {host: (Share(crawler="fra", slot=host),) for host in hosts}


def test_node_that_leaves_is_answered_at_once_although_it_would_wait(tmp_path: Path) -> None:
    async def leave() -> None:
        async with Post(tmp_path / "crawls.db", OneOwner()) as post:
            joined = await post.join("news", JoinRequest(node="n", crawler="fra"))
            request = ExchangeRequest(session=joined.session, is_idle=True, is_leaving=True, wait_s=60.0)
            answer = await asyncio.wait_for(post.exchange("news", request), 30.0)
            assert answer.links == ()

    asyncio.run(leave())


def test_nodes_are_looked_after_again_when_the_store_is_back(tmp_path: Path) -> None:
    """Owners are in a database that may be away; a node that died meanwhile must not keep its sites."""
    config = MailboxConfig(look_s=0.01, lease_s=0.2)

    class Away(OneOwner):
        failures = 3

        def changed(self) -> Collection[str] | None:
            if self.failures:
                self.failures -= 1
                raise StoreError("postgresql://db/x", "the server is away")
            return super().changed()

    async def outlive() -> None:
        owner = Away()
        async with Post(tmp_path / "crawls.db", owner, config) as post:
            joined = await post.join("news", JoinRequest(node="n", crawler="fra"))
            links = (Link(url="http://a.example/", host="a.example", key=1),)
            await post.exchange("news", ExchangeRequest(session=joined.session, links=links))
            while post.glimpse() or owner.failures:  # noqa: ASYNC110 - until it counts as dead
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(outlive(), PATIENCE_S))


def test_owners_of_what_changed_are_asked_for_again_and_no_others(tmp_path: Path) -> None:
    config = MailboxConfig(look_s=0.01, reviewed_per_s=0.0)
    hosts = ("a.example", "b.example")

    async def change() -> None:
        owner = OneOwner()
        async with Post(tmp_path / "crawls.db", owner, config) as post:
            joined = await post.join("news", JoinRequest(node="n", crawler="fra"))
            links = tuple(Link(url=f"http://{host}/", host=host, key=i) for i, host in enumerate(hosts))
            await post.exchange("news", ExchangeRequest(session=joined.session, links=links))
            while len(owner.asked) < 2 * len(hosts):  # once for the links, once by the first look
                owner.changes = ["elsewhere.example"]
                await asyncio.sleep(0.01)
            before = len(owner.asked)
            owner.changes = ["elsewhere.example", "b.example"]
            while len(owner.asked) == before:  # noqa: ASYNC110 - the fake tells nobody
                await asyncio.sleep(0.01)
            assert owner.asked[before:] == ["b.example"]
            owner.changes = None
            while len(owner.asked) < before + 3:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            assert sorted(owner.asked[before + 1 :]) == sorted(hosts)

    asyncio.run(asyncio.wait_for(change(), PATIENCE_S))


async def fetched_all(post: Post, crawl: str) -> ExchangeAnswer:
    """Fetch the only page of a crawl; return the answer to the node that says so."""
    session = (await post.join(crawl, JoinRequest(node="n", crawler="fra"))).session
    host = f"{crawl}.example"
    links = (Link(url=f"http://{host}/", host=host, key=1),)
    given = await post.exchange(
        crawl, ExchangeRequest(session=session, links=links, room=10, wait_s=PATIENCE_S)
    )
    done = tuple(one.number for one in given.links)
    request = ExchangeRequest(session=session, received=given.delivery, done=done, is_idle=True)
    return await post.exchange(crawl, request)


async def until(is_so: Callable[[], object]) -> None:
    while not is_so():  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.01)


def test_pages_of_a_crawl_that_ended_are_handed_on_once_whatever_happens_in_between(tmp_path: Path) -> None:
    config = MailboxConfig(look_s=0.01)

    class Away(OneOwner):
        def crawled(self, pages: Sequence[tuple[str, str, int]]) -> None:
            raise StoreError("postgresql://db/x", "the server is away")

    async def crawl_and_restart() -> None:
        async with Post(tmp_path / "crawls.db", Away(), config) as post:
            assert (await fetched_all(post, "news")).state is CrawlState.ENDED
        told, again = OneOwner(), OneOwner()
        async with Post(tmp_path / "crawls.db", told, config):
            await until(lambda: told.pages)
        assert told.pages == [("news.example", "", 1)]
        async with Post(tmp_path / "crawls.db", again, config) as post:
            await until(lambda: post._reporting and post._reporting.done())
        assert again.pages == []

    asyncio.run(asyncio.wait_for(crawl_and_restart(), PATIENCE_S))


def test_nodes_exchange_links_while_pages_of_a_large_crawl_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = MailboxConfig(look_s=0.01, lease_s=0.4)
    is_counted = threading.Event()
    pages = Ledger.pages

    def slow_pages(self: Ledger, crawl: int) -> list[tuple[str, str, int]]:
        is_counted.wait(PATIENCE_S)
        return pages(self, crawl)

    monkeypatch.setattr(Ledger, "pages", slow_pages)

    async def crawl_meanwhile() -> None:
        owner = OneOwner()
        async with Post(tmp_path / "crawls.db", owner, config) as post:
            assert (await fetched_all(post, "large")).state is CrawlState.ENDED
            assert (await fetched_all(post, "small")).state is CrawlState.ENDED
            assert owner.pages == []
            is_counted.set()
            await until(lambda: len(owner.pages) == 2)
            assert sorted(owner.pages) == [("large.example", "", 1), ("small.example", "", 1)]

    try:
        asyncio.run(asyncio.wait_for(crawl_meanwhile(), PATIENCE_S))
    finally:
        is_counted.set()


def test_links_of_a_run_that_another_followed_are_swept_away_and_no_others(tmp_path: Path) -> None:
    path, config = tmp_path / "crawls.db", MailboxConfig(look_s=0.01)

    def links() -> list[tuple[str, int]]:
        with closing(sqlite3.connect(path)) as file:
            query = "SELECT host, COUNT(*) FROM links GROUP BY host ORDER BY host"
            return file.execute(query).fetchall()

    async def crawl_again() -> None:
        owner = OneOwner()
        async with Post(path, owner, config) as post:
            await fetched_all(post, "news")
            await fetched_all(post, "blogs")
            await until(lambda: len(owner.pages) == 2)
        with closing(Ledger(path)) as ledger:
            ledger.begin("news", 1e9)  # and then it is killed
            assert links() == [("blogs.example", 1), ("news.example", 1)]
        async with Post(path, owner, config) as post:
            await until(lambda: links() == [("blogs.example", 1)])
            assert (await fetched_all(post, "news")).state is CrawlState.ENDED
            await until(lambda: len(owner.pages) == 3)
            assert links() == [("blogs.example", 1), ("news.example", 1)]

    asyncio.run(asyncio.wait_for(crawl_again(), PATIENCE_S))


def test_sweeping_removes_what_it_is_told_whatever_lies_between(tmp_path: Path) -> None:
    with closing(Ledger(tmp_path / "crawls.db")) as ledger:
        crawls = [ledger.begin(name, 1e9).id for name in ("a", "b")]
        for key in range(10):
            for crawl in crawls:
                one = Link(url=f"http://{crawl}.example/{key}", host=f"{crawl}.example", key=key)
                ledger.claim(crawl, "n", [(one, Share(crawler="fra", slot="1"))])
        old, kept = crawls
        ledger.begin("a", 1e9)
        assert ledger.runs_over() == [old]
        last: int | None = 0
        while last is not None:
            last = ledger.sweep(old, last, 3)
        assert ledger.runs_over() == []
        assert ledger.counts(kept) == {LinkState.HELD: 10}


def test_node_whose_message_waits_for_its_turn_is_not_taken_for_dead(tmp_path: Path) -> None:
    """The mailboxes may be busy for longer than a lease: with the links of a crawl that begins anew, say."""
    config = MailboxConfig(look_s=0.01, lease_s=0.5)

    async def wait_in_line() -> None:
        async with Post(tmp_path / "crawls.db", OneOwner(), config) as post:
            session = (await post.join("news", JoinRequest(node="n", crawler="fra"))).session
            busy = asyncio.create_task(post._run(lambda: time.sleep(1.2)))
            await asyncio.sleep(0.05)
            answer = await post.exchange("news", ExchangeRequest(session=session))
            await busy
            assert answer.state is CrawlState.RUNNING

    asyncio.run(asyncio.wait_for(wait_in_line(), PATIENCE_S))
