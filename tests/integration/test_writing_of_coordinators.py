"""How long answers of a coordinator wait while others are written."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise
from pathlib import Path

import pytest

from ipmicra.app.delegate.driver import Driver
from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.app.home import Home
from ipmicra.app.serve.coordinator import Coordinator
from tests.delegating_worlds import enrol, hierarchy_of, split_world
from tests.patience import MOST_ROUNDS, run

SLOW_S = 0.05


def test_whoever_comes_while_a_long_list_is_written_waits_twice_as_long_and_not_ten_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each writing is followed by the next; a busy machine may delay some of them, but not all."""
    hierarchy_of(tmp_path, 2)
    home = Home(folder=tmp_path)
    with home.open_store() as store:
        enrol(store, list(split_world(2, 3).crawlers))
    written: list[tuple[float, float]] = []
    is_calm = asyncio.Event()

    def pauses() -> list[float]:
        """Return the time between each two writings, in times of the first."""
        pairs = pairwise(written)
        return [(later[0] - end_s) / (end_s - start_s) for (start_s, end_s), later in pairs]

    def flush(driver: Driver) -> None:
        start_s = time.monotonic()
        time.sleep(SLOW_S)
        written.append((start_s, time.monotonic()))
        driver.gathered.set()
        if any(pause < 4.0 for pause in pauses()) or len(written) > MOST_ROUNDS:
            is_calm.set()

    async def scenario() -> None:
        async with Coordinator(home, DelegateOptions(policy="hash", location="none")) as coordinator:
            session = coordinator.deciding.session
            assert session is not None
            with monkeypatch.context() as patch:
                patch.setattr(Driver, "flush", flush)
                session.driver.gathered.set()
                await is_calm.wait()

    run(scenario)
    assert 1.5 < min(pauses()) < 4.0, "others are answered in the meantime, and nobody waits for long"
