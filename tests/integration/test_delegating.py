"""Delegation over real agents and real sockets, on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from ipmicra import Delegator
from ipmicra.app.delegate.batch import Batch
from ipmicra.app.delegate.options import DelegateOptions, DrivingConfig
from ipmicra.app.home import Home
from ipmicra.edge.coordinator.orders import DeskConfig
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.store.ports import Member
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError, IpmicraError, StoreError
from ipmicra.model.crawler import Crawler, CrawlerState
from ipmicra.model.delegation import Decision, Evidence
from ipmicra.model.name import NameAnswer, NameStatus
from ipmicra.model.sample import Rung
from tests.cli.command_line import built_file
from tests.delegating_worlds import (
    delegated,
    enrol,
    hierarchy_of,
    nearest_of,
    seeds_of,
    site_address,
    split_world,
    subnet_dump,
)
from tests.servers.refusing import refusing_port

SITES, CRAWLERS = 12, 3


@pytest.fixture(scope="module")
def internet() -> Iterator[LoopbackInternet]:
    with LoopbackInternet(split_world(SITES, CRAWLERS)) as running:
        yield running


@pytest.fixture
def store(tmp_path: Path, internet: LoopbackInternet) -> Iterator[Store]:
    hierarchy_of(tmp_path, SITES)
    with Store.open(str(tmp_path / "state.db")) as opened:
        enrol(opened, list(internet.crawlers.values()))
        yield opened


def options(internet: LoopbackInternet, policy: str = "everyone", **more: object) -> DelegateOptions:
    words: dict[str, object] = {
        "policy": policy,
        "location": "none",
        "desk": DeskConfig(samples=2, first_rung=Rung.HEAD, timeout_ms=10_000.0),
        "access": internet.access,
        "driving": DrivingConfig(health_s=0.2),
        **more,
    }
    return DelegateOptions(**words)  # type: ignore[arg-type]


def test_every_site_gets_the_nearest_crawler_when_everybody_probes(
    tmp_path: Path, store: Store, internet: LoopbackInternet
) -> None:
    seeds = seeds_of(SITES, internet.port)
    found, report = delegated(tmp_path, store, options(internet), seeds)
    assert report.is_complete
    assert {host: one.crawler for host, one in found.items()} == {
        str(site_address(i)): nearest_of(i, CRAWLERS) for i in range(SITES)
    }
    assert sum(one.probes for one in found.values()) == report.probes == SITES * CRAWLERS
    assert store.budget.state("delegate 1").spent == report.probes


def test_subnet_is_delegated_once_and_its_other_sites_cost_nothing(
    tmp_path: Path, store: Store, internet: LoopbackInternet
) -> None:
    seeds = seeds_of(SITES, internet.port)
    found, report = delegated(tmp_path, store, options(internet, "predict"), seeds)
    assert report.is_complete
    subnets = {(one.first, one.last) for one in found.values()}
    assert len(subnets) == SITES // 2
    assert sum(one.probes > 0 for one in found.values()) <= len(subnets)
    assert store.delegations.count() == len(subnets) + 1, "and the crawlers' own subnet"
    again, second = delegated(tmp_path, store, options(internet, "predict"), seeds)
    assert second.probes == 0
    assert {host: one.crawler for host, one in again.items()} == {
        host: one.crawler for host, one in found.items()
    }


def test_budget_is_kept_and_makeshift_answers_are_not_stored(
    tmp_path: Path, store: Store, internet: LoopbackInternet
) -> None:
    seeds = seeds_of(SITES, internet.port)
    found, report = delegated(tmp_path, store, options(internet, probe_budget=5), seeds)
    assert len(found) == SITES
    assert report.probes == store.budget.state("delegate 1").spent == 5
    assert sum(one.probes for one in found.values()) == 5
    assert store.delegations.count() == sum(one.evidence is Evidence.PROBED for one in found.values())
    later, more = delegated(tmp_path, store, options(internet), seeds)
    assert more.probes > 0
    assert all(one.evidence is Evidence.PROBED for one in later.values())


def test_junk_and_doubles_are_counted_and_the_rest_is_done(
    tmp_path: Path, store: Store, internet: LoopbackInternet
) -> None:
    seeds = [*seeds_of(2, internet.port), "ftp://x", "", "999.1.1.1", "a b", *seeds_of(1, internet.port)]
    found, report = delegated(tmp_path, store, options(internet), seeds)
    assert len(found) == 2
    assert (report.missing.total(), report.doubles) == (4, 1)
    assert [text for text, _ in report.examples] == ["ftp://x", "", "999.1.1.1", "a b"]
    assert not report.is_complete


def test_expired_answers_of_the_dns_are_dropped_when_a_batch_begins(
    tmp_path: Path, store: Store, internet: LoopbackInternet
) -> None:
    answers = [
        NameAnswer(name=name, status=NameStatus.NXDOMAIN, addresses=(), expires_s=expires_s)
        for name, expires_s in (("old.example", 10.0), ("new.example", 4e9))
    ]
    store.names.put_many(answers)
    delegated(tmp_path, store, options(internet), seeds_of(1, internet.port))
    assert list(store.names.get_many(["old.example", "new.example"], 0.0)) == ["new.example"]


def test_one_crawler_gets_everything(tmp_path: Path, internet: LoopbackInternet) -> None:
    hierarchy_of(tmp_path, SITES)
    with Store.open(str(tmp_path / "state.db")) as store:
        enrol(store, [internet.crawlers["c1"]])
        for policy in ("predict", "paper", "geo"):
            found, report = delegated(
                tmp_path, store, options(internet, policy), seeds_of(SITES, internet.port)
            )
            assert report.is_complete
            assert {one.crawler for one in found.values()} == {"c1"}


def test_without_a_crawler_the_next_step_is_told(tmp_path: Path, internet: LoopbackInternet) -> None:
    hierarchy_of(tmp_path, SITES)
    with Store.open(str(tmp_path / "state.db")) as store:
        with pytest.raises(InputError, match="ipmicra crawler add"):
            delegated(tmp_path, store, options(internet), ["192.0.2.1"])
        enrol(store, [Crawler(name="mute", address=IPv4Address("198.51.99.9"))])
        with pytest.raises(InputError, match="mute"):
            delegated(tmp_path, store, options(internet), ["192.0.2.1"])
        found, report = delegated(tmp_path, store, options(internet, "hash"), ["192.0.2.1"])
        assert (found["192.0.2.1"].crawler, report.probes) == ("mute", 0)


@pytest.fixture
def closed() -> Iterator[str]:
    """Where an agent should be and is not."""
    with refusing_port() as port:
        yield f"http://127.0.0.1:{port}"


def test_silent_agents_are_left_out_and_told(
    tmp_path: Path, store: Store, internet: LoopbackInternet, closed: str
) -> None:
    enrol(store, [replace(internet.crawlers["c0"], name="dead", agent_url=closed)])
    found, report = delegated(tmp_path, store, options(internet), seeds_of(4, internet.port))
    assert report.is_complete
    assert report.probes == 4 * CRAWLERS
    assert any("dead" in note for note in report.notes)
    member = store.crawlers.get("dead")
    assert member is not None
    assert member.crawler.state is CrawlerState.UNREACHABLE
    assert "dead" not in {one.crawler for one in found.values()}


def test_no_agent_at_all_is_an_error_before_anything_is_begun(
    tmp_path: Path, internet: LoopbackInternet, closed: str
) -> None:
    hierarchy_of(tmp_path, SITES)
    with Store.open(str(tmp_path / "state.db")) as store:
        enrol(store, [replace(internet.crawlers["c0"], agent_url=closed)])
        with pytest.raises(IpmicraError, match="no agent answers"):
            delegated(tmp_path, store, options(internet), ["192.0.2.1"])
        assert store.batches.all() == []


def test_all_agents_dead_midway_stops_the_batch_and_the_same_command_ends_it(tmp_path: Path) -> None:
    """The world goes down after the first results; it comes back, and the rest is done."""
    seeds_count = 60
    hierarchy_of(tmp_path, seeds_count)
    with Store.open(str(tmp_path / "state.db")) as store:
        with LoopbackInternet(split_world(seeds_count, 2)) as first:
            enrol(store, list(first.crawlers.values()))
            wanted = options(first, driving=DrivingConfig(per_agent=3, flush_s=0.01))
            found: dict[str, Decision] = {}

            def told(result: Decision) -> None:
                found[result.host] = result
                for agent in first.agents.values():
                    agent.should_exit = agent.force_exit = True

            with Hierarchy.open(tmp_path / "hierarchy.ipm") as hierarchy:
                report = Batch(store, hierarchy, wanted, told).run(["x"], seeds_of(seeds_count, first.port))
        assert 0 < len(found) < seeds_count
        assert report.stopped is not None
        assert report.missing.total() + len(found) == seeds_count
        world = split_world(seeds_count, 2)
        with LoopbackInternet(world) as second:
            enrol(store, list(second.crawlers.values()))
            rest: dict[str, Decision] = {}
            with Hierarchy.open(tmp_path / "hierarchy.ipm") as hierarchy:
                last = Batch(store, hierarchy, options(second), lambda r: rest.update({r.host: r}))
                final = last.run(["x"], seeds_of(seeds_count, second.port))
        assert final.is_complete
        assert (final.batch, final.resumed) == (report.batch, len(found))
        assert len(rest) == seeds_count
        assert all(rest[host] == one for host, one in found.items())


def test_crawler_that_left_loses_its_subnets_when_they_are_next_needed(
    tmp_path: Path, store: Store, internet: LoopbackInternet
) -> None:
    seeds = seeds_of(SITES, internet.port)
    first, _ = delegated(tmp_path, store, options(internet), seeds)
    store.crawlers.set_state("c0", CrawlerState.LEFT, 9.0)
    second, report = delegated(tmp_path, store, options(internet), seeds[:2])
    assert {first[host].crawler for host in second} == {"c0"}
    assert {one.crawler for one in second.values()} == {"c1"}
    assert report.probes == 2 * (CRAWLERS - 1)
    one = first[str(site_address(0))]
    assert [
        (end.record.delegation.crawler, end.reason) for end in store.delegations.history(one.first, one.last)
    ] == [("c0", "its crawler left")]
    held = [record.delegation.crawler for record in store.delegations.all()]
    assert held.count("c0") == 2


def test_newcomer_that_may_be_nearer_is_asked_for_old_subnets(
    tmp_path: Path, internet: LoopbackInternet
) -> None:
    hierarchy_of(tmp_path, SITES)
    with Store.open(str(tmp_path / "state.db")) as store:
        enrol(store, [internet.crawlers["c1"], internet.crawlers["c2"]])
        seeds = seeds_of(2, internet.port)
        before, _ = delegated(tmp_path, store, options(internet), seeds)
        assert {one.crawler for one in before.values()} == {"c1"}
        store.crawlers.put(Member(crawler=replace(internet.crawlers["c0"], joined_s=4e9)))
        after, report = delegated(tmp_path, store, options(internet), seeds)
        assert {one.crawler for one in after.values()} == {"c0"}
        assert report.probes == 2 * 2


def test_new_edition_carries_delegations_over_and_says_so(
    tmp_path: Path, store: Store, internet: LoopbackInternet
) -> None:
    seeds = seeds_of(SITES, internet.port)
    delegated(tmp_path, store, options(internet, "predict"), seeds)
    before = {(one.delegation.first, one.delegation.last) for one in store.delegations.all() if one.address}
    built_file(tmp_path, subnet_dump(SITES // 4, size=16), "hierarchy.ipm")
    found, report = delegated(tmp_path, store, options(internet, "predict"), seeds)
    assert len(found) == SITES
    assert report.probes == 0
    assert any("carried over" in note and "6 merged" in note for note in report.notes)
    after = {(one.delegation.first, one.delegation.last) for one in store.delegations.all() if one.address}
    assert len(after) == SITES // 4
    for first, last in before:
        (ended,) = store.delegations.history(first, last)
        assert "new edition" in ended.reason
    _, quiet = delegated(tmp_path, store, options(internet, "predict"), seeds)
    assert not any("carried" in note for note in quiet.notes)


def test_address_outside_the_hierarchy_goes_by_its_slice(tmp_path: Path, internet: LoopbackInternet) -> None:
    built_file(tmp_path, subnet_dump(1).replace("203.0.", "192.1."), "hierarchy.ipm")
    with Store.open(str(tmp_path / "state.db")) as store:
        enrol(store, list(internet.crawlers.values()))
        found, report = delegated(tmp_path, store, options(internet, "predict"), seeds_of(2, internet.port))
        assert report.is_complete
        assert {(str(one.first), str(one.last)) for one in found.values()} == {
            ("203.0.112.0", "203.0.112.255")
        }


def test_disk_that_is_full_ends_the_batch_with_a_message_and_nothing_is_lost(
    tmp_path: Path, store: Store, internet: LoopbackInternet
) -> None:
    """The store may not grow; when it may again, the same command resumes."""
    seeds = seeds_of(SITES, internet.port)
    (pages,) = store.connection.row("PRAGMA page_count") or (0,)
    store.connection.row(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="make room"):
        delegated(tmp_path, store, options(internet), [*seeds, *(f"192.0.2.{i}" for i in range(200))])
    store.connection.row("PRAGMA max_page_count = 1000000")
    found, report = delegated(tmp_path, store, options(internet), seeds)
    assert report.is_complete
    assert len(found) == SITES


def test_store_locked_by_another_process_is_told(
    tmp_path: Path, store: Store, internet: LoopbackInternet
) -> None:
    store.connection.row("PRAGMA busy_timeout = 50")
    with Store.open(str(tmp_path / "state.db")) as other:
        other.connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process"):
            delegated(tmp_path, store, options(internet), seeds_of(2, internet.port))
        other.connection.execute("ROLLBACK")
    _, report = delegated(tmp_path, store, options(internet), seeds_of(2, internet.port))
    assert report.is_complete


def test_library_delegates_single_sites(tmp_path: Path, store: Store, internet: LoopbackInternet) -> None:
    seeds = seeds_of(4, internet.port)

    async def use() -> None:
        async with Delegator.open(Home(folder=tmp_path), options=options(internet)) as delegator:
            decision = await delegator.delegate(seeds[0])
            assert (decision.crawler, decision.evidence, decision.probes) == ("c0", Evidence.PROBED, CRAWLERS)
            assert decision.subnet == f"{site_address(0)}/32"
            again = await delegator.delegate(seeds[0])
            assert (again.crawler, again.probes) == ("c0", 0)
            many = await asyncio.gather(*(delegator.delegate(seed) for seed in seeds[1:]))
            assert [one.crawler for one in many] == ["c0", "c1", "c1"]
            with pytest.raises(InputError, match="host name"):
                await delegator.delegate("a b")

    asyncio.run(use())
    assert store.delegations.count() == 4


def test_library_shows_agents_the_token_of_the_environment(
    tmp_path: Path, store: Store, internet: LoopbackInternet, monkeypatch: pytest.MonkeyPatch
) -> None:
    (seed,) = seeds_of(1, internet.port)

    async def probes() -> int:
        async with Delegator.open(Home(folder=tmp_path)) as delegator:
            return (await delegator.delegate(seed)).probes

    monkeypatch.setenv("IPMICRA_AGENT_TOKEN", "short")
    with pytest.raises(InputError, match="16 ASCII characters"):
        asyncio.run(probes())
    monkeypatch.setenv("IPMICRA_AGENT_TOKEN", str(internet.access.token))
    assert asyncio.run(probes()) >= 1
