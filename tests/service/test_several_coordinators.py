"""Several coordinators on one PostgreSQL: each site is decided once, whoever is asked, killed or stopped."""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import IPv4Address, ip_address
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ipmicra.edge.coordinator.access import hash_of, make_token
from ipmicra.edge.store.store import Store
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import Crawler
from ipmicra.model.site import Site
from ipmicra.model.token import Role, TokenRecord
from ipmicra.wire.peers import PeerWish, encode_wishes
from tests.cli.command_line import built_file
from tests.delegating_worlds import PER_SUBNET, enrol, nearest_of, seeds_of
from tests.patience import PATIENCE_S, wait_until
from tests.servers.calling_fleet import calling_fleet
from tests.servers.coordinator import RunningCoordinator
from tests.servers.internet_process import InternetProcess
from tests.servers.page_session import signed_in
from tests.service.conftest import CRAWLERS, SITES, coordinator_of

LEASE_S = 3.0
WORDS = ("--policy", "everyone", "--lease-s", str(LEASE_S))


def top_level_dump(subnets: int) -> str:
    """Subnets of eight addresses directly below the root, so that they fall into different sectors."""
    start = int(IPv4Address("203.0.112.0"))
    return "".join(
        f"inetnum: {IPv4Address(start + 8 * i)} - {IPv4Address(start + 8 * i + 7)}\n"
        f"netname: N{i}\ncountry: GR\nsource: RIPE\n\n"
        for i in range(subnets)
    )


