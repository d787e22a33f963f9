"""Sessions of a coordinator that have closed take no memory."""

from __future__ import annotations

import asyncio
import gc
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.app.home import Home
from ipmicra.app.serve.coordinator import Coordinator
from ipmicra.app.serve.run import (
    YOUNG_OBJECTS,
    CoordinatorServer,
    ServeOptions,
    run_coordinator,
    tend_memory,
)
from ipmicra.delegate.machine import DelegationMachine
from tests.delegating_worlds import enrol, hierarchy_of, split_world

OPTIONS = DelegateOptions(policy="hash", location="none")


def machines() -> int:
    """Count the machines in memory."""
    gc.unfreeze()
    return sum(isinstance(one, DelegationMachine) for one in gc.get_objects())


@pytest.fixture
def home(tmp_path: Path) -> Home:
    hierarchy_of(tmp_path, 2)
    found = Home(folder=tmp_path)
    with found.open_store() as store:
        enrol(store, list(split_world(2, 3).crawlers))
    return found


@pytest.fixture(autouse=True)
def _own_garbage() -> Iterator[None]:
    """Collect garbage only where a test says so, and as before when it ends."""
    before = gc.get_threshold()
    gc.collect()
    gc.disable()
    yield
    gc.enable()
    gc.set_threshold(*before)
    gc.unfreeze()


async def machines_after_pauses(coordinator: Coordinator, pauses: int) -> int:
    """Count the machines in memory after the session was opened anew so often."""
    for _ in range(pauses):
        async with coordinator.deciding.paused():
            pass
    return machines()


def test_session_that_has_closed_is_freed_however_it_was_exempted_from_garbage_collection(home: Home) -> None:
    async def counted() -> int:
        async with Coordinator(home, OPTIONS) as coordinator:
            tend_memory(coordinator)
            return await machines_after_pauses(coordinator, 4)

    before = machines()
    assert asyncio.run(counted()) == before + 1
    assert gc.get_threshold()[0] == YOUNG_OBJECTS > 10 * 700


def test_coordinator_that_serves_tends_its_memory(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[tuple[int, int]] = []

    async def serve(server: CoordinatorServer, sockets: list[socket.socket] | None = None) -> None:
        is_frozen = gc.get_freeze_count() > 0
        assert is_frozen, "what was loaded is looked through again and again"
        found.append((await machines_after_pauses(server.coordinator, 4), gc.get_threshold()[0]))

    monkeypatch.setattr(CoordinatorServer, "serve", serve)
    before = machines()
    run_coordinator(ServeOptions(home=home, delegating=OPTIONS))
    assert found == [(before + 1, YOUNG_OBJECTS)]
