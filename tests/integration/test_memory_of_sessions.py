"""Sessions of a coordinator that have closed take no memory."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.app.home import Home
from ipmicra.app.serve.coordinator import Coordinator
from ipmicra.app.serve.run import settle_memory
from ipmicra.delegate.machine import DelegationMachine
from tests.delegating_worlds import enrol, hierarchy_of, split_world


def machines() -> int:
    """Count the machines in memory."""
    gc.unfreeze()
    return sum(isinstance(one, DelegationMachine) for one in gc.get_objects())


async def machines_after_pauses(home: Home, pauses: int) -> int:
    """Count the machines in memory after the session was opened anew so often."""
    async with Coordinator(home, DelegateOptions(policy="hash", location="none")) as coordinator:
        settle_memory()
        coordinator.deciding.on_open.append(lambda _session: settle_memory())
        for _ in range(pauses):
            async with coordinator.deciding.paused():
                pass
        return machines()


def test_session_that_has_closed_is_freed_however_it_was_exempted_from_garbage_collection(
    tmp_path: Path,
) -> None:
    hierarchy_of(tmp_path, 2)
    home = Home(folder=tmp_path)
    with home.open_store() as store:
        enrol(store, list(split_world(2, 3).crawlers))
    gc.collect()
    gc.disable()
    try:
        before = machines()
        assert asyncio.run(machines_after_pauses(home, 4)) == before + 1
    finally:
        gc.enable()
