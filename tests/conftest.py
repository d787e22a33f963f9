"""What all tests share: handling of interrupts, hypothesis profiles and a store in memory."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.examples import PROFILE, THOROUGH_EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ipmicra.edge.store.store import Store
    from tests.servers.postgres import PostgresServer

COLOURS_AND_WIDTHS = frozenset(
    "COLUMNS LINES TERMINAL_WIDTH FORCE_COLOR NO_COLOR PY_COLORS CLICOLOR_FORCE GITHUB_ACTIONS".split()
)

# A shell that runs the tests in the background has interrupts ignored, and commands that tests start and
# interrupt would inherit that; a handler of ours is theirs to replace.
signal.signal(signal.SIGINT, signal.default_int_handler)

KEPT = {"IPMICRA_JAVA", "IPMICRA_SPARK_JVM", "IPMICRA_VENV"}
# Nothing of the surroundings decides what commands find or how they write, and as servers of tests are on
# loopback no proxy stands between.
for name in list(os.environ):
    if name in COLOURS_AND_WIDTHS or (name.startswith("IPMICRA_") and name not in KEPT):
        del os.environ[name]
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"

# Two processes of tests keep two cores busy. If each also spread its matrices over both, the threads of BLAS
# would spend most of their time waiting for each other; and sums do not depend on the number of cores.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

# `bin/test` draws the same examples every time, so that a failure is the change's doing, and `bin/test
# --thorough` explores. A first call may load much, so no example has a deadline. Laws with a limit of their
# own take it from `tests/examples.py`.
settings.register_profile(
    "fast",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "thorough", settings.get_profile("fast"), derandomize=False, max_examples=THOROUGH_EXAMPLES
)
settings.load_profile(PROFILE)


@pytest.fixture
def memory_store() -> Iterator[Store]:
    """Open a store in memory: the real one, without a file."""
    from ipmicra.edge.store.store import Store

    with Store.open("sqlite://") as store:
        yield store


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Run a real PostgreSQL server, one for each process of tests; they are left out where there is none."""
    from tests.servers.postgres import HOW, PostgresServer, binaries

    if binaries() is None:
        pytest.skip(HOW)
    with PostgresServer() as server:
        yield server


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """Name a database of one's own with an empty store."""
    url = postgres.new_store()
    yield url
    postgres.drop(url)


def pytest_make_parametrize_id(val: object) -> None:
    """Refuse to name a test after the second in which it was collected: two processes must agree on names."""
    if isinstance(val, bytes) and val.startswith(b"\x1f\x8b") and any(val[4:8]):
        raise ValueError("gzip data in a test's parameters has the time in it: compress it with mtime=0")
