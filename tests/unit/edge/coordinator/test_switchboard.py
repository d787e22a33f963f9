"""What agents hear when they poll."""

from __future__ import annotations

import asyncio

from ipmicra.edge.coordinator.mailbox import SwitchboardConfig
from ipmicra.edge.coordinator.switchboard import Switchboard
from ipmicra.wire.polling import PollRequest
from tests.patience import PATIENCE_S


def test_polls_that_are_held_are_answered_when_there_is_something_to_tell() -> None:
    async def scenario() -> None:
        board = Switchboard(SwitchboardConfig(hold_s=10 * PATIENCE_S))
        poll = PollRequest(boot="b" * 8, cursor="", capacity=10, wait_s=10 * PATIENCE_S)
        held = [asyncio.create_task(board.poll(name, poll)) for name in ("fra", "sin")]
        await asyncio.sleep(0.05)
        assert not any(one.done() for one in held)
        board.tell()
        async with asyncio.timeout(PATIENCE_S):
            assert [one.works for one in await asyncio.gather(*held)] == [(), ()]

    asyncio.run(scenario())