@pytest.fixture
def pair(
    tmp_path: Path, internet: InternetProcess, postgres_url: str
) -> Iterator[tuple[RunningCoordinator, RunningCoordinator]]:
    """Two coordinators on one database, each with a home of its own."""
    with Store.open(postgres_url) as store:
        enrol(store, internet.fleet())
    homes = [tmp_path / name for name in ("one", "two")]
    for home in homes:
        home.mkdir()
        built_file(home, top_level_dump(SITES // PER_SUBNET), "hierarchy.ipm")
    first, second = (
        coordinator_of(home, internet, *WORDS, "--store", postgres_url, "--name", home.name) for home in homes
    )
    with first:
        (homes[1] / "operator.token").write_text(first.token)
        with second:
            wait_until(lambda: sectors(postgres_url) == [32, 32], "the tree is dealt out")
            yield first, second


def sectors(url: str) -> list[int]:
    """Count the sectors of each holder."""
    with Store.open(url) as store:
        held = Counter(one.holder for one in store.leases.all() if one.name.startswith("sector "))
    return sorted(held.values())


def decided_again(url: str) -> int:
    """Count delegations that another one replaced."""
    with Store.open(url) as store:
        found = store.connection.row("SELECT count(*) FROM delegation_history")
    return int(found[0]) if found else 0


def probed(url: str) -> Counter[tuple[str, str]]:
    """Count the samples of each pair of crawler and address."""
    with Store.open(url) as store:
        return Counter((one.crawler, str(one.address)) for one in store.samples.newest(10_000))


@contextmanager
def stopped_while_it_decides(coordinator: RunningCoordinator, url: str) -> Iterator[None]:
    """Stop a coordinator in the middle of its work; inside, another one has taken it over."""
    wait_until(lambda: bool(probed(url)), "it is deciding")
    os.kill(coordinator.pid, signal.SIGSTOP)
    try:
        wait_until(lambda: sectors(url) == [64], "the other takes over")
        yield
    finally:
        os.kill(coordinator.pid, signal.SIGCONT)


def test_both_give_the_same_answers_and_each_pair_is_probed_once(
    pair: tuple[RunningCoordinator, RunningCoordinator], internet: InternetProcess, postgres_url: str
) -> None:
    seeds = seeds_of(SITES, internet.port)
    with ThreadPoolExecutor(2) as pool:
        here, there = pool.map(lambda one: one.owners(seeds), pair)
    expected = [nearest_of(i, CRAWLERS) for i in range(SITES)]
    assert [one.get("crawler") for one in here] == expected, str(here)
    assert [one.get("crawler") for one in there] == expected, str(there)
    counts = probed(postgres_url)
    assert set(counts.values()) == {1}
    assert len(counts) == CRAWLERS * SITES
    assert decided_again(postgres_url) == 0
    ready = pair[0].get("/v1/ready").json()
    assert ready["coordinators"] == {"one": pair[0].url, "two": pair[1].url}
    page = signed_in(pair[0]).get(pair[0].url, timeout=PATIENCE_S).text
    assert "2 coordinators on this database" in page
    assert all(one.url in page for one in pair)


def test_question_of_a_coordinator_that_arrives_twice_moves_no_site(
    pair: tuple[RunningCoordinator, RunningCoordinator], internet: InternetProcess, postgres_url: str
) -> None:
    """A network may deliver a request once more, long after its answer was used."""
    seeds = seeds_of(SITES, internet.port)
    pair[0].owners(seeds)
    text = make_token(Role.PEER)
    with Store.open(postgres_url) as store:
        store.tokens.add(TokenRecord(name="three", role=Role.PEER, hash=hash_of(text), created_s=0.0))
        held = store.assignments.all()
        names = sorted({str(one.crawler) for one in held})
        moved = [replace(one, crawler=names[names.index(str(one.crawler)) - 1]) for one in held]
        store.assignments.put_many(moved)
    wishes = [PeerWish(site=Site(one.host, one.address), assigns=True) for one in held]
    for one in pair:
        asked = one.ask("POST", "/v1/peers/decide", data=encode_wishes(wishes), token=text)
        assert asked.status_code == 200, asked.text
        assert len(asked.text.splitlines()) == len(wishes)
    with Store.open(postgres_url) as store:
        assert {one.host: one.crawler for one in store.assignments.all()} == {
            one.host: one.crawler for one in moved
        }


def test_owner_that_joined_a_moment_ago_at_another_coordinator_is_not_taken_for_gone(
    pair: tuple[RunningCoordinator, RunningCoordinator], internet: InternetProcess, postgres_url: str
) -> None:
    """What others write is read every two seconds; an assignment may be newer than that."""
    (seed,) = seeds_of(1, internet.port)
    host = urlsplit(seed).hostname or ""
    with Store.open(postgres_url) as store, store.transaction():
        late = Crawler(name="late", address=ip_address("198.51.100.99"), agent_url="http://127.0.0.1:9")
        enrol(store, [late])
        store.assignments.put_many(
            [Assignment(host=host, address=ip_address(host), crawler="late", reason="by hand", backend="-")]
        )
    assert [one.owner(seed)["crawler"] for one in pair] == ["late", "late"]


def test_batch_of_a_killed_coordinator_goes_on_at_the_other(
    pair: tuple[RunningCoordinator, RunningCoordinator], internet: InternetProcess, postgres_url: str
) -> None:
    killed, other = pair
    seeds = seeds_of(SITES, internet.port)
    response = killed.ask("POST", "/v1/batches", data="\n".join(seeds).encode())
    assert response.status_code == 202, response.text
    number = response.json()["id"]
    killed.kill()
    wait_until(
        lambda: other.get(f"/v1/batches/{number}").json().get("state") == "done", "the batch at the other"
    )
    assert other.get(f"/v1/batches/{number}").json()["sites"] == SITES
    assert sectors(postgres_url) == [64]
    assert [one["crawler"] for one in other.owners(seeds)] == [nearest_of(i, CRAWLERS) for i in range(SITES)]
    assert decided_again(postgres_url) == 0


def test_coordinator_that_was_stopped_beyond_its_lease_decides_nothing_twice(
    pair: tuple[RunningCoordinator, RunningCoordinator], internet: InternetProcess, postgres_url: str
) -> None:
    """It is stopped in the middle of deciding; what it then wants to write is fenced off."""
    stopped, other = pair
    seeds = seeds_of(SITES, internet.port)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(stopped.owners, seeds)
        with stopped_while_it_decides(stopped, postgres_url):
            found = other.owners(seeds)
        late = asked.result()
    expected = [nearest_of(i, CRAWLERS) for i in range(SITES)]
    assert [one.get("crawler") for one in found] == expected, str(found)
    assert [one.get("crawler") for one in late] == expected, str(late)
    assert decided_again(postgres_url) == 0
    wait_until(lambda: sectors(postgres_url) == [32, 32], "the tree is dealt out anew")


def test_site_that_moves_to_another_coordinator_while_it_is_decided_is_assigned_there(
    pair: tuple[RunningCoordinator, RunningCoordinator], internet: InternetProcess, postgres_url: str
) -> None:
    stopped, _ = pair
    seeds = seeds_of(SITES, internet.port)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(stopped.owners, seeds)
        with stopped_while_it_decides(stopped, postgres_url):
            pass
        late = asked.result()
    assert {one.get("source") for one in late} == {"assignment"}, str(late)
    with Store.open(postgres_url) as store:
        assert len(store.assignments.all()) == SITES


def test_agents_that_call_out_call_every_coordinator(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPMICRA_STORE", postgres_url)
    words = ("--lease-s", str(LEASE_S), "--policy", "everyone")
    with calling_fleet(tmp_path, *words, "--name", "one") as fleet:
        home = tmp_path / "other"
        shutil.copytree(fleet.home, home, ignore=shutil.ignore_patterns("coordinator.json", "serve.log"))
        with RunningCoordinator(home, *words, "--location", "none", "--samples", "1", "--name", "two") as two:
            wait_until(lambda: sectors(postgres_url) == [32, 32], "the tree is dealt out")
            calls = f"agent calls {two.url}, too"
            wait_until(lambda: all(calls in one.log() for one in fleet.agents.values()), "calls")
            hosts = [fleet.site(block, number) for block in range(1, 9) for number in range(2)]
            answers = [*two.owners(hosts), *fleet.coordinator.owners(hosts)]
            assert {one.get("problem") and one["problem"]["detail"] for one in answers} == {None}
            assert decided_again(postgres_url) == 0
            targets = [one["order"] for agent in fleet.agents.values() for one in agent.targets()]
            assert len(targets) == len(set(targets)) >= len(hosts)
            two.stop()
        wait_until(lambda: sectors(postgres_url) == [64], "the first has everything again")
        assert fleet.coordinator.owner(fleet.site(3, 9))["crawler"] in {"c0", "c1"}
