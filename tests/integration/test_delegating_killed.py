"""A coordinator that is killed goes on where it was: nothing is asked twice, nothing is lost."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from ipmicra.app.delegating.batch import Batch
from ipmicra.app.delegating.options import DelegateOptions
from ipmicra.edge.coordinator.orders import DeskConfig
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.connection import ConnectionConfig
from ipmicra.edge.store.store import Store
from ipmicra.model.sample import Loss, Rung, Sample
from tests.delegating_worlds import enrol, hierarchy_of, seeds_of, site_address
from tests.patience import PATIENCE_S
from tests.servers.internet_process import InternetProcess

SITES, CRAWLERS, KILLS, MOST_KILLS = 120, 3, 50, 20
"""Kills in all, and of one batch before it may end."""
QUICK = ConnectionConfig(synchronous="OFF")
"""The machine stays up, so what a killed process wrote is there."""


def options(internet: InternetProcess, policy: str, budget: int | None) -> DelegateOptions:
    return DelegateOptions(
        policy=policy,
        probe_budget=budget,
        location="none",
        desk=DeskConfig(samples=1, first_rung=Rung.HEAD, timeout_ms=1000.0),
        access=internet.access,
    )


def run(folder: Path, internet: InternetProcess, policy: str, budget: int | None) -> dict[str, str]:
    """Run a batch to its end; give the crawler of each host."""
    found: dict[str, str] = {}
    with (
        Hierarchy.open(folder / "hierarchy.ipm") as hierarchy,
        Store.open(str(folder / "state.db"), QUICK) as store,
    ):
        batch = Batch(
            store,
            hierarchy,
            options(internet, policy, budget),
            lambda result: found.update({result.host: result.crawler}),
        )
        report = batch.run(["seeds"], seeds_of(SITES, internet.port))
    assert report.is_complete
    return found


def killed(folder: Path, internet: InternetProcess, policy: str, budget: int | None, after_s: float) -> bool:
    """Run a batch in a process of its own and kill it after a while; tell whether it had not ended."""
    child = os.fork()
    if not child:
        try:
            run(folder, internet, policy, budget)
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the parent reads the code
            os._exit(9)
    until_s = time.monotonic() + after_s
    while time.monotonic() < until_s:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert os.waitstatus_to_exitcode(status) == 0
            return False
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
    return os.WIFSIGNALED(status)


def prepared(folder: Path, internet: InternetProcess) -> Path:
    folder.mkdir()
    hierarchy_of(folder, SITES)
    with Store.open(str(folder / "state.db")) as store:
        enrol(store, internet.fleet())
    return folder


def check(folder: Path, asked: Counter[str], budget: int | None) -> None:
    """See that every order has its answer and that no site was probed twice by a crawler."""
    with Store.open(str(folder / "state.db")) as store:
        (batch,) = store.batches.all()
        name = f"delegate {batch.id}"
        state = store.budget.state(name)
        assert store.budget.unanswered(name) == []
        assert budget is None or state.spent <= budget
        orders = store.budget.answered(name)
        assert len(orders) == state.spent
        answers = {
            (one.crawler, one.address): store.samples.latest(one.address).get(one.crawler)
            for one in orders
            if one.address
        }
        assert all(answers.values())
        for number in range(SITES):
            address = site_address(number)
            probed_by = [
                sample for sample in store.samples.of(address) if sample.loss not in {Loss.AGENT, Loss.BUDGET}
            ]
            assert len({sample.crawler for sample in probed_by}) == len(probed_by)
            assert asked[str(address)] == len(probed_by)


@pytest.mark.slow
def test_killed_batch_goes_on_without_asking_twice_and_without_losing_a_probe(tmp_path: Path) -> None:
    """Kill at random points, fifty times and more, over several batches; compare with undisturbed runs."""
    chance = random.Random(5)
    kills = 0
    with InternetProcess(SITES, CRAWLERS) as internet:
        before: Counter[str] = Counter()
        for turn in range(40):
            policy, budget = (("everyone", None), ("predict", SITES * CRAWLERS), ("predict", 60))[turn % 3]
            folder = prepared(tmp_path / str(turn), internet)
            for _ in range(MOST_KILLS):
                if not killed(folder, internet, policy, budget, chance.uniform(0.01, 0.25)):
                    break
                kills += 1
            else:
                killed(folder, internet, policy, budget, PATIENCE_S)
            found = run(folder, internet, policy, budget) if turn % 2 else {}
            now = Counter({str(address): count for address, count in internet.requests().items()})
            check_all(folder, found, policy, now - before, budget)
            before = now
            if kills >= KILLS and turn >= 3:
                break
    assert kills >= KILLS


def check_all(
    folder: Path, found: dict[str, str], policy: str, asked: Counter[str], budget: int | None
) -> None:
    with Store.open(str(folder / "state.db")) as store:
        results = {one.host: one.crawler for one in store.results.all(1)}
        samples = {str(site_address(i)): store.samples.latest(site_address(i)) for i in range(SITES)}
    assert set(results) == set(samples)
    if policy == "everyone":
        assert all(len(known) == CRAWLERS for known in samples.values())
        assert results == {host: nearest(known) for host, known in samples.items()}
        assert not found or found == results
    if not found:
        check(folder, asked, budget)


def nearest(known: dict[str, Sample]) -> str:
    return min(known, key=lambda name: known[name].rtt_ms or float("inf"))
