"""The mailboxes as a coordinator runs them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from ipmicra.app.crawl.post import Post
from ipmicra.model.link import Share
from ipmicra.wire.links import ExchangeRequest, JoinRequest
from ipmicra.wire.observed import Observed


class OneOwner:
    """Gives every host to one crawler."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.changes = 0

    def crawlers(self) -> Sequence[str]:
        return ["fra"]

    def version(self) -> object:
        return self.changes

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
