"""Everything by the command line: `serve`, `token add --role join`, `agent --join-file`, questions."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator

import pytest

from ipmicra.edge.store.store import Store
from tests.cli.command_line import invoked
from tests.patience import wait_until
from tests.servers.calling_fleet import CallingFleet, calling_fleet
from tests.servers.page_session import page_of, signed_in


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CallingFleet]:
    with calling_fleet(tmp_path_factory.mktemp("nat"), is_secure=True) as running:
        yield running


def test_owner_is_found_by_agents_that_have_no_open_port(fleet: CallingFleet) -> None:
    hosts = [fleet.site(1, number) for number in range(6)]
    owners = fleet.coordinator.owners(hosts)
    assert {owner["crawler"] for owner in owners} <= {"c0", "c1"}
    assert {owner.get("problem") for owner in owners} == {None}
    probed = [one["address"] for agent in fleet.agents.values() for one in agent.targets()]
    assert set(probed) <= {f"127.1.0.{number + 1}" for number in range(6)}
    assert probed


def test_crawlers_are_listed_with_how_they_are_reached(fleet: CallingFleet) -> None:
    assert {one["agent_url"] for one in fleet.crawlers().values()} == {"callout:c0", "callout:c1"}
    assert "callout:c0" in fleet.cli("crawler", "list")


def test_crawlers_behind_nat_measure_each_other_through_the_coordinator(fleet: CallingFleet) -> None:
    """Their agents may not probe each other's addresses here, which is a loss of the agent's own."""
    planned = fleet.coordinator.ask("POST", "/v1/crawlers/measure", json={"dry_run": True}).json()
    assert (planned["probes"], planned["samples"]) == (2, [])
    done = invoked("--home", fleet.home, "crawler", "measure", "--json")
    samples = json.loads(done.stdout)
    assert {(one["crawler"], one["target"]) for one in samples} == {("c0", "c1"), ("c1", "c0")}
    assert {one["loss"] for one in samples} == {"refused-order"}
    assert "2 probes: 2 crawlers measure 2" in done.stderr
    assert fleet.coordinator.ask("POST", "/v1/crawlers/measure", json={"names": ["x"]}).status_code == 422


def test_page_and_metrics_tell_of_agents_that_nobody_can_reach(fleet: CallingFleet) -> None:
    page = page_of(signed_in(fleet.coordinator), fleet.coordinator, "/")
    rows = [tag.text for tag in page.all("tr") if tag.text.startswith(("c0", "c1"))]
    assert [row[2:].startswith("joinednowcalls out") for row in rows] == [True, True]
    text = fleet.coordinator.get("/metrics").text
    for name in ("ipmicra_agent_seen_timestamp_seconds", "ipmicra_agent_answers_ignored_total"):
        for crawler in ("c0", "c1"):
            assert f'{name}{{crawler="{crawler}"}}' in text


def test_no_token_is_in_any_log(fleet: CallingFleet) -> None:
    logs = [fleet.coordinator.log(), *(agent.log() for agent in fleet.agents.values())]
    secrets = [(agent.folder / "join").read_text().strip() for agent in fleet.agents.values()]
    secrets += [text.partition(".")[0] for text in secrets]
    assert not [secret for secret in secrets for log in logs if secret in log]
    assert not [log for log in logs if "ipm_a_" in log.replace("ipm_a_***", "")]


def test_agent_that_is_stopped_falls_silent_and_comes_back(fleet: CallingFleet) -> None:
    """Its identity is enough: the join token was used up."""
    agent = fleet.agents["c1"]
    assert agent.end(signal.SIGTERM) == 0
    fleet.wait_for("c1", state="silent")
    agent.start()
    fleet.wait_for("c1")


def test_removed_agent_ends_with_a_sentence(fleet: CallingFleet) -> None:
    extra = fleet.add_agent("c9", 9)
    fleet.wait_for("c9")
    assert fleet.coordinator.ask("DELETE", "/v1/crawlers/c9").status_code == 200
    wait_until(lambda: not extra.is_running, "the agent to end")
    assert "was removed from the fleet" in extra.log()
    assert extra.process is not None
    assert extra.process.returncode == 1


def test_agent_leaves_by_itself(fleet: CallingFleet) -> None:
    extra = fleet.add_agent("c8", 8)
    fleet.wait_for("c8")
    extra.end(signal.SIGTERM)
    extra.words = ["--leave"]
    extra.start()
    assert extra.process is not None
    assert extra.process.wait() == 0, extra.log()
    fleet.wait_for("c8", state="left")
    assert not (extra.folder / "agent-identity.json").exists()


def test_killed_coordinator_comes_back_to_agents_that_poll(fleet: CallingFleet) -> None:
    fleet.coordinator.kill()
    port = fleet.coordinator.url.rpartition(":")[2]
    fleet.coordinator._words = (*fleet.coordinator._words, "--listen", f"127.0.0.1:{port}")
    fleet.coordinator.start()
    fleet.wait_for("c0", "c1")
    owners = fleet.coordinator.owners([fleet.site(2, number) for number in range(4)])
    assert {owner.get("problem") for owner in owners} == {None}
    with Store.open(str(fleet.home / "state.db")) as store:
        budgets = [f"batch {one.id}" for one in store.batches.all()]
        assert budgets
    targets = [one["order"] for agent in fleet.agents.values() for one in agent.targets()]
    assert len(targets) == len(set(targets))


def test_draining_crawler_gets_no_new_site_and_is_removed_at_once(fleet: CallingFleet) -> None:
    """By the command line, against the coordinator that holds the home; its agent ends by itself."""
    fleet.wait_for("c0", "c1")
    assert '"draining"' in fleet.cli("crawler", "drain", "c1")
    owners = fleet.coordinator.owners([fleet.site(3, number) for number in range(6)])
    assert {owner["crawler"] for owner in owners} == {"c0"}
    assert '"left"' in fleet.cli("crawler", "remove", "c1", "--now")
    wait_until(lambda: not fleet.agents["c1"].is_running, "the agent to end")
    again = fleet.coordinator.owners([fleet.site(1, number) for number in range(6)])
    assert {owner["crawler"] for owner in again} == {"c0"}
