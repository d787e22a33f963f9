"""Names that answer differently in different places, delegated over real agents and real DNS servers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import pytest

from ipmicra import Delegator
from ipmicra.app.delegate.batch import Batch, BatchReport
from ipmicra.app.delegate.options import DelegateOptions, DrivingConfig
from ipmicra.app.home import Home
from ipmicra.edge.coordinator.orders import DeskConfig
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import Member
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError
from ipmicra.model.crawler import CrawlerState
from ipmicra.model.delegation import Decision, Evidence
from ipmicra.model.name import NameStatus
from ipmicra.model.sample import Rung
from tests.scattered_worlds import CRAWLERS, HOSTS, NEAR_MS, ScatteredWorld, running_world
from tests.servers.dns_server import Zone
from tests.servers.evil_agent import EvilAgent, honest, names_seen

SEEN = [host for host in HOSTS if host != "gone.example"]


@pytest.fixture(scope="module")
def world() -> Iterator[ScatteredWorld]:
    with running_world() as running:
        yield running


@pytest.fixture
def home(tmp_path: Path, world: ScatteredWorld) -> Path:
    return world.prepare(tmp_path)


def options(world: ScatteredWorld, **more: object) -> DelegateOptions:
    words: dict[str, object] = {
        "resolve_at": "agents",
        "near_ms": NEAR_MS,
        "location": "none",
        "desk": DeskConfig(samples=1, first_rung=Rung.HEAD, timeout_ms=1_000.0),
        "access": world.internet.access,
        "driving": DrivingConfig(health_s=0.2),
        **more,
    }
    return DelegateOptions(**words)  # type: ignore[arg-type]


def delegated(
    home: Path, world: ScatteredWorld, hosts: list[str], **more: object
) -> tuple[dict[str, Decision], BatchReport]:
    found: dict[str, Decision] = {}
    seeds = [world.seed(host) for host in hosts]
    with Hierarchy.open(home / "hierarchy.ipm") as hierarchy, Store.open(str(home / "state.db")) as store:
        batch = Batch(store, hierarchy, options(world, **more), lambda one: found.update({one.host: one}))
        return found, batch.run(seeds, seeds)


def test_each_host_goes_to_the_crawler_that_is_nearest_to_what_it_sees(
    home: Path, world: ScatteredWorld
) -> None:
    """A host that all see alike goes by its subnet; the others by what each crawler sees."""
    hosts = [host for host in HOSTS if host != "lost.example"]
    found, report = delegated(home, world, hosts)
    assert dict(report.missing) == {"there is no such host name": 1}
    assert {host: (one.crawler, str(one.address), one.evidence.value) for host, one in found.items()} == {
        "same.example": ("nyc", "193.10.1.1", "probed"),
        "geo.example": ("tok", "193.10.12.1", "probed"),
        "cdn.example": ("tok", "193.10.12.1", "probed"),
        "beside.example": ("tok", "193.10.12.7", "inherited"),
        "near.example": (found["near.example"].crawler, str(found["near.example"].address), "anycast"),
        "part.example": ("tok", "193.10.30.1", "probed"),
        "six.example": ("fra", "2a00:10::1", "probed"),
    }
    assert found["same.example"].subnet == "193.10.1.0/24"
    assert found["geo.example"].subnet == "193.10.12.1/32"
    assert any("6 of 8 hosts answer differently" in note for note in report.notes)
    assert any("questions to agents in 3 requests" in note for note in report.notes)
    assert sum(one.probes for one in found.values()) == report.probes
    with Store.open(str(home / "state.db")) as store:
        assert store.budget.state("delegate 1").spent == report.probes
        assert [str(one.delegation.first) for one in store.delegations.all() if one.address] == ["193.10.1.0"]
        views = store.views.of(["geo.example"])["geo.example"]
        pin = store.sites.get("geo.example")
    assert {name: str(one.answer.addresses[0]) for name, one in views.items()} == {
        "fra": "193.10.10.1",
        "nyc": "193.10.11.1",
        "tok": "193.10.12.1",
    }
    assert pin is not None
    assert str(pin.address) == "193.10.12.1"


def test_hosts_behind_the_same_front_ends_are_measured_once(home: Path, world: ScatteredWorld) -> None:
    first, _ = delegated(home, world, ["geo.example"])
    assert first["geo.example"].probes == 3
    found, report = delegated(home, world, ["cdn.example", "beside.example"])
    assert report.probes == 0
    assert {host: (one.crawler, one.evidence) for host, one in found.items()} == {
        "cdn.example": ("tok", Evidence.PROBED),
        "beside.example": ("tok", Evidence.INHERITED),
    }
    assert str(found["beside.example"].address) == "193.10.12.7"


def test_second_run_asks_nobody_for_names_or_probes(home: Path, world: ScatteredWorld) -> None:
    hosts = ["same.example", "geo.example", "near.example", "part.example"]
    first, _ = delegated(home, world, hosts)
    questions = world.questions()
    second, report = delegated(home, world, hosts)
    assert world.questions() == questions
    assert report.probes == 0
    assert {host: one.crawler for host, one in second.items()} == {
        host: one.crawler for host, one in first.items()
    }


def test_host_that_is_near_everywhere_goes_by_load(home: Path, world: ScatteredWorld) -> None:
    """Nine hosts are beside each other in each place: one probe there tells of all, and load parts them."""
    for number in range(9):
        for i, server in enumerate(world.servers.values()):
            server.zones[f"near{number}.example"] = Zone(addresses=(f"193.10.{20 + i}.{number + 1}",))
    found, report = delegated(home, world, [f"near{number}.example" for number in range(9)])
    assert report.probes == 3
    assert {one.evidence for one in found.values()} == {Evidence.ANYCAST}
    spread = [one.crawler for one in found.values()]
    assert sorted(spread) == sorted(CRAWLERS * 3)
    far, _ = delegated(home, world, ["near.example"], near_ms=0.0)
    assert far["near.example"].evidence is Evidence.PROBED


def test_site_that_cannot_be_probed_goes_to_the_least_loaded_that_sees_it(
    home: Path, world: ScatteredWorld
) -> None:
    found, report = delegated(
        home, world, ["lost.example"], desk=DeskConfig(samples=1, first_rung=Rung.HEAD, timeout_ms=100.0)
    )
    assert (found["lost.example"].evidence, found["lost.example"].rtt_ms) == (Evidence.INHERITED, None)
    assert report.probes == 3


def test_budget_holds_and_what_it_cut_short_is_measured_next_time(home: Path, world: ScatteredWorld) -> None:
    found, report = delegated(home, world, ["geo.example", "six.example"], probe_budget=0)
    assert report.probes == 0
    assert {one.evidence for one in found.values()} == {Evidence.INHERITED}
    with Store.open(str(home / "state.db")) as store:
        assert store.site_answers.get("geo.example") is None
    later, report = delegated(home, world, ["geo.example", "six.example"], probe_budget=9)
    assert (later["geo.example"].crawler, later["six.example"].crawler) == ("tok", "fra")
    assert report.probes == 6


def test_newcomer_is_asked_alone_and_a_crawler_that_left_is_replaced(
    tmp_path: Path, world: ScatteredWorld
) -> None:
    home = world.prepare(tmp_path, ("fra", "nyc"))
    first, _ = delegated(home, world, ["geo.example"])
    assert (first["geo.example"].crawler, first["geo.example"].probes) == ("nyc", 2)
    with Store.open(str(home / "state.db")) as store:
        store.crawlers.put(Member(crawler=replace(world.internet.crawlers["tok"], joined_s=4e9)))
    second, report = delegated(home, world, ["geo.example"])
    assert (second["geo.example"].crawler, report.probes) == ("tok", 1)
    with Store.open(str(home / "state.db")) as store:
        store.crawlers.set_state("tok", CrawlerState.LEFT, 9.0)
    third, report = delegated(home, world, ["geo.example"])
    assert (third["geo.example"].crawler, report.probes) == ("nyc", 0)


def test_host_that_moved_since_it_was_pinned_follows_what_all_agents_see(
    home: Path, world: ScatteredWorld
) -> None:
    delegated(home, world, ["same.example"])
    with Store.open(str(home / "state.db")) as store:
        store.views.forget("same.example")
        store.sites.move_many([replace(store.sites.all()[0], address=ip_address("193.10.77.1"))], 1.0)
    found, _ = delegated(home, world, ["same.example"])
    assert str(found["same.example"].address) == "193.10.1.1"


def test_agent_that_cannot_resolve_is_a_finding_and_gets_no_scattered_host(
    home: Path, world: ScatteredWorld
) -> None:
    """An agent of the earlier version knows orders to probe, and nothing of names."""
    old = b"HTTP/1.1 404 Not Found\r\ncontent-length: 9\r\nConnection: close\r\n\r\nNot Found"
    with EvilAgent(lambda request: old if "names" in request else honest(request)) as agent:
        enrolled(home, world, "old", agent)
        found, report = delegated(home, world, ["geo.example", "same.example"], policy="everyone")
    assert len(found) == 2
    assert found["geo.example"].crawler == "tok"
    assert any(note.startswith("old gets no host") and "earlier version" in note for note in report.notes)
    asked = [order["address"] for request in agent.requests for order in request.get("orders", ())]
    assert asked == ["193.10.1.1"], "it is still asked to probe what all others see"


def lying(names: dict[str, str]) -> EvilAgent:
    """An agent that sees what it likes, and claims to be near to everything."""
    return EvilAgent(lambda request: names_seen(request, names) if "names" in request else honest(request))


def enrolled(home: Path, world: ScatteredWorld, name: str, agent: EvilAgent) -> None:
    with Store.open(str(home / "state.db")) as store:
        crawler = replace(world.internet.crawlers["fra"], name=name, agent_url=agent.url)
        store.crawlers.put(Member(crawler=crawler))


def test_agent_that_lies_about_a_name_is_sent_there_alone(home: Path, world: ScatteredWorld) -> None:
    """It names a victim; no honest crawler is pointed at it, and what the honest ones see is unchanged."""
    victim = "193.10.99.99"
    with lying({"same.example": victim, "geo.example": victim}) as evil:
        enrolled(home, world, "evil", evil)
        found, _ = delegated(home, world, ["same.example", "geo.example"])
        with Store.open(str(home / "state.db")) as store:
            assert set(store.samples.latest(ip_address(victim))) == {"evil"}
    assert {one.crawler for one in found.values()} == {"evil"}, "it wins what it claims to be near to"
    probed = [one["address"] for request in evil.requests for one in request.get("orders", ())]
    assert set(probed) == {victim}


def test_only_agent_that_answers_does_not_point_the_others_anywhere(
    home: Path, world: ScatteredWorld
) -> None:
    """All honest resolvers fail; the liar's address is probed by the liar alone."""
    victim = "193.10.99.99"
    for server in world.servers.values():
        server.zones["quiet.example"] = Zone(rcode=2)
    with lying({"quiet.example": victim}) as evil:
        enrolled(home, world, "evil", evil)
        found, _ = delegated(home, world, ["quiet.example"])
        with Store.open(str(home / "state.db")) as store:
            assert set(store.samples.latest(ip_address(victim))) == {"evil"}
            views = store.views.of(["quiet.example"])["quiet.example"]
            answer = store.site_answers.get("quiet.example")
    assert found["quiet.example"].crawler == "evil"
    assert answer is not None
    assert answer.delegation.expires_s - answer.delegation.created_s == 86_400, (
        "the others are asked again soon"
    )
    statuses = {name: one.answer.status for name, one in views.items()}
    assert statuses == {**dict.fromkeys(CRAWLERS, NameStatus.SERVFAIL), "evil": NameStatus.FOUND}


