"""Believing crawlers, over real agents, sockets and a store on disk."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from ipmicra import Delegator
from ipmicra.app.delegate.batch import Batch, BatchReport
from ipmicra.app.delegate.options import DelegateOptions, DrivingConfig
from ipmicra.app.home import Home
from ipmicra.edge.coordinator.orders import DeskConfig
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.store.store import Store
from ipmicra.errors import IpmicraError
from ipmicra.model.crawler import Crawler, TrackRecord
from ipmicra.model.delegation import Decision
from ipmicra.model.location import Location
from ipmicra.model.sample import Rung
from tests.delegating_worlds import enrol, hierarchy_of, seeds_of, site_address, split_world
from tests.patience import PATIENCE_S
from tests.servers.evil_agent import EvilAgent, honest

ATHENS = Location(latitude=37.98, longitude=23.73, radius_km=10.0)
SYDNEY = Location(latitude=-33.9, longitude=151.2, radius_km=10.0)
NEAR, FAR = "40.98,23.73", "-33.9,151.2"
"""334 km from Athens, where light needs 2 ms, and 15,300 km, where it needs 101 ms."""


def options(internet: LoopbackInternet, places: Path) -> DelegateOptions:
    return DelegateOptions(
        policy="everyone",
        location=str(places),
        desk=DeskConfig(samples=3, first_rung=Rung.HEAD, timeout_ms=10_000.0),
        access=internet.access,
        driving=DrivingConfig(health_s=0.1),
    )


def placed(path: Path, places: dict[int, str]) -> Path:
    rows = [f"{site_address(number)},{place}" for number, place in places.items()]
    path.write_text("\n".join(["address,latitude,longitude", *rows]))
    return path


def delegated(
    folder: Path, wanted: DelegateOptions, seeds: list[str]
) -> tuple[dict[str, Decision], BatchReport]:
    """Run a batch with a store that is opened for it alone, as a new process would."""
    found: dict[str, Decision] = {}
    with Hierarchy.open(folder / "hierarchy.ipm") as hierarchy, Store.open(str(folder / "state.db")) as store:
        batch = Batch(store, hierarchy, wanted, lambda decision: found.update({decision.host: decision}))
        return found, batch.run(seeds, seeds)


def test_implausible_sample_is_rejected_and_its_crawler_flagged_for_good(tmp_path: Path) -> None:
    """A crawler in Sydney claims half a millisecond to sites in Athens."""
    hierarchy_of(tmp_path, 6)
    places = placed(tmp_path / "places.csv", dict.fromkeys(range(6), "37.98,23.73"))
    with EvilAgent(honest) as evil, LoopbackInternet(split_world(6, 1)) as internet:
        claims = Crawler(
            name="claims", address=IPv4Address("198.51.99.9"), agent_url=evil.url, location=SYDNEY
        )
        with Store.open(str(tmp_path / "state.db")) as store:
            enrol(store, [claims, *internet.crawlers.values()])
        seeds = seeds_of(6, internet.port)
        found, report = delegated(tmp_path, options(internet, places), seeds)
        assert report.is_complete
        assert {one.crawler for one in found.values()} == {"c0"}
        with Store.open(str(tmp_path / "state.db")) as store:
            rejected = store.track_records.rejected()
            assert {one.crawler for one in rejected} == {"claims"}
            assert all(one.rtt_ms < one.least_ms for one in rejected)
            ended = [((one.first, one.last), "for the test") for one in found.values()]
            store.delegations.end_many(ended, 5.0)
        asked = len(evil.requests)
        again, second = delegated(tmp_path, options(internet, places), seeds)
    assert {one.crawler for one in again.values()} == {"c0"}
    assert all(not request.get("orders") for request in evil.requests[asked:])
    assert any("claims" in note and "add it again" in note for note in second.notes)


def test_three_implausible_samples_in_203_checks_survive_a_restart(tmp_path: Path) -> None:
    """Three places of the table are wrong, as in every table; the only crawler is honest."""
    checks, wrong = 203, {100, 101, 102}  # amid the first request: alone, they would be all that is known
    hierarchy_of(tmp_path, checks + 1)
    places = placed(tmp_path / "places.csv", {i: FAR if i in wrong else NEAR for i in range(checks)})
    world = split_world(checks + 1, 1)
    with LoopbackInternet(world) as internet:
        with Store.open(str(tmp_path / "state.db")) as store:
            enrol(store, [replace(internet.crawlers["c0"], location=ATHENS)])
        seeds = seeds_of(checks + 1, internet.port)
        _found, report = delegated(tmp_path, options(internet, places), seeds[:checks])
        assert report.is_complete
        with Store.open(str(tmp_path / "state.db")) as store:
            assert store.track_records.all() == {"c0": TrackRecord(checked=checks, implausible=len(wrong))}
        found, report = delegated(tmp_path, options(internet, places), seeds[checks:])
        assert report.is_complete
        assert [(one.crawler, one.probes) for one in found.values()] == [("c0", 1)]


def silent(_request: dict[str, Any]) -> bytes:
    return b""


def test_three_implausible_samples_in_203_checks_survive_a_reconnect(tmp_path: Path) -> None:
    """The agent answers, breaks off twice in the middle of a site, and is back for the next."""
    hierarchy_of(tmp_path, 2)
    crawler = Crawler(name="ath", address=IPv4Address("198.51.99.9"), location=ATHENS)

    async def answered(delegator: Delegator) -> Decision:
        while True:
            try:
                return await delegator.delegate(str(site_address(1)))
            except IpmicraError:  # as long as the agent is silent
                await asyncio.sleep(0.05)

    async def talk() -> Decision:
        options = DelegateOptions(policy="everyone", location="none", driving=DrivingConfig(health_s=0.1))
        async with Delegator.open(Home(folder=tmp_path), options=options) as delegator:
            with pytest.raises(IpmicraError, match="there is no crawler"):
                await delegator.delegate(str(site_address(0)))
            return await asyncio.wait_for(answered(delegator), PATIENCE_S)

    with EvilAgent(honest, silent, silent, honest) as agent:
        with Store.open(str(tmp_path / "state.db")) as store:
            enrol(store, [replace(crawler, agent_url=agent.url)])
            store.track_records.put_many([("ath", TrackRecord(checked=203, implausible=3))])
        decision = asyncio.run(talk())
        assert len(agent.requests) > 4, "it fell silent"
    assert (decision.crawler, decision.probes) == ("ath", 1)
