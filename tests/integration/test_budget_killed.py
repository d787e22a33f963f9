"""A command that is killed when all its answers are found has not ended: its budget is not spent again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.store.store import Store
from tests.delegating_worlds import enrol, hierarchy_of, seeds_of, split_world
from tests.patience import PATIENCE_S

SITES, BUDGET = 12, 6


def full_pipe() -> tuple[int, int]:
    """Return a pipe that takes no more: whoever writes to it waits for a reader that does not come."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(writer, True)
    return reader, writer


KILLED_WHILE_CLOSING = """
import os, signal
from ipmicra.cli.main import run
from ipmicra.edge.store.store import Store
Store.close = lambda self: os.kill(os.getpid(), signal.SIGKILL)
run()
"""


def command(
    folder: Path, internet: LoopbackInternet, stderr: int, start: tuple[str, str] = ("-m", "ipmicra")
) -> subprocess.Popen[bytes]:
    words = ["--policy", "everyone", "--location", "none", "--first-rung", "head", "--samples", "1"]
    return subprocess.Popen(
        [
            *(sys.executable, *start, "--home", str(folder), "delegate", str(folder / "seeds.txt")),
            *(*words, "--probe-budget", str(BUDGET), "--format", "jsonl"),
        ],
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, "IPMICRA_AGENT_TOKEN": str(internet.access.token)},
    )


def spent(folder: Path) -> list[int]:
    """Return what was spent for each batch."""
    with Store.open(str(folder / "state.db")) as store:
        return [store.budget.state(f"delegate {batch.id}").spent for batch in store.batches.all()]


@pytest.fixture
def internet() -> LoopbackInternet:
    return LoopbackInternet(split_world(SITES, 2, 12.0))


def prepare(folder: Path, internet: LoopbackInternet) -> None:
    """Write what a command needs; the world must be running."""
    hierarchy_of(folder, SITES)
    (folder / "seeds.txt").write_text("\n".join(seeds_of(SITES, internet.port)))
    with Store.open(str(folder / "state.db")) as store:
        enrol(store, list(internet.crawlers.values()))


def test_command_killed_while_it_closes_its_store_does_not_spend_its_budget_again(
    tmp_path: Path, internet: LoopbackInternet
) -> None:
    """Its batch has ended and everything is printed, but its caller sees that it was killed."""
    with internet:
        prepare(tmp_path, internet)
        printed = b""
        for _ in range(2):
            first = command(tmp_path, internet, subprocess.PIPE, ("-c", KILLED_WHILE_CLOSING))
            printed, _ = first.communicate(timeout=PATIENCE_S)
            assert first.returncode == -signal.SIGKILL
            assert len(printed.splitlines()) == SITES
            assert spent(tmp_path) == [BUDGET]
        again = command(tmp_path, internet, subprocess.PIPE)
        output, _ = again.communicate(timeout=PATIENCE_S)
        assert again.returncode == 0
        assert sorted(output.splitlines()) == sorted(printed.splitlines())
        assert spent(tmp_path) == [BUDGET]
        third = command(tmp_path, internet, subprocess.PIPE)
        third.communicate(timeout=PATIENCE_S)
        assert spent(tmp_path) == [BUDGET, BUDGET], "a command that ended begins anew"


def test_command_killed_after_its_last_answer_does_not_spend_its_budget_again(
    tmp_path: Path, internet: LoopbackInternet
) -> None:
    """The summary cannot be printed, so the command stands still where 0.1.0 had ended its batch."""
    with internet:
        prepare(tmp_path, internet)
        reader, writer = full_pipe()
        first = command(tmp_path, internet, writer)
        assert first.stdout is not None
        printed = [first.stdout.readline() for _ in range(SITES)]
        time.sleep(0.5)
        assert first.poll() is None
        first.kill()
        first.communicate()
        os.close(reader)
        os.close(writer)
        assert spent(tmp_path) == [BUDGET]
        again = command(tmp_path, internet, subprocess.PIPE)
        output, _ = again.communicate(timeout=PATIENCE_S)
        assert again.returncode == 0
        assert sorted(output.splitlines(keepends=True)) == sorted(printed)
        assert spent(tmp_path) == [BUDGET]
        third = command(tmp_path, internet, subprocess.PIPE)
        third.communicate(timeout=PATIENCE_S)
        assert third.returncode == 0
        assert spent(tmp_path) == [BUDGET, BUDGET], "a command that ended begins anew"
