"""Batches of a coordinator: on the same machine as questions, with results and a budget of their own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.delegating_worlds import nearest_of, seeds_of
from tests.patience import wait_until
from tests.servers.coordinator import RunningCoordinator
from tests.servers.internet_process import InternetProcess
from tests.service.conftest import CRAWLERS, SITES


def started(coordinator: RunningCoordinator, seeds: list[str], **parameters: Any) -> dict[str, Any]:
    response = coordinator.ask("POST", "/v1/batches", params=parameters, data="\n".join(seeds).encode())
    assert response.status_code == 202, response.text
    found: dict[str, Any] = response.json()
    return found


def over(coordinator: RunningCoordinator, number: int) -> dict[str, Any]:
    """The batch when it is over."""
    lines = coordinator.get(f"/v1/batches/{number}/progress").text.splitlines()
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def results(coordinator: RunningCoordinator, number: int) -> dict[str, dict[str, Any]]:
    lines = [json.loads(one) for one in coordinator.get(f"/v1/batches/{number}/results").text.splitlines()]
    assert lines[-1]["cursor"] > 0
    return {one["host"]: one for one in lines if "host" in one}


def test_batch_answers_every_host_and_stays_to_be_read(
    coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    seeds = seeds_of(SITES, internet.port)
    one = started(coordinator, [*seeds, seeds[0], "no host!"], words="all of them")
    done = over(coordinator, one["id"])
    assert (done["state"], done["sites"], done["doubles"], done["missing"]) == ("done", SITES, 1, 1)
    assert done["examples"][0]["seed"] == "no host!"
    found = results(coordinator, one["id"])
    assert sorted(row["crawler"] for row in found.values()) == sorted(
        nearest_of(i, CRAWLERS) for i in range(SITES)
    )
    assert done["probes"] == sum(row["probes"] for row in found.values())
    listed = coordinator.get("/v1/batches").json()
    assert [(row["id"], row["words"], row["state"]) for row in listed["batches"]] == [
        (one["id"], "all of them", "done")
    ]


def test_batch_pays_only_for_what_it_opened(
    coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    seeds = seeds_of(6, internet.port)
    before = coordinator.owners(seeds)
    done = over(coordinator, started(coordinator, seeds)["id"])
    assert (done["sites"], done["probes"]) == (6, 0)
    assert all(one["source"] == "assignment" for one in before)


@pytest.mark.parametrize("budget", [0, 5])
def test_budget_of_a_batch_is_never_exceeded_and_does_not_bind_questions(
    coordinator: RunningCoordinator, internet: InternetProcess, budget: int
) -> None:
    seeds = seeds_of(12, internet.port)
    done = over(coordinator, started(coordinator, seeds, probe_budget=budget)["id"])
    assert (done["sites"], done["state"], done["probe_budget"]) == (12, "done", budget)
    assert done["probes"] <= budget
    last = coordinator.owner(seeds_of(14, internet.port)[13])
    assert (last["crawler"], last["evidence"]) == (nearest_of(13, CRAWLERS), "probed")
    # What an empty budget kept a batch from measuring is measured for whoever asks next.
    again = over(coordinator, started(coordinator, seeds)["id"])
    assert again["probes"] >= CRAWLERS * 12 / 2 - budget - CRAWLERS


def test_cancelled_batch_keeps_its_results_and_is_over(
    coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    one = started(coordinator, [*seeds_of(2, internet.port), "192.0.2.77"])
    wait_until(lambda: coordinator.get(f"/v1/batches/{one['id']}").json()["sites"] >= 1, "a result")
    gone = coordinator.ask("POST", f"/v1/batches/{one['id']}/cancel").json()
    assert gone["state"] in {"cancelled", "done"}
    assert coordinator.get(f"/v1/batches/{one['id']}").json()["state"] == gone["state"]
    assert results(coordinator, one["id"])


def test_there_is_no_batch_of_an_unknown_number(coordinator: RunningCoordinator) -> None:
    for path in ("/v1/batches/99", "/v1/batches/99/results", "/v1/batches/x/progress"):
        assert coordinator.get(path).status_code == 404
