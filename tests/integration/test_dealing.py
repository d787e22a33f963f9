"""Coordinators that share a database deal out the tree; real leases, real threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ipmicra.app.serve.dealing import TOGETHER, Dealing, DealingConfig, Dealt
from ipmicra.delegate.sectors import SECTORS
from ipmicra.edge.store.store import Store
from ipmicra.errors import LeaseLostError, StoreBusyError
from tests.patience import wait_until

QUICK = DealingConfig(lease_s=1.0, renew_s=0.1)


class Watched:
    """A coordinator's leases, and the last that it said of them."""

    def __init__(self, url: str, name: str, config: DealingConfig = QUICK) -> None:
        self.dealing = Dealing(url, name, f"http://{name}.example", config)
        self.busy: set[int] = set()
        self.dealt: Dealt = self.dealing.start(self._note, lambda sector: sector not in self.busy)

    def _note(self, dealt: Dealt) -> None:
        self.dealt = dealt

    @property
    def sectors(self) -> set[int]:
        return set(self.dealt.ours)


@pytest.fixture
def url(postgres_url: str) -> str:
    with Store.open(postgres_url):
        return postgres_url


@contextmanager
def watched(url: str, name: str) -> Iterator[Watched]:
    one = Watched(url, name)
    try:
        yield one
    finally:
        one.dealing.stop()


def test_one_alone_holds_everything_and_two_hold_half_each(url: str) -> None:
    with watched(url, "one") as one:
        assert one.sectors == set(range(SECTORS))
        with watched(url, "two") as two:
            wait_until(lambda: len(one.sectors) == len(two.sectors) == SECTORS // 2, "even sectors")
            wait_until(lambda: set(one.dealt.others.values()) == {"http://two.example"}, "others are known")
            assert one.sectors.isdisjoint(two.sectors)
            assert one.dealt.coordinators == {"one": "http://one.example", "two": "http://two.example"}
        wait_until(lambda: len(one.sectors) == SECTORS, "what the other gave back")


def test_share_in_which_somebody_waits_is_announced_but_not_given_back(url: str) -> None:
    with watched(url, "one") as one:
        one.busy = set(range(SECTORS))
        with watched(url, "two") as two:
            wait_until(lambda: len(one.dealt.leaving) == SECTORS // 2, "sectors are announced")
            assert (len(one.sectors), two.sectors) == (SECTORS, set())
            one.busy = set()
            wait_until(lambda: len(two.sectors) == SECTORS // 2, "sectors change hands")


def test_shares_and_name_of_a_silent_one_are_taken_over_and_its_writes_are_fenced(url: str) -> None:
    silent = Watched(url, "silent", DealingConfig(lease_s=1.0, renew_s=60.0))
    lease = next(iter(silent.dealt.ours.values()))
    with watched(url, "one") as one, Store.open(url) as store:
        wait_until(lambda: len(one.sectors) == SECTORS, "all sectors")
        wait_until(lambda: set(one.dealt.gone) == {"silent"}, "the name of the silent one")
        assert one.dealt.coordinators == {"one": "http://one.example"}
        with pytest.raises(LeaseLostError), store.transaction():
            store.leases.check(lease)
        one.dealing.settled("silent")
        wait_until(lambda: not one.dealt.gone, "what it left is settled")
    silent.dealing.stop()


def test_one_that_was_silent_for_too_long_learns_that_it_was_evicted(url: str) -> None:
    with watched(url, "one") as one:
        lost = one.dealing
        with Store.open(url) as store:
            store.connection.execute("UPDATE leases SET number = number + 1, holder = 'other x'")
        wait_until(lambda: one.dealt.is_evicted or not one.sectors, "eviction is noticed")
        with Store.open(url) as store:
            store.connection.execute("UPDATE leases SET expires_s = 0")
        wait_until(lambda: len(one.sectors) == SECTORS, "sectors are taken anew")
    assert lost is one.dealing


def test_commands_cannot_decide_beside_coordinators(url: str, tmp_path: Path) -> None:
    from ipmicra.app.home import Home

    home = Home(folder=tmp_path, named_store=url)
    wanted = home.lock("delegate", "ipmicra delegate x")
    with watched(url, "one"), pytest.raises(StoreBusyError, match="ipmicra serve"), wanted:
        pass
    with home.lock("delegate", "ipmicra delegate x"), Store.open(url) as store:
        holders = {one.name: one.holder for one in store.leases.all()}
        assert holders["delegate"] != TOGETHER


def test_second_of_the_same_name_is_refused(url: str) -> None:
    with watched(url, "one"), pytest.raises(StoreBusyError, match="another --name"):
        Watched(url, "one", DealingConfig(lease_s=0.4, renew_s=0.1))
