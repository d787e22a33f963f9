"""A batch that resolves at agents goes on after it was killed: nothing is measured or paid for twice."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ipmicra.edge.store.store import Store
from ipmicra.model.sample import Loss
from tests.patience import PATIENCE_S
from tests.scattered_worlds import HOSTS, NEAR_MS, ScatteredWorld, running_world

KILLS, BUDGET = 3, 40
SEEN = [host for host in HOSTS if host not in {"gone.example", "lost.example"}]


def started(home: Path, world: ScatteredWorld) -> subprocess.Popen[str]:
    words = ["--first-rung", "head", "--samples", "1", "--location", "none", "--json"]
    agents = ["--resolve-at", "agents", "--near-ms", str(NEAR_MS), "--probe-budget", str(BUDGET)]
    seeds = [world.seed(host) for host in SEEN]
    return subprocess.Popen(
        [sys.executable, "-m", "ipmicra", "--home", str(home), "delegate", *seeds, *words, *agents],
        env={**os.environ, "IPMICRA_AGENT_TOKEN": world.internet.token},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def events(world: ScatteredWorld) -> int:
    """Count what reached DNS servers and sites."""
    return world.questions() + sum(world.internet.servers.requests.values())


@pytest.mark.slow
def test_killed_batch_finds_what_agents_saw_and_measured(tmp_path: Path) -> None:
    """Kill it some events after it began, again and again; the last run is left alone."""
    chance = random.Random(3)
    with running_world() as world:
        home, kills = world.prepare(tmp_path), 0
        for _ in range(KILLS):
            child, until = started(home, world), events(world) + chance.randint(1, 8)
            deadline_s = time.monotonic() + PATIENCE_S
            while events(world) < until and child.poll() is None and time.monotonic() < deadline_s:
                time.sleep(0.002)
            kills += child.poll() is None
            child.kill()
            child.communicate()
        rows = {
            row["host"]: row for row in json.loads(started(home, world).communicate(timeout=PATIENCE_S)[0])
        }
        assert kills > 1
        assert set(rows) == set(SEEN)
        chosen = {host: rows[host]["crawler"] for host in ("geo.example", "part.example", "six.example")}
        assert chosen == {"geo.example": "tok", "part.example": "tok", "six.example": "fra"}
        with Store.open(str(home / "state.db")) as store:
            name = f"delegate {store.batches.all()[0].id}"
            assert store.budget.unanswered(name) == []
            assert store.budget.state(name).spent == len(store.budget.answered(name)) <= BUDGET
            for address, count in world.internet.servers.requests.items():
                taken = [one.crawler for one in store.samples.of(address) if one.loss is not Loss.AGENT]
                assert len(set(taken)) == len(taken) == count
