"""Stopping a coordinator in the middle of its work, and starting the next: nothing is lost or done twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from ipmicra.edge.store.store import Store
from tests.delegating_worlds import STEP_MS, enrol, hierarchy_of, nearest_of, seeds_of
from tests.patience import wait_until
from tests.servers.coordinator import RunningCoordinator
from tests.servers.internet_process import InternetProcess

SITES, CRAWLERS = 40, 3


@pytest.mark.slow
def test_upgrade_in_the_middle_of_a_list_loses_nothing_and_probes_nothing_twice(tmp_path: Path) -> None:
    """The first coordinator gets SIGTERM while a list is under way; the second is asked for all of it."""
    with InternetProcess(SITES, CRAWLERS, STEP_MS) as internet:
        hierarchy_of(tmp_path, SITES)
        with Store.open(str(tmp_path / "state.db")) as store:
            enrol(store, internet.fleet())
        words = ("--policy", "everyone", "--location", "none", "--first-rung", "head", "--samples", "1")
        seeds = seeds_of(SITES, internet.port)
        with RunningCoordinator(tmp_path, *words, token=internet.ready["token"]) as running:
            with ThreadPoolExecutor(1) as pool:
                asked = pool.submit(_asked, running, seeds)
                wait_until(lambda: sum(internet.requests().values()) > 0, "probes are under way")
                running.stop()
                early = asked.result()
            running.start()
            found = running.owners(seeds)
        assert [one["crawler"] for one in found] == [nearest_of(i, CRAWLERS) for i in range(SITES)]
        assert all(one in found for one in early)
        assert set(internet.requests().values()) == {CRAWLERS}


def _asked(running: RunningCoordinator, seeds: list[str]) -> list[dict[str, object]]:
    """Ask as a crawler does that is cut off: keep the whole lines with an owner."""
    try:
        return [one for one in running.owners(seeds) if "crawler" in one]
    except (requests.RequestException, ValueError, AssertionError):
        return []
