"""The mailboxes as a coordinator runs them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path

from ipmicra.app.crawl.mailbox_config import MailboxConfig
from ipmicra.app.crawl.post import Post
from ipmicra.errors import StoreError
from ipmicra.model.link import Link, Share
from ipmicra.wire.links import ExchangeRequest, JoinRequest
from ipmicra.wire.observed import Observed
from tests.patience import PATIENCE_S


class OneOwner:
    """Gives every host to one crawler."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.changes: list[str] | None = []

    def crawlers(self) -> Sequence[str]:
        return ["fra"]

    def changed(self) -> Collection[str] | None:
        changed, self.changes = self.changes, []
        return changed

    def crawled(self, pages: Sequence[tuple[str, str, int]]) -> None: ...

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
