"""What a coordinator makes of news about the others."""

from __future__ import annotations

import asyncio

from ipmicra.app.serve.dealing import Dealt
from ipmicra.app.serve.peers import Peers, PeersConfig, PeerSettings
from ipmicra.edge.coordinator.agent_client import AgentAccess
from ipmicra.errors import StoreError
from tests.patience import PATIENCE_S


def test_news_that_cannot_be_followed_now_is_followed_when_the_database_is_back() -> None:
    async def scenario() -> None:
        settings = PeerSettings(name="one", url="http://one.example", config=PeersConfig(stale_s=0.01))
        peers, tried, is_done = Peers(settings, "postgresql://db/x", AgentAccess()), 0, asyncio.Event()

        async def follow(_dealt: Dealt) -> None:
            nonlocal tried
            tried += 1
            if tried < 3:
                raise StoreError("postgresql://db/x", "the server is away")
            is_done.set()

        peers.on_turn = follow
        task = asyncio.create_task(peers._keep_turning())
        peers._turned.set()
        await asyncio.wait_for(is_done.wait(), PATIENCE_S)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert tried == 3

    asyncio.run(scenario())