def test_private_address_is_seen_by_nobody(home: Path, world: ScatteredWorld) -> None:
    for server in world.servers.values():
        server.zones["inside.example"] = Zone(addresses=("10.0.0.1", "169.254.169.254"))
    found, report = delegated(home, world, ["inside.example"])
    assert found == {}
    assert dict(report.missing) == {"the host name has no address that may be probed": 1}


def test_resolver_that_knows_nothing_is_a_finding(home: Path, world: ScatteredWorld) -> None:
    hosts = [f"many{i}.example" for i in range(12)]
    for name, server in world.servers.items():
        if name != "fra":
            server.zones.update({host: Zone(addresses=("193.10.1.1",)) for host in hosts})
    found, report = delegated(home, world, hosts)
    assert len(found) == 12
    assert {one.crawler for one in found.values()} == {"nyc"}
    assert report.probes == 2, "all are at one address"
    assert any("fra sees no address of 12 of 12 hosts" in note for note in report.notes)


def test_seeds_that_are_no_names_go_their_usual_way(home: Path, world: ScatteredWorld) -> None:
    with Hierarchy.open(home / "hierarchy.ipm") as hierarchy, Store.open(str(home / "state.db")) as store:
        found: dict[str, Decision] = {}
        seeds = [f"http://193.10.1.1:{world.internet.port}/", "-bad.example", "10.0.0.0/8", "a b", ""]
        batch = Batch(store, hierarchy, options(world), lambda one: found.update({one.host: one}))
        report = batch.run(seeds, seeds)
    assert list(found) == ["193.10.1.1"]
    assert [text for text, _ in report.examples] == ["-bad.example", "10.0.0.0/8", "a b", ""]


def test_library_resolves_at_agents_too(home: Path, world: ScatteredWorld) -> None:
    hosts = ["geo.example", "same.example", "six.example"]

    async def use() -> list[Decision]:
        async with Delegator.open(Home(folder=home), options=options(world)) as delegator:
            one = await delegator.delegate(world.seed("geo.example"))
            rest = await delegator.delegate_many(map(world.seed, hosts))
            with pytest.raises(InputError, match="no such host name"):
                await delegator.delegate(world.seed("gone.example"))
            return [one, *rest]

    found = asyncio.run(use())
    assert [one.crawler for one in found] == ["tok", "tok", "nyc", "fra"]
    assert [found[0].probes, found[1].probes] == [3, 0]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"resolve_at": "moon"}, "here or at agents"),
        ({"policy": "hash"}, "asks nobody"),
        ({"near_ms": -1.0}, "milliseconds"),
        ({"near_ms": float("nan")}, "milliseconds"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    world: ScatteredWorld, words: dict[str, object], reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        options(world, **words)
