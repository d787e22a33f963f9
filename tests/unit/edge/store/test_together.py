"""What several tasks write in the same moment is one transaction; the error of one is not the others'."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from ipmicra.edge.store.store import Store
from ipmicra.edge.store.together import Together

T = TypeVar("T")


class Counted:
    """Counts the transactions of a store."""

    def __init__(self, store: Store) -> None:
        self.store, self.done = store, 0

    def repeated(self, work: Callable[[], T]) -> T:
        self.done += 1
        return self.store.repeated(work)


def test_works_of_one_moment_share_a_transaction_and_get_their_own_results(tmp_path: Path) -> None:
    async def run() -> None:
        with Store.open(str(tmp_path / "s.db")) as store:
            counted = Counted(store)
            together = Together(counted)

            def write(number: int) -> int:
                store.states.put(f"s{number}", b"kept", 1.0)
                return number

            found = await asyncio.gather(*(together.do(partial(write, number)) for number in range(20)))
            assert found == list(range(20))
            assert counted.done == 1
            assert [store.states.get(f"s{n}") for n in range(20)] == [b"kept"] * 20
            await together.do(lambda: write(99))
            assert counted.done == 2

    asyncio.run(run())


def test_work_that_fails_fails_alone(tmp_path: Path) -> None:
    async def run() -> None:
        with Store.open(str(tmp_path / "s.db")) as store:
            together = Together(store)

            def fail() -> None:
                store.states.put("half", b"written", 1.0)
                raise LookupError("no such thing")

            good, bad = together.do(lambda: store.states.put("whole", b"yes", 1.0)), together.do(fail)
            results = await asyncio.gather(good, bad, return_exceptions=True)
            assert isinstance(results[1], LookupError)
            assert store.states.get("whole") == b"yes"
            assert store.states.get("half") is None

    asyncio.run(run())


def test_work_is_done_although_whoever_wanted_it_is_gone(tmp_path: Path) -> None:
    async def run() -> None:
        with Store.open(str(tmp_path / "s.db")) as store:
            together = Together(store)
            task = asyncio.create_task(together.do(lambda: store.states.put("kept", b"yes", 1.0)))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await together.close()
            assert store.states.get("kept") == b"yes"

    asyncio.run(run())
