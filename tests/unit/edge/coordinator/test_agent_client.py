"""The pace of an exchange: what bytes earn, and what they do not."""

from __future__ import annotations

import asyncio
import time

import pytest

from ipmicra.edge.coordinator.agent_client import Meter
from ipmicra.edge.pace.rule import Pace, TooSlowError

FOREVER_S = 600.0


async def complaint(meter: Meter) -> str:
    """Wait for bytes that do not come."""
    with pytest.raises(TooSlowError) as caught:
        await meter.within(asyncio.sleep(FOREVER_S))
    return str(caught.value)


def test_each_limit_says_which_it_is() -> None:
    async def run() -> list[str]:
        found = [await complaint(Meter(Pace(head_s=0.01)))]
        meter = Meter(Pace(head_s=FOREVER_S, total_s=0.01))
        meter.between_messages()
        found.append(await complaint(meter))
        meter = Meter(Pace(head_s=FOREVER_S, grace_s=0.01))
        meter.between_messages()
        meter.received(1)
        return [*found, await complaint(meter)]

    assert asyncio.run(run()) == [
        "no complete headers within 0.01 s",
        "not finished within 0.01 s",
        "slower than 1000 bytes per second",
    ]


def test_bytes_that_trickle_earn_next_to_nothing() -> None:
    async def run() -> None:
        meter = Meter(Pace(head_s=FOREVER_S, grace_s=0.1))
        meter.between_messages()
        while True:
            meter.received(1)
            await meter.within(asyncio.sleep(0.01))

    with pytest.raises(TooSlowError, match="slower"):
        asyncio.run(asyncio.wait_for(run(), FOREVER_S))


def test_quick_start_buys_no_more_than_the_grace() -> None:
    async def run() -> float:
        meter = Meter(Pace(head_s=FOREVER_S, grace_s=0.1))
        meter.received(10**9)
        start_s = time.monotonic()
        await complaint(meter)
        return time.monotonic() - start_s

    assert asyncio.run(run()) < FOREVER_S / 2


def test_timeout_of_the_step_itself_is_left_as_it_is() -> None:
    async def own() -> None:
        raise TimeoutError("its own")

    async def run() -> None:
        await Meter(Pace(head_s=FOREVER_S)).within(own())

    with pytest.raises(TimeoutError, match="its own") as caught:
        asyncio.run(run())
    assert not isinstance(caught.value, TooSlowError)
