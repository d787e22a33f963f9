"""Locating sites beside everything else: in batches, each answer to its attempt, errors to the session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from ipmicra.app.delegate.place_queue import PlaceQueue
from ipmicra.errors import InputError
from ipmicra.model.location import Hint
from ipmicra.model.site import Site
from tests.fakes.fleet import site


class Slow:
    """Answers with the address, a little later; remembers how many were asked at a time."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    async def hints_of(self, sites: Sequence[Site]) -> list[Hint | str]:
        self.batches.append(len(sites))
        await asyncio.sleep(0.01)
        return [f"nothing of {one.host}" for one in sites]


class Broken:
    async def hints_of(self, sites: Sequence[Site]) -> list[Hint | str]:
        raise InputError(f"no server for {len(sites)}")


async def until(is_done: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_done():  # noqa: ASYNC110 - the queue has no event of its own
            await asyncio.sleep(0.005)


def test_questions_gather_while_others_are_under_way() -> None:
    found: dict[int, Hint | str] = {}
    source = Slow()

    async def run() -> None:
        queue = PlaceQueue(source, found.__setitem__, lambda error: None, most=4)
        for attempt in range(6):
            queue.ask(attempt, site(f"10.0.0.{attempt}"))
        await until(lambda: len(found) >= 4)
        queue.ask(6, site("10.0.0.6"))
        await until(lambda: len(found) == 7)
        queue.ask(7, site("10.0.0.7"))  # the queue was empty, and begins again
        await until(lambda: len(found) == 8)
        await queue.close()

    asyncio.run(run())
    assert found == {i: f"nothing of 10.0.0.{i}" for i in range(8)}
    assert source.batches[0] == 4
    assert sum(source.batches) == 8


def test_error_of_the_source_reaches_the_session() -> None:
    errors: list[BaseException] = []

    async def run() -> None:
        queue = PlaceQueue(Broken(), lambda attempt, hint: None, errors.append)
        queue.ask(1, site("10.0.0.1"))
        await until(lambda: bool(errors))
        await queue.close()

    asyncio.run(run())
    assert str(errors[0]) == "no server for 1"


def test_closing_cancels_what_is_under_way_and_tells_nobody() -> None:
    errors: list[BaseException] = []
    found: dict[int, Hint | str] = {}

    async def run() -> None:
        queue = PlaceQueue(Slow(), found.__setitem__, errors.append, gather_s=60.0)
        queue.ask(1, site("10.0.0.1"))
        await asyncio.sleep(0)
        await queue.close()

    asyncio.run(run())
    assert (errors, found) == ([], {})
