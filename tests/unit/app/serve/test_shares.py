"""What the mailboxes of crawls hear of owners."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.app.home import Home
from ipmicra.app.serve.coordinator import Coordinator
from ipmicra.app.serve.shares import OwnerShares
from ipmicra.edge.store.ports import Member, StorePort
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import CrawlerState
from tests.delegating_worlds import enrol, hierarchy_of, site_address, split_world

FLEET = list(split_world(2, 2).crawlers)


def assigned(number: int, crawler: str = "c0") -> Assignment:
    return Assignment(
        host=f"h{number}.example",
        address=site_address(number),
        crawler=crawler,
        reason="nearest",
        backend="nearest",
    )


def with_shares(folder: Path, use: Callable[[OwnerShares, StorePort], None]) -> None:
    """Use the shares of a coordinator that has a fleet."""
    hierarchy_of(folder, 2)
    home = Home(folder=folder)
    with home.open_store() as store:
        enrol(store, FLEET)

    async def work() -> None:
        async with Coordinator(home, DelegateOptions(policy="hash", location="none")) as coordinator:
            use(OwnerShares(coordinator.owners, coordinator.deciding), coordinator.deciding.store)

    asyncio.run(work())


def test_host_that_was_assigned_is_named_once(tmp_path: Path) -> None:
    def use(shares: OwnerShares, store: StorePort) -> None:
        store.assignments.put_many([assigned(0), assigned(1)])
        assert shares.changed() is None, "whoever asks for the first time knows nothing yet"
        assert list(shares.changed() or ()) == []
        store.assignments.put_many([assigned(2)])
        assert list(shares.changed() or ()) == ["h2.example"]
        found = shares.changed()
        assert found is not None
        assert list(found) == []
        store.assignments.put_many([assigned(2, "c1"), assigned(1)])
        assert list(shares.changed() or ()) == ["h2.example"]
        store.assignments.forget(["h0.example"])
        assert list(shares.changed() or ()) == ["h0.example"]
        assert list(shares.changed() or ()) == []

    with_shares(tmp_path, use)


def test_many_changes_are_read_part_by_part_and_too_many_concern_all_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ipmicra.app.serve.shares.CHANGES", 2)
    monkeypatch.setattr("ipmicra.app.serve.shares.MOST_CHANGES", 5)

    def use(shares: OwnerShares, store: StorePort) -> None:
        shares.changed()
        store.assignments.put_many([assigned(number) for number in range(5)])
        assert sorted(shares.changed() or ()) == [f"h{number}.example" for number in range(5)]
        store.assignments.put_many([assigned(number, "c1") for number in range(6)])
        assert shares.changed() is None
        found = shares.changed()
        assert found is not None
        assert list(found) == []

    with_shares(tmp_path, use)


def test_fleet_that_changes_concerns_all_hosts(tmp_path: Path) -> None:
    def use(shares: OwnerShares, store: StorePort) -> None:
        shares.changed()
        store.crawlers.put(Member(crawler=replace(FLEET[1], state=CrawlerState.LEFT)))
        assert shares.changed() is None
        assert shares.changed() is not None

    with_shares(tmp_path, use)
