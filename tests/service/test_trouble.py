"""A store that cannot be written for a while, a full disk, and rules that give a site several owners."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.delegating_worlds import nearest_of, seeds_of, site_address
from tests.patience import wait_until
from tests.servers.coordinator import RunningCoordinator
from tests.servers.internet_process import InternetProcess
from tests.service.conftest import CRAWLERS, coordinator_of, prepared
from tests.service.test_faults import check_probes, requests_of


@pytest.fixture(scope="module", autouse=True)
def asked(
    tmp_path_factory: pytest.TempPathFactory, internet: InternetProcess
) -> Iterator[tuple[RunningCoordinator, sqlite3.Connection, Future[dict[str, Any]]]]:
    """A question to a coordinator whose store another process has locked; all other tests run meanwhile."""
    home = prepared(tmp_path_factory.mktemp("locked"), internet)
    first, second = seeds_of(3, internet.port)[::2]
    with (
        coordinator_of(home, internet, "--policy", "everyone") as coordinator,
        ThreadPoolExecutor(1) as threads,
        closing(sqlite3.connect(home / "state.db", isolation_level=None)) as other,
    ):
        assert coordinator.owner(first)["crawler"] == nearest_of(0, CRAWLERS)
        other.execute("BEGIN IMMEDIATE")
        yield coordinator, other, threads.submit(coordinator.owner, second)


def test_site_with_several_vantages_has_an_owner_for_each(tmp_path: Path, internet: InternetProcess) -> None:
    prepared(tmp_path, internet)
    (tmp_path / "rules.txt").write_text(f"prefix={site_address(0)}/32 -> vantage=here:c0 vantage=there:c1\n")
    seed = seeds_of(1, internet.port)[0]
    with coordinator_of(tmp_path, internet, "--policy", "everyone") as coordinator:
        open_question = coordinator.get("/v1/owner", host=seed)
        assert open_question.status_code == 409, open_question.text
        assert open_question.json()["type"].endswith(":vantage-needed")
        for vantage, crawler in (("here", "c0"), ("there", "c1")):
            owner = coordinator.get("/v1/owner", host=seed, vantage=vantage).json()
            assert (owner["vantage"], owner["crawler"]) == (vantage, crawler)
        assert coordinator.get("/v1/owner", host=seed, vantage="mars").status_code == 422


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of a few megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small disk needs the right to mount one: run the tests as root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_full_disk_is_waited_for_and_costs_no_answer(small_disk: Path, internet: InternetProcess) -> None:
    """What is asked while it is full is answered once there is room, and what was answered is still there."""
    seeds = seeds_of(6, internet.port)
    before = requests_of(internet)
    with coordinator_of(prepared(small_disk, internet), internet, "--policy", "everyone") as coordinator:
        first = coordinator.owners(seeds[:3])
        filler = small_disk / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(b"\0" * 4096):
                pass
        with ThreadPoolExecutor(1) as threads:
            asked = threads.submit(coordinator.owners, seeds[3:])
            wait_until(lambda: "session_failed" in coordinator.log(), "the end of the session")
            assert coordinator.owners(seeds[:3]) == first
            filler.unlink()
            assert [one["crawler"] for one in asked.result()] == [nearest_of(i, CRAWLERS) for i in (3, 4, 5)]
        coordinator.kill()
        coordinator.start()
        assert coordinator.owners(seeds[:3]) == first
    check_probes(small_disk, requests_of(internet) - before, len(seeds))


@pytest.mark.slow
def test_store_that_is_locked_for_a_while_costs_time_and_nothing_else(
    asked: tuple[RunningCoordinator, sqlite3.Connection, Future[dict[str, Any]]],
) -> None:
    coordinator, other, answer = asked
    wait_until(lambda: "session_failed" in coordinator.log(), "the end of the session")
    other.execute("ROLLBACK")
    assert answer.result()["crawler"] == nearest_of(2, CRAWLERS)
    assert coordinator.get("/v1/ready").json()["is_ready"]
