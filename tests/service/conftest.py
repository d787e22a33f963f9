"""A loopback world, and coordinators on homes that know its fleet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ipmicra.edge.store.store import Store
from tests.delegating_worlds import STEP_MS, enrol, hierarchy_of
from tests.servers.coordinator import RunningCoordinator
from tests.servers.internet_process import InternetProcess

SITES, CRAWLERS = 24, 3
QUICK = ("--location", "none", "--first-rung", "head", "--samples", "1")


def prepared(folder: Path, internet: InternetProcess) -> Path:
    """A home with a hierarchy and a fleet."""
    hierarchy_of(folder, internet.sites)
    with Store.open(str(folder / "state.db")) as store:
        enrol(store, internet.fleet())
    return folder


def coordinator_of(folder: Path, internet: InternetProcess, *words: str) -> RunningCoordinator:
    """A coordinator of a prepared home, not yet started."""
    return RunningCoordinator(folder, *QUICK, *words, token=internet.ready["token"])


@pytest.fixture(scope="session")
def internet() -> Iterator[InternetProcess]:
    with InternetProcess(SITES, CRAWLERS, STEP_MS) as running:
        yield running


@pytest.fixture
def coordinator(tmp_path: Path, internet: InternetProcess) -> Iterator[RunningCoordinator]:
    with coordinator_of(prepared(tmp_path, internet), internet, "--policy", "everyone") as running:
        yield running
