"""A coordinator that is killed resumes where it stopped: nothing is asked twice, nothing is lost."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from ipmicra.edge.store.store import Store
from ipmicra.model.sample import Loss, Sample
from tests.delegating_worlds import enrol, hierarchy_of, site_address
from tests.patience import PATIENCE_S
from tests.servers.batch_process import BatchOrder, BatchProcesses
from tests.servers.internet_process import InternetProcess

SITES, CRAWLERS, KILLS, MOST_KILLS = 120, 3, 50, 20
"""Kills in all, and of one batch before it may end."""


def prepared(folder: Path, internet: InternetProcess) -> Path:
    folder.mkdir()
    hierarchy_of(folder, SITES)
    with Store.open(str(folder / "state.db")) as store:
        enrol(store, internet.fleet())
    return folder


def has_ended(folder: Path) -> bool:
    with Store.open(str(folder / "state.db")) as store:
        return any(one.ended_s is not None for one in store.batches.all())


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
    with InternetProcess(SITES, CRAWLERS) as internet, BatchProcesses() as batches:
        before: Counter[str] = Counter()
        for turn in range(40):
            policy, budget = (("everyone", None), ("predict", SITES * CRAWLERS), ("predict", 60))[turn % 3]
            folder = prepared(tmp_path / str(turn), internet)
            order = BatchOrder(
                folder=str(folder),
                sites=SITES,
                port=internet.port,
                token=internet.ready["token"],
                policy=policy,
                budget=budget,
            )
            for _ in range(MOST_KILLS):
                if not batches.is_killed(order, chance.uniform(0.01, 0.25)):
                    break
                kills += 1
                if has_ended(folder):  # it was killed on its way out; another run would be another batch
                    break
            else:
                assert not batches.is_killed(order, PATIENCE_S)
            found = order.run() if turn % 2 else {}
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
