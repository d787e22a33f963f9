"""Slices and whole subnets: what `predict` delegates."""

from __future__ import annotations

from ipmicra.delegate.actions import Action, Delegated, Revoked
from ipmicra.delegate.config import DelegatorConfig
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.paper import Paper
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.model.location import Location
from ipmicra.model.site import Site
from tests.fakes.fleet import arrived, asked, crawler, joined, place
from tests.fakes.subnet_tree import ListedTree, listed

TREE = ListedTree(
    [
        listed("10.1.0.0/16", 0, organisation=1),
        listed("10.2.0.0/16", 0, organisation=1),
        listed("10.3.0.0/16", 0, organisation=2),
        listed("10.4.0.0/24", 0, organisation=3),
    ]
)
FLEET = (
    crawler("athens", "192.0.2.1", place(37.98, 23.73)),
    crawler("tokyo", "192.0.2.2", place(35.68, 139.69)),
    crawler("lima", "192.0.2.3", place(-12.05, -77.04)),
)
NEAR = {"athens": 4.0, "tokyo": 250.0, "lima": 230.0}
FAR = {"athens": 250.0, "tokyo": 4.0, "lima": 240.0}


class In:
    """Every site is at one place."""

    def __init__(self, location: Location | None) -> None:
        self._location = location

    def location_of(self, site: Site, key: int) -> Location | None:
        return self._location


def near_or_far(crawler: str, address: str) -> float:
    """Sites are in Athens, those in odd slices in Tokyo."""
    return (FAR if int(address.split(".")[2]) % 2 else NEAR)[crawler]


def in_athens(crawler: str, address: str) -> float:
    return NEAR[crawler]


def delegated(actions: list[Action]) -> list[str]:
    found = [action.delegation for action in actions if isinstance(action, Delegated)]
    return [f"{one.first}-{one.last} {one.crawler}" for one in found]


def revoked(actions: list[Action]) -> list[str]:
    return [f"{one.delegation.first}" for one in actions if isinstance(one, Revoked)]


def machine(location: Location | None = None, config: DelegatorConfig | None = None) -> DelegationMachine:
    made = DelegationMachine(TREE, Predict(), config, locations=In(location))
    joined(made, *FLEET)
    return made


def test_first_site_of_a_wide_subnet_is_delegated_with_its_slice_alone_if_its_place_is_unknown() -> None:
    found = delegated(arrived(machine(), "10.1.2.9", near_or_far))
    assert found == ["10.1.2.0-10.1.2.255 athens"]


def test_site_of_another_slice_is_probed_by_itself() -> None:
    made = machine()
    arrived(made, "10.1.2.9", near_or_far)
    actions = arrived(made, "10.1.3.9", near_or_far)
    assert asked(actions)
    assert delegated(actions) == ["10.1.3.0-10.1.3.255 tokyo"]


def test_sites_of_a_delegated_slice_cost_nothing() -> None:
    made = machine()
    arrived(made, "10.1.2.9", near_or_far)
    assert asked(arrived(made, "10.1.2.77", near_or_far)) == []


def test_subnet_no_wider_than_a_slice_is_delegated_as_registered() -> None:
    assert delegated(arrived(machine(), "10.4.0.9", in_athens)) == ["10.4.0.0-10.4.0.255 athens"]


def test_subnet_at_one_place_is_delegated_as_a_whole_and_says_so() -> None:
    made = machine(place(37.9, 23.7))
    actions = arrived(made, "10.1.2.9", in_athens)
    (done,) = (action for action in actions if isinstance(action, Delegated))
    assert delegated(actions) == ["10.1.0.0-10.1.255.255 athens"]
    assert "good for the whole subnet" in done.account.tried[0].reason


def test_every_so_many_answers_of_a_whole_subnet_one_is_checked_by_a_probe() -> None:
    made = machine(place(37.9, 23.7), DelegatorConfig(check_every=5))
    probes = [len(asked(arrived(made, f"10.1.{i}.9", in_athens))) for i in range(12)]
    assert [i for i, count in enumerate(probes) if count and i] == [5, 10]


def test_two_samples_that_cannot_be_one_place_end_the_holders_whole_subnets_at_once() -> None:
    made = machine(place(37.9, 23.7), DelegatorConfig(check_every=2))
    assert delegated(arrived(made, "10.1.2.9", in_athens)) == ["10.1.0.0-10.1.255.255 athens"]
    assert delegated(arrived(made, "10.2.2.9", in_athens)) == ["10.2.0.0-10.2.255.255 athens"]
    assert delegated(arrived(made, "10.3.2.9", in_athens)) == ["10.3.0.0-10.3.255.255 athens"]
    for address in ("10.1.4.9", "10.1.6.9", "10.1.8.9"):
        arrived(made, address, near_or_far)
    actions = arrived(made, "10.1.3.9", near_or_far)
    assert sorted(revoked(actions)) == ["10.1.0.0", "10.2.0.0"]
    assert delegated(arrived(made, "10.2.4.9", in_athens))[0].startswith("10.2.4.0-10.2.4.255")


def test_crawler_gets_its_own_slice_of_a_wide_subnet_without_a_probe() -> None:
    made = DelegationMachine(TREE, Predict())
    actions = joined(made, crawler("here", "10.1.2.3", place(37.98, 23.73)))
    assert delegated(actions) == ["10.1.2.0-10.1.2.255 here"]


def test_published_procedure_still_delegates_whole_subnets() -> None:
    made = DelegationMachine(TREE, Paper())
    joined(made, *FLEET)
    assert delegated(arrived(made, "10.1.2.9", in_athens)) == ["10.1.0.0-10.1.255.255 athens"]
