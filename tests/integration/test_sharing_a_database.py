"""A coordinator on a database that others use, too: what it knows of their work, and of agents they hear."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.app.home import Home
from ipmicra.app.serve.coordinator import Coordinator
from ipmicra.app.serve.peers import PeerSettings
from ipmicra.edge.coordinator.agent_client import AgentAccess
from ipmicra.edge.store.ports import AgentRecord, Member, OrderRecord, StorePort
from ipmicra.edge.store.probes import budget_name
from ipmicra.edge.store.store import Store
from ipmicra.model.address import Address
from ipmicra.model.crawler import CALLS_OUT, CrawlerState
from ipmicra.model.sample import Sample
from ipmicra.model.site import Site
from ipmicra.wire.polling import PollRequest
from tests.delegating_worlds import PER_SUBNET, hierarchy_of, site_address
from tests.fakes.fleet import crawler
from tests.patience import run
from tests.servers.agent import TOKEN
from tests.servers.evil_agent import EvilAgent, honest

ATH = crawler("ath", "198.51.99.1")
PEER = PeerSettings(name="three", url="http://three.example")
THEIRS_MS, OURS_MS = 3.0, 0.5
"""What others measured, and what the agent answers."""
TAKE_OVER = "UPDATE leases SET holder = 'two', number = number + 1, expires_s = ? WHERE name LIKE 'sector %'"


@pytest.fixture
def home(tmp_path: Path, postgres_url: str) -> Home:
    hierarchy_of(tmp_path, 3 * PER_SUBNET)
    with Store.open(postgres_url):
        return Home(folder=tmp_path, named_store=postgres_url)


def measured(store: StorePort, coordinator: str, address: Address, *, is_ended: bool) -> int:
    """Note that another coordinator has asked the crawler about an address; return its batch."""
    number = store.batches.begin(f"ipmicra serve {coordinator}", "", 1.0).id
    store.budget.open(budget_name(number), None)
    store.budget.reserve(
        budget_name(number), [OrderRecord(id=coordinator, crawler="ath", address=address)], 1.0
    )
    store.samples.add_many([Sample(crawler="ath", address=address, rtt_ms=THEIRS_MS, taken_s=time.time())])
    store.budget.answer([coordinator], 1.0)
    if is_ended:
        store.batches.end(number, 2.0)
    return number


def test_what_other_coordinators_measured_is_not_measured_again(home: Home) -> None:
    """One of them has stopped, the other goes on; a third site was measured by nobody."""
    one, two, new = (site_address(PER_SUBNET * subnet) for subnet in range(3))
    found: dict[Address, float | None] = {}
    with EvilAgent(honest) as agent:
        with home.open_store() as store:
            store.crawlers.put(Member(crawler=replace(ATH, agent_url=agent.url)))
            batches = {
                measured(store, "one", one, is_ended=True),
                measured(store, "two", two, is_ended=False),
            }
        access = AgentAccess(token=TOKEN)
        options = DelegateOptions(policy="everyone", location="none", access=access)

        async def scenario() -> None:
            async with Coordinator(home, options, peer=PEER) as coordinator:
                session = coordinator.deciding.session
                assert session is not None
                assert batches <= set(session.known_from)
                for address in (one, two, new):
                    decision = await coordinator.deciding.ask(Site(f"{address}.example", address))
                    found[address] = decision.rtt_ms

        run(scenario)
    assert found == {one: THEIRS_MS, two: THEIRS_MS, new: OURS_MS}


def test_site_that_went_to_another_coordinator_is_not_probed_by_the_one_that_does_not_know_yet(
    home: Home,
) -> None:
    """Another one took all sectors, measured a site and stopped; we hear of it only after we were asked."""
    address = site_address(0)
    with EvilAgent(honest) as agent:
        with home.open_store() as store:
            store.crawlers.put(Member(crawler=replace(ATH, agent_url=agent.url)))
        access = AgentAccess(token=TOKEN)
        options = DelegateOptions(policy="everyone", location="none", access=access)

        async def scenario() -> None:
            async with Coordinator(home, options, peer=PEER) as coordinator:
                await coordinator.deciding.ask(Site("before.example", site_address(PER_SUBNET)))
                agent.requests.clear()
                with Store.open(str(home.named_store)) as theirs:
                    theirs.connection.execute(TAKE_OVER, (theirs.leases.now_s() + 1.0,))
                    measured(theirs, "two", address, is_ended=True)
                decision = await coordinator.deciding.ask(Site("site.example", address))
                assert decision.rtt_ms == THEIRS_MS

        run(scenario)
    assert not any(agent.requests), "nobody was asked for anything but its health"


def test_agent_that_another_coordinator_does_not_hear_is_there_if_this_one_hears_it(home: Home) -> None:
    with home.open_store() as store:
        store.crawlers.put(Member(crawler=replace(ATH, agent_url=f"{CALLS_OUT}ath")))
        store.agents.put(AgentRecord(crawler="ath", id="a", joined_s=1.0, seen_s=1.0, software="1"))

    async def scenario() -> None:
        options = DelegateOptions(policy="hash", location="none")
        async with Coordinator(home, options, peer=PEER) as coordinator:
            store, members = coordinator.deciding.store, coordinator.agents.membership
            request = PollRequest(boot="b", cursor="", capacity=10, wait_s=0.0, software="1")
            await coordinator.switchboard.poll("ath", request)
            members.look()
            store.crawlers.set_state("ath", CrawlerState.UNREACHABLE, 2.0)  # as another one does
            members.look()
            found = store.crawlers.get("ath")
            assert found is not None
            assert found.crawler.state is CrawlerState.JOINED

    run(scenario)
