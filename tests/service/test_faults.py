"""A coordinator that is killed, stopped, given new files, or asked by two at once."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests

from ipmicra.edge.store.store import Store
from ipmicra.model.sample import Loss
from tests.cli.command_line import built_file
from tests.delegating_worlds import nearest_of, seeds_of, site_address, subnet_dump
from tests.patience import wait_until
from tests.servers.coordinator import RunningCoordinator
from tests.servers.internet_process import InternetProcess
from tests.service.conftest import CRAWLERS, SITES, coordinator_of, prepared
from tests.service.test_batches import over, results, started


def check_probes(home: Path, asked: Counter[str], sites: int) -> None:
    """No pair of crawler and site was probed twice, every order has its answer, and budgets hold."""
    with Store.open(str(home / "state.db")) as store:
        for batch in store.batches.all():
            name = f"delegate {batch.id}"
            state = store.budget.state(name)
            assert store.budget.unanswered(name) == []
            assert len(store.budget.answered(name)) == state.spent
            assert state.total is None or state.spent <= state.total
        for number in range(sites):
            address = site_address(number)
            probed = [one for one in store.samples.of(address) if one.loss not in {Loss.AGENT, Loss.BUDGET}]
            assert len({one.crawler for one in probed}) == len(probed), address
            assert asked[str(address)] == len(probed)


def requests_of(internet: InternetProcess) -> Counter[str]:
    return Counter({str(address): count for address, count in internet.requests().items()})


def test_two_who_ask_for_the_same_new_host_get_one_decision_and_one_probe(
    coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    before, seed = requests_of(internet), seeds_of(1, internet.port)[0]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: coordinator.owner(seed), range(8)))
    assert all(one == found[0] for one in found)
    assert requests_of(internet)[str(site_address(0))] - before[str(site_address(0))] == CRAWLERS


@pytest.mark.slow
def test_killed_coordinator_loses_nothing_and_asks_nothing_twice(
    tmp_path: Path, internet: InternetProcess
) -> None:
    """Kill in the middle of batches and of lists, again and again; then everything is as if nothing was."""
    home, chance, before = prepared(tmp_path, internet), random.Random(7), requests_of(internet)
    coordinator = coordinator_of(home, internet, "--policy", "everyone")
    seeds = seeds_of(SITES, internet.port)
    numbers: list[int] = []
    answered: dict[str, str] = {}
    for turn in range(6):
        coordinator.start()
        if turn == 0:
            numbers = [started(coordinator, seeds[:16])["id"]]
            numbers.append(started(coordinator, seeds[8:20], probe_budget=9)["id"])
        asking = threading.Thread(target=listen, args=(coordinator, seeds[12:], answered))
        asking.start()
        time.sleep(chance.uniform(0.0, 0.6))
        coordinator.kill()
        asking.join()
    with coordinator:
        for number in numbers:
            assert over(coordinator, number)["state"] == "done"
        assert len(results(coordinator, numbers[0])) == 16
        owners = {one["host"]: one["crawler"] for one in coordinator.owners(seeds[12:])}
        assert answered.items() <= owners.items()  # what was once answered stays
        assert coordinator.get(f"/v1/batches/{numbers[1]}").json()["probes"] <= 9
        assert coordinator.stop() == 0
    check_probes(home, requests_of(internet) - before, SITES)


def listen(coordinator: RunningCoordinator, seeds: list[str], answered: dict[str, str]) -> None:
    """Ask for owners, and keep what was heard before the coordinator was gone."""
    try:
        response = requests.post(
            f"{coordinator.url}/v1/owners",
            data="\n".join(seeds).encode(),
            headers={"Authorization": f"Bearer {coordinator.token}"},
            stream=True,
            timeout=60,
        )
        for line in response.iter_lines():
            one: dict[str, Any] = json.loads(line)
            if "crawler" in one:
                answered[one["host"]] = one["crawler"]
    except (requests.RequestException, ValueError):
        pass


def test_stopped_coordinator_finishes_what_it_answers_and_removes_its_file(
    coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    seeds = seeds_of(SITES, internet.port)
    with ThreadPoolExecutor(1) as threads:
        before = requests_of(internet).total()
        under_way = threads.submit(coordinator.owners, seeds)
        wait_until(lambda: requests_of(internet).total() > before, "the first probe")
        assert coordinator.stop() == 0
        found = under_way.result()
    assert [one["crawler"] for one in found] == [nearest_of(i, CRAWLERS) for i in range(SITES)]
    assert not (coordinator.home / "coordinator.json").exists()
    assert [one["event"] for one in coordinator.events()][-1] == "coordinator_stopped"


def test_new_edition_is_loaded_while_it_runs_and_delegations_are_carried_over(
    coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    seeds = seeds_of(4, internet.port)
    before = coordinator.owners(seeds)
    dump = subnet_dump(SITES // 2).replace("netname: N0\n", "netname: RENAMED\n")
    built_file(coordinator.home, dump, "hierarchy.ipm")

    def netname() -> str:
        found = coordinator.get("/v1/lookup", target=str(site_address(0))).json()
        return str(found["lineage"][-1]["netname"])

    wait_until(lambda: netname() == "RENAMED", "the new edition")
    assert coordinator.owners(seeds) == before
    assert coordinator.owner(seeds_of(6, internet.port)[5])["crawler"] == nearest_of(5, CRAWLERS)
    (coordinator.home / "hierarchy.ipm").write_bytes(b"no hierarchy")
    wait_until(lambda: "edition_refused" in coordinator.log(), "the refusal")
    assert coordinator.owners(seeds) == before


def test_crawler_that_leaves_hands_over_what_is_asked_for(
    coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    seeds = seeds_of(4, internet.port)
    before = coordinator.owners(seeds)
    leaver = before[0]["crawler"]
    assert coordinator.ask("DELETE", f"/v1/crawlers/{leaver}").status_code == 200
    after = coordinator.owners(seeds)
    assert all(one["crawler"] != leaver for one in after)
    kept = [(one, two) for one, two in zip(before, after, strict=True) if one["crawler"] != leaver]
    assert kept
    assert all(one == two for one, two in kept)
    changes = coordinator.get("/v1/assignments", crawler=leaver).json()["changes"]
    lost = {one["host"] for one in changes if one["change"] == "lost"}
    assert lost == {one["host"] for one in before if one["crawler"] == leaver}


def test_crawler_that_leaves_now_hands_over_everything_at_once(
    coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    before = coordinator.owners(seeds_of(8, internet.port))
    leaver = before[0]["crawler"]
    assert coordinator.ask("DELETE", f"/v1/crawlers/{leaver}", params={"now": "true"}).status_code == 200

    def holders() -> set[str]:
        text = coordinator.get("/v1/export", format="jsonl").text
        return {json.loads(line)["crawler"] for line in text.splitlines()}

    wait_until(lambda: leaver not in holders(), "the handover")


def test_export_has_a_tag_that_saves_reading_it_again(
    coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    coordinator.owners(seeds_of(4, internet.port))
    first = coordinator.get("/v1/export")
    lines = first.text.splitlines()
    assert (len(lines), lines[0].split(",")[0]) == (5, "host")
    again = coordinator.ask("GET", "/v1/export", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    coordinator.owner(seeds_of(6, internet.port)[5])
    newer = coordinator.ask("GET", "/v1/export", headers={"If-None-Match": first.headers["ETag"]})
    assert newer.status_code == 200
