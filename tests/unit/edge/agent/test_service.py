"""What the service promises of every order."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address
from itertools import count

from ipmicra.edge.agent.service import ProbeService
from ipmicra.edge.prober.exchange import Exchange
from ipmicra.model.address import Address
from ipmicra.model.sample import Loss
from ipmicra.wire.messages import Answer, ProbeOrder, ProbeRequest, longest_s
from tests.patience import PATIENCE_S

ADDRESS = ip_address("192.0.2.1")


class StuckProber:
    """Never comes back, like one whose machine has nothing left for it."""

    async def pinned(self, order: ProbeOrder) -> tuple[Address | None, float | None, Exchange | None]:
        return order.address, None, None

    async def probe(self, order: ProbeOrder) -> Answer:
        await asyncio.Event().wait()
        raise AssertionError


def test_order_is_answered_in_time_however_busy_the_agent_is() -> None:
    """Coordinators wait for `longest_s` and no longer."""
    order = ProbeOrder(id="a", address=ADDRESS, samples=1, timeout_ms=5.0, wait_ms=0.0)
    assert longest_s(order) < 1.0

    async def run() -> list[Answer]:
        service = ProbeService(StuckProber())
        async with asyncio.timeout(PATIENCE_S):
            return [one async for many in service.answers(ProbeRequest(orders=(order,))) for one in many]

    (answer,) = asyncio.run(run())
    assert answer.loss is Loss.AGENT
    assert "overloaded" in answer.detail


class CountingProber(StuckProber):
    """Answers at once, and counts."""

    def __init__(self) -> None:
        self.probed = 0

    async def probe(self, order: ProbeOrder) -> Answer:
        self.probed += 1
        return Answer(order=order.id, address=order.address, loss=Loss.TIMEOUT, detail="", taken_s=0.0)


def test_order_is_probed_once_even_if_the_clock_jumps_by_days() -> None:
    """What is remembered for an hour is remembered by a clock that does not jump."""
    prober, days = CountingProber(), count()
    request = ProbeRequest(orders=(ProbeOrder(id="a", address=ADDRESS, samples=1),))

    async def run() -> None:
        service = ProbeService(prober, clock=lambda: 1.7e9 + 86_400.0 * next(days))
        for _ in range(3):
            assert [one async for many in service.answers(request) for one in many]

    asyncio.run(run())
    assert prober.probed == 1
