"""Laws of looking at delegations again: when they are due, and what an interruption may not change."""

from __future__ import annotations

from ipaddress import IPv4Address
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.delegate.actions import Action, Delegated, Renewed
from ipmicra.delegate.config import DelegatorConfig
from ipmicra.delegate.events import CrawlerJoined
from ipmicra.delegate.ledger import next_check_s
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.paper import Paper
from ipmicra.model.address import Address
from ipmicra.model.delegation import Delegation
from tests.examples import at_most
from tests.fakes.fleet import arrived, asked, crawler, decided, joined
from tests.fakes.subnet_tree import flat_tree

DAY_S = 86400.0
addresses = st.integers(0, 2**32 - 256).map(IPv4Address)
times = st.floats(0.0, 1e10)
shares = st.sampled_from([0.001, 0.03, 0.5, 1.0, 3.0])
days = st.lists(st.integers(1, 120), min_size=1, max_size=12)
SUBNETS = 5


def slow_check_s(first: IPv4Address, last: IPv4Address, after_s: float, share: float) -> float:
    """Go through all moments of a subnet, one cycle after the other, until one is later."""
    cycle_s = 30 * DAY_S / share
    moment_s = crc32(first.packed + last.packed) / 2**32 * cycle_s
    if after_s > 1000 * cycle_s:  # the same cycle, without so many steps before it
        moment_s += (after_s // cycle_s - 2) * cycle_s
    while moment_s <= after_s:
        moment_s += cycle_s
    return moment_s


@given(first=addresses, after_s=times, share=shares)
def test_subnet_is_due_at_its_own_moment_of_each_cycle(
    first: IPv4Address, after_s: float, share: float
) -> None:
    last, config = first + 255, DelegatorConfig(recheck_share=share)
    due_s = next_check_s(first, last, after_s, config)
    assert due_s == pytest.approx(slow_check_s(first, last, after_s, share), abs=1.0)
    cycle_s = config.recheck_period_s / share
    assert after_s - 1.0 <= due_s <= after_s + cycle_s + 1.0
    assert next_check_s(first, last, due_s + 1.0, config) == pytest.approx(due_s + cycle_s, abs=2.0)


def test_no_share_means_never() -> None:
    config = DelegatorConfig(recheck_share=0.0)
    assert next_check_s(IPv4Address(1), IPv4Address(2), 1e9, config) == float("inf")


@given(share=st.sampled_from([0.03, 0.3, 1.0]), steps=st.lists(st.integers(1, 40), max_size=60))
@at_most(25)
def test_subnet_in_use_is_measured_again_once_for_each_moment_that_passed(
    share: float, steps: list[int]
) -> None:
    """However it is used; a use after several moments makes up for all of them."""
    config = DelegatorConfig(recheck_share=share)
    machine = DelegationMachine(flat_tree(SUBNETS), Paper(), config)
    joined(machine, crawler("a"), crawler("b"))
    now_s, compared_s = 0.0, dict.fromkeys(range(SUBNETS), 0.0)
    for row in range(SUBNETS):
        arrived(machine, f"10.0.{row}.1", lambda *_: 5.0, now_s)
    for step in steps:
        now_s += step * DAY_S
        for row in range(SUBNETS):
            first = IPv4Address(f"10.0.{row}.0")
            is_due = slow_check_s(first, first + 255, compared_s[row], share) <= now_s
            found = asked(arrived(machine, f"10.0.{row}.1", lambda *_: 5.0, now_s))
            assert len(found) == is_due
            compared_s[row] = now_s if is_due else compared_s[row]


def stored(actions: list[Action], kept: dict[Address, Delegation]) -> None:
    """Keep what the store would keep."""
    for action in actions:
        if isinstance(action, Delegated | Renewed):
            kept[action.delegation.first] = action.delegation


@given(steps=days, cut=st.integers(0, 12), lost=st.sets(st.integers(0, 12)))
@at_most(50)
def test_machine_that_is_restored_at_any_time_looks_at_the_same_subnets_again(
    steps: list[int], cut: int, lost: set[int]
) -> None:
    """One is killed and restored from what was stored; it asks and answers as the one that went on."""
    config = DelegatorConfig(recheck_share=1.0)
    whole, killed = (DelegationMachine(flat_tree(SUBNETS), Paper(), config) for _ in range(2))
    kept: dict[Address, Delegation] = {}
    fleet = [crawler("a"), crawler("b")]
    for machine in (whole, killed):
        joined(machine, *fleet)
    now_s = 0.0
    for number, step in enumerate(steps):
        now_s += step * DAY_S

        def rtt_of(name: str, _address: str, number: int = number) -> float | None:
            return None if number in lost else 5.0 + 60.0 * ((number + ord(name)) % 2)

        if number == cut:
            killed = DelegationMachine(flat_tree(SUBNETS), Paper(), config)
            for one in fleet:
                killed.handle(CrawlerJoined(one, now_s))
            for row, delegation in enumerate(kept[first] for first in sorted(kept, key=int)):
                assert killed.restore(row + 1, delegation)
        for row in range(SUBNETS):
            on, again = (arrived(machine, f"10.0.{row}.1", rtt_of, now_s) for machine in (whole, killed))
            assert [type(action) for action in on] == [type(action) for action in again]
            assert asked(on) == asked(again)
            assert decided(on) == decided(again)
            stored(again, kept)
