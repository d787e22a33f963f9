"""Who belongs to a fleet and is heard of: what several coordinators write of one agent, and bad moments."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any, cast

import pytest

from ipmicra.app.fleet.fleet import Fleet
from ipmicra.app.serve.membership import Membership, MembershipConfig
from ipmicra.edge.coordinator.access import Access
from ipmicra.edge.coordinator.mailbox import SwitchboardConfig
from ipmicra.edge.coordinator.switchboard import Switchboard
from ipmicra.edge.store.ports import AgentRecord
from ipmicra.edge.store.store import Store
from ipmicra.errors import StoreError
from ipmicra.model.crawler import Crawler, CrawlerState
from ipmicra.wire.polling import PollRequest
from tests.patience import run, until

HASTY = SwitchboardConfig(return_s=0.2)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "state.db")) as opened:
        Fleet(opened).add(Crawler(name="fra", address=ip_address("198.51.100.9"), agent_url="calls-out:fra"))
        opened.agents.put(AgentRecord(crawler="fra", id="a", joined_s=1.0, seen_s=1.0, software="1"))
        yield opened


def membership(store: Store, *, is_shared: bool = False) -> Membership:
    return Membership(
        store,
        Access(store),
        Switchboard(HASTY),
        lambda: Fleet(store),
        config=MembershipConfig(watch_s=0.01),
        is_shared=is_shared,
    )


def state(store: Store) -> CrawlerState:
    found = store.crawlers.get("fra")
    assert found is not None
    return found.crawler.state


async def poll(one: Membership) -> None:
    request = PollRequest(boot="b", cursor="", capacity=10, wait_s=0.0, software="1")
    await one.switchboard.poll("fra", request)


def test_agent_that_just_joined_has_time_for_its_first_poll(store: Store) -> None:
    async def scenario() -> None:
        one = membership(store)
        one.look()
        assert state(store) is CrawlerState.JOINED
        await poll(one)
        one.look()
        assert state(store) is CrawlerState.JOINED

    run(scenario)


def test_agent_that_does_not_use_that_time_is_silent_until_it_calls(store: Store) -> None:
    async def scenario() -> None:
        one = membership(store)
        one.look()
        await asyncio.sleep(HASTY.return_s)
        await until(lambda: not one.switchboard.is_present("fra"))
        one.look()
        assert state(store) is CrawlerState.UNREACHABLE
        again = membership(store)  # a coordinator that is started anew does not know better
        again.look()
        assert state(store) is CrawlerState.UNREACHABLE
        await poll(again)
        again.look()
        assert state(store) is CrawlerState.JOINED

    run(scenario)


def test_agent_that_one_of_several_coordinators_hears_is_not_silent(store: Store) -> None:
    async def scenario() -> None:
        near, far = membership(store, is_shared=True), membership(store, is_shared=True)
        await poll(near)
        near.look()
        far.look()
        await until(lambda: not far.switchboard.is_present("fra"))
        far.look()
        assert state(store) is CrawlerState.UNREACHABLE
        await poll(near)
        near.look()
        assert state(store) is CrawlerState.JOINED
        far.look()
        assert state(store) is CrawlerState.JOINED

    run(scenario)


class Unsteady:
    """A store whose agents cannot be read a few times, as when its server is away."""

    def __init__(self, store: Store, failures: int) -> None:
        self._store, self.failures = store, failures

    def __getattr__(self, name: str) -> Any:
        if name == "agents" and self.failures:
            self.failures -= 1
            raise StoreError("postgresql://db/x", "the server is away")
        return getattr(self._store, name)


def test_watch_survives_a_store_that_is_away_for_a_while(store: Store) -> None:
    async def scenario() -> None:
        one = membership(store)
        unsteady = Unsteady(store, failures=3)
        one.store = cast("Any", unsteady)
        task = asyncio.create_task(one.watch())
        await until(lambda: state(store) is CrawlerState.UNREACHABLE)
        assert unsteady.failures == 0
        assert not task.done()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    run(scenario)
