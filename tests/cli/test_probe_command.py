"""`ipmicra probe` and `ipmicra agent` as a user runs them."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError
from ipmicra.model.sample import Loss
from tests.cli.command_line import invoked, ran, told
from tests.loopback_worlds import address_of, small_world
from tests.patience import measured_until
from tests.servers.dns_server import DnsServer, Zone
from tests.servers.evil_agent import BROKEN, EvilAgent
from tests.servers.refusing import refusing_port


@pytest.fixture(scope="module")
def internet() -> Iterator[LoopbackInternet]:
    with LoopbackInternet(small_world(4, lost=frozenset({3}))) as running:
        yield running


@pytest.fixture
def home(tmp_path: Path, internet: LoopbackInternet, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IPMICRA_AGENT_TOKEN", internet.token)
    for crawler in internet.crawlers.values():
        words = ("add", crawler.name, str(crawler.address), "--agent-url", str(crawler.agent_url))
        assert invoked("--home", tmp_path, "crawler", *words).exit_code == 0
    return tmp_path


def target(internet: LoopbackInternet, number: int) -> str:
    return f"http://{address_of(number)}:{internet.port}/"


def probed(home: Path, *words: str, code: int = 0) -> list[dict[str, Any]]:
    result = invoked("--home", home, "probe", *words, "--first-rung", "head", "--json")
    assert result.exit_code == code, (result.output, result.exception)
    content: list[dict[str, Any]] = json.loads(result.stdout)
    return content


def test_all_crawlers_probe_all_targets_and_samples_are_kept(home: Path, internet: LoopbackInternet) -> None:
    def excess_ms(one: dict[str, Any]) -> float:
        truth_ms = internet.world.rtt_ms[one["crawler"], address_of(int(one["address"][-1]) - 1)]
        return float(one["rtt_ms"]) - truth_ms

    def probed_all() -> list[dict[str, Any]]:
        found = probed(home, target(internet, 0), target(internet, 1), "--from", "all")
        assert len(found) == 4
        assert all(one["first_byte_ms"] >= one["rtt_ms"] for one in found)
        return found

    rounds = measured_until(probed_all, lambda found: all(excess_ms(one) < 60 for one in found))
    assert all(excess_ms(one) >= 0 for found in rounds for one in found)
    with Store.open(str(home / "state.db")) as store:
        assert store.samples.count() == 4 * len(rounds)


def test_lost_probe_ends_with_the_code_for_done_in_part(home: Path, internet: LoopbackInternet) -> None:
    words = (target(internet, 0), target(internet, 3), "--from", "ath", "--timeout-ms", "700")
    found = probed(home, *words, code=3)
    assert sorted(str(one["loss"]) for one in found) == ["None", "timeout"]


def test_budget_is_not_exceeded(home: Path, internet: LoopbackInternet) -> None:
    words = [target(internet, i) for i in range(3)]
    found = probed(home, *words, "--from", "all", "--probe-budget", "2", code=3)
    assert sum(one["loss"] == Loss.BUDGET for one in found) == 4


@pytest.mark.parametrize("answer", BROKEN)
def test_hostile_answer_is_a_lost_probe_and_the_honest_ones_count(
    home: Path, internet: LoopbackInternet, answer: str
) -> None:
    with EvilAgent(BROKEN[answer]) as agent:
        invoked("--home", home, "crawler", "add", "evil", "198.51.99.9", "--agent-url", agent.url)
        found = probed(home, target(internet, 0), "--from", "all", code=3)
    assert {one["crawler"]: one["loss"] for one in found} == {"ath": None, "nyc": None, "evil": "agent"}


def test_unreachable_agent_is_marked_in_the_fleet(home: Path, internet: LoopbackInternet) -> None:
    with refusing_port() as closed:
        url = f"http://127.0.0.1:{closed}"
        invoked("--home", home, "crawler", "add", "dead", "198.51.99.9", "--agent-url", url)
        probed(home, target(internet, 0), "--from", "dead", code=1)
    listed = json.loads(invoked("--home", home, "crawler", "list", "--json").stdout)
    assert {one["name"]: one["state"] for one in listed} == {
        "ath": "joined",
        "dead": "silent",
        "nyc": "joined",
    }


def test_probe_from_here_refuses_what_is_not_public_unless_allowed(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        word = f"http://127.0.0.1:{listening.getsockname()[1]}"
        refused = invoked("--home", tmp_path, "probe", word, "--json")
        allowed = invoked("--home", tmp_path, "probe", word, "--allow", "127.0.0.0/8", "--json")
    assert refused.exit_code == 1
    assert json.loads(refused.stdout)[0]["loss"] == "refused-order"
    assert allowed.exit_code == 0
    assert json.loads(allowed.stdout)[0]["rung"] == "tcp"


def test_names_are_resolved_pinned_and_missing_ones_told(
    home: Path, internet: LoopbackInternet, monkeypatch: pytest.MonkeyPatch
) -> None:
    zones = {name: Zone(addresses=(str(address_of(0)),)) for name in ("one.example", "two.example")}
    with DnsServer(zones) as server:
        monkeypatch.setattr("ipmicra.edge.dns.client.system_servers", lambda: (server.place,))
        words = [f"http://{name}.example:{internet.port}" for name in ("one", "two", "three")]
        result = invoked("--home", home, "probe", *words, "--from", "ath", "--first-rung", "head", "--json")
    assert result.exit_code == 3
    assert "three.example" in result.stderr
    found = json.loads(result.stdout)
    assert [one["target"] for one in found] == ["one.example", "two.example"]
    assert len({one["rtt_ms"] for one in found}) == 1
    with Store.open(str(home / "state.db")) as store:
        assert store.samples.count() == 1
        assert {site.host for site in store.sites.at(address_of(0))} == {"one.example", "two.example"}


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("probe", "192.0.2.1", "--from", "nobody"), "there is no crawler"),
        (("probe", "192.0.2.1", "--from", "all"), "no crawler has an agent"),
        (("agent", "--listen", "here"), "HOST:PORT"),
        (("agent",), "needs a token"),
    ],
)
def test_mistake_is_told_with_the_next_step(tmp_path: Path, words: tuple[str, ...], complaint: str) -> None:
    result = invoked("--home", tmp_path, *words)
    assert isinstance(result.exception, InputError)
    assert complaint in str(result.exception)


def test_agent_on_a_port_that_is_taken_says_so(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        done = ran("agent", "--listen", place, IPMICRA_AGENT_TOKEN="a-token-for-tests-only")
    assert done.returncode == 1
    assert place in told(done)
