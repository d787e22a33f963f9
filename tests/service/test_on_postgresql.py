"""A coordinator whose store is in PostgreSQL: the same answers, and a server that restarts under it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ipmicra.edge.store.store import Store
from tests.delegating_worlds import enrol, nearest_of, seeds_of
from tests.patience import wait_until
from tests.servers.internet_process import InternetProcess
from tests.servers.postgres import HOW, PostgresServer, binaries
from tests.service.conftest import CRAWLERS, SITES, coordinator_of, prepared


def test_coordinator_answers_from_postgresql_and_survives_a_restart_of_it(
    tmp_path: Path, internet: InternetProcess
) -> None:
    if binaries() is None:
        pytest.skip(HOW)
    seeds = seeds_of(SITES, internet.port)
    nearest = [nearest_of(i, CRAWLERS) for i in range(SITES)]
    with PostgresServer() as server:
        url = server.new_store()
        with Store.open(url) as store:
            enrol(store, internet.fleet())
        home = prepared(tmp_path, internet)
        with coordinator_of(home, internet, "--policy", "everyone", "--store", url) as running:
            half = SITES // 2
            found = running.owners(seeds[:half])
            assert [one["crawler"] for one in found] == nearest[:half]
            server.kill()
            server.start()
            rest: list[str | None] = []

            def is_answered() -> bool:
                rest[:] = [one.get("crawler") for one in running.owners(seeds[half:])]
                return None not in rest

            wait_until(is_answered, "the rest is answered")
            assert rest == nearest[half:]
            assert running.owners(seeds[:half]) == found
            assert running.stop() == 0
        with Store.open(url) as store:
            assert len(store.assignments.all()) == SITES
            assert store.samples.count() == SITES * CRAWLERS
