"""A session: everything restored at its opening, errors raised to whoever waits, all written at its end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.app.delegate.session import Session
from ipmicra.edge.coordinator.agent_client import AgentAccess
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import DelegationRecord, Member, OrderRecord
from ipmicra.edge.store.probes import budget_name
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError, StoreError
from ipmicra.model.crawler import TrackRecord
from ipmicra.model.delegation import Decision, Delegation, Evidence
from ipmicra.model.sample import Sample
from ipmicra.model.site import Site
from tests.delegating_worlds import hierarchy_of, site_address
from tests.fakes.fleet import crawler
from tests.patience import PATIENCE_S
from tests.servers.agent import TOKEN
from tests.servers.evil_agent import EvilAgent, honest

OPTIONS = DelegateOptions(policy="hash", location="none")
"""A policy that asks nobody: no agent is needed."""


@pytest.fixture(scope="module")
def hierarchy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hierarchy]:
    with Hierarchy.open(hierarchy_of(Path(tmp_path_factory.mktemp("session")), 4)) as opened:
        yield opened


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open("sqlite://") as opened:
        opened.crawlers.put(Member(crawler=crawler("ath", "198.51.99.1")))
        yield opened


def delegation(first: IPv4Address, last: IPv4Address) -> DelegationRecord:
    return DelegationRecord(
        delegation=Delegation(
            first=first,
            last=last,
            crawler="ath",
            evidence=Evidence.PROBED,
            rtt_ms=4.0,
            probes=1,
            created_s=1.0,
            expires_s=1e10,
        )
    )


def opened(store: Store, hierarchy: Hierarchy, *sites: Site) -> tuple[Session, list[Decision]]:
    """Open a session, let sites arrive, and close it."""
    found: list[Decision] = []
    session = Session(store, hierarchy, OPTIONS, found.append, lambda *_: None)

    async def work() -> None:
        async with session:
            for one in sites:
                session.driver.arrive(one)
            await session.until(lambda: not session.driver.pending)

    asyncio.run(work())
    return session, found


def test_closing_writes_what_was_gathered(store: Store, hierarchy: Hierarchy) -> None:
    session, found = opened(store, hierarchy, Site("a.example", site_address(0)))
    assert [(one.host, one.crawler) for one in found] == [("a.example", "ath")]
    assert list(store.results.all(session.batch.id)) == found


@pytest.mark.parametrize("is_known", [True, False])
def test_what_another_batch_measured_is_not_measured_again(
    store: Store, hierarchy: Hierarchy, *, is_known: bool
) -> None:
    """A site may come from another coordinator, which had asked some crawlers about it."""
    address, found = site_address(0), list[Decision]()
    other = store.batches.begin("ipmicra serve two", "", 1.0)
    store.budget.open(budget_name(other.id), None)
    store.budget.reserve(budget_name(other.id), [OrderRecord(id="o", crawler="ath", address=address)], 1.0)
    store.samples.add_many([Sample(crawler="ath", address=address, rtt_ms=3.0, taken_s=time.time())])
    store.budget.answer(["o"], 1.0)
    with EvilAgent(honest) as agent:
        store.crawlers.put(Member(crawler=replace(crawler("ath", "198.51.99.1"), agent_url=agent.url)))
        options = replace(OPTIONS, policy="everyone", access=AgentAccess(token=TOKEN))
        session = Session(store, hierarchy, options, found.append, lambda *_: None)
        session.known_from = [other.id] if is_known else []

        async def work() -> None:
            async with session:
                session.driver.arrive(Site("a.example", address))
                await session.until(lambda: not session.driver.pending)

        asyncio.run(asyncio.wait_for(work(), PATIENCE_S))
        ordered = [one for one in agent.requests if "orders" in one]
    assert [(one.crawler, one.rtt_ms) for one in found] == [("ath", 3.0 if is_known else 0.5)]
    assert bool(ordered) is not is_known


def test_unfinished_batch_is_resumed(store: Store, hierarchy: Hierarchy) -> None:
    first, _ = opened(store, hierarchy, Site("a.example", site_address(0)))
    second, _ = opened(store, hierarchy)
    assert (second.batch.id, first.resumed, second.resumed) == (first.batch.id, 0, 1)


def test_stored_delegation_answers_and_one_that_fits_no_subnet_is_named(
    store: Store, hierarchy: Hierarchy
) -> None:
    store.meta.set("edition of delegations", hierarchy.content_hash)
    odd = delegation(IPv4Address("8.8.8.0"), IPv4Address("8.8.8.9"))
    store.delegations.put_many([delegation(site_address(0), site_address(0)), odd])
    session, (one,) = opened(store, hierarchy, Site("a.example", site_address(0)))
    assert (one.evidence, one.rtt_ms, one.probes) == (Evidence.PROBED, 4.0, 0)
    assert any(note.startswith("1 delegations fit no subnet") for note in session.notes)


def test_flagged_crawler_is_named_with_the_way_back(store: Store, hierarchy: Hierarchy) -> None:
    store.crawlers.put(Member(crawler=crawler("odd", "198.51.99.2")))
    store.track_records.put_many([("odd", TrackRecord(checked=4, implausible=3))])
    session, (one,) = opened(store, hierarchy, Site("a.example", site_address(0)))
    assert one.crawler == "ath"
    assert any(note.startswith("odd: ") and "add it again" in note for note in session.notes)


def test_error_of_a_task_is_raised_to_whoever_waits(store: Store, hierarchy: Hierarchy) -> None:
    session = Session(store, hierarchy, OPTIONS, lambda _: None, lambda *_: None)

    async def work() -> None:
        async with session:
            session.driver.fail(StoreError("state.db", "disk full"))
            await session.until(lambda: False)

    with pytest.raises(StoreError, match="disk full"):
        asyncio.run(work())


def test_session_without_any_crawler_says_what_to_add(hierarchy: Hierarchy) -> None:
    with Store.open("sqlite://") as empty, pytest.raises(InputError, match="ipmicra crawler add"):
        opened(empty, hierarchy)
