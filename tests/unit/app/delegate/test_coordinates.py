"""Coordinates of sites that cannot be probed, by what a store has."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import numpy as np
import pytest

from ipmicra.app.delegate.coordinates import UNMEASURED, FleetCoordinates
from ipmicra.delegate.events import CrawlerJoined
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.baselines import Everyone
from ipmicra.delegate.ports import CoordinateTrips
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler
from ipmicra.model.sample import Loss, Sample
from tests.fakes.subnet_tree import flat_tree

AT = {"a": (0.0, 0.0), "b": (100.0, 0.0), "c": (0.0, 100.0), "d": (100.0, 100.0), "e": (50.0, 150.0)}
"""Where crawlers stand, in milliseconds on a plane."""
FLEET = [Crawler(name=name, address=ip_address(f"192.0.2.{i + 1}")) for i, name in enumerate(AT)]
NAMES = list(AT)


def away_ms(name: str, point: tuple[float, float]) -> float:
    return float(np.hypot(*np.subtract(AT[name], point)))


def sample(crawler: str, address: str, rtt_ms: float | None) -> Sample:
    loss = Loss.TIMEOUT if rtt_ms is None else None
    return Sample(crawler=crawler, address=ip_address(address), rtt_ms=rtt_ms, loss=loss, taken_s=1.0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "state.db")) as opened:
        yield opened


def source(store: Store, fleet: list[Crawler] = FLEET) -> FleetCoordinates:
    made = FleetCoordinates(store, flat_tree(3))
    made.machine = DelegationMachine(flat_tree(3), Everyone())
    for one in fleet:
        made.machine.handle(CrawlerJoined(one, 0.0))
    return made


def measure_fleet(store: Store) -> None:
    store.samples.add_many(
        sample(one.name, str(other.address), away_ms(one.name, AT[other.name]))
        for one in FLEET
        for other in FLEET
        if one is not other
    )


def found(made: FleetCoordinates, address: str, names: list[str] = NAMES) -> CoordinateTrips:
    answer = made.expected_ms_many(ip_address(address), names)
    assert isinstance(answer, CoordinateTrips), answer
    return answer


def test_fleet_that_never_measured_itself_has_no_coordinates(store: Store) -> None:
    store.samples.add_many([sample(name, "10.0.0.1", 9.0) for name in NAMES])
    answer = source(store).expected_ms_many(ip_address("10.0.0.1"), NAMES)
    assert isinstance(answer, str)
    assert "0 of 10 pairs: `ipmicra crawler measure`" in answer


def test_site_stands_where_its_earlier_samples_put_it_and_the_others_are_expected_by_distance(
    store: Store,
) -> None:
    measure_fleet(store)
    point = (80.0, 20.0)
    store.samples.add_many([sample(name, "10.0.0.1", away_ms(name, point)) for name in "acde"])
    store.samples.add_many([sample("b", "10.0.0.1", None)])
    answer = found(source(store), "10.0.0.1")
    assert answer.basis == "by samples of 4 crawlers"
    assert answer.expected_ms[0] == pytest.approx(away_ms("a", point))
    assert answer.expected_ms[1] == pytest.approx(away_ms("b", point), abs=5.0), "never measured"


def test_subnets_do_not_teach_each_other(store: Store) -> None:
    measure_fleet(store)
    points = {"10.0.0.9": (5.0, 5.0), "10.0.1.9": (95.0, 95.0)}
    for address, point in points.items():
        store.samples.add_many([sample(name, address, away_ms(name, point)) for name in NAMES])
    made = source(store)
    for address, nearest in (("10.0.0.1", "a"), ("10.0.1.1", "d"), ("10.0.0.1", "a")):
        answer = found(made, address)
        assert NAMES[int(np.argmin(answer.expected_ms))] == nearest
        assert answer.basis == "by samples of its subnet, of 5 crawlers"
        assert min(answer.expected_ms) == pytest.approx(away_ms(nearest, points[f"{address[:-1]}9"]), abs=3.0)


def test_too_few_samples_or_none_say_so(store: Store) -> None:
    measure_fleet(store)
    store.samples.add_many([sample(name, "10.0.0.9", 5.0) for name in "ab"])
    made = source(store)
    assert made.expected_ms_many(ip_address("10.0.1.1"), NAMES) == UNMEASURED
    few = made.expected_ms_many(ip_address("10.0.0.1"), NAMES)
    assert few == "too few crawlers measured it or its subnet: 4 fix a coordinate"


def test_crawler_that_joined_later_is_placed_when_it_is_asked_for(store: Store) -> None:
    measure_fleet(store)
    store.samples.add_many([sample(name, "10.0.0.9", away_ms(name, (50.0, 140.0))) for name in "abcd"])
    made = source(store, FLEET[:4])
    assert len(found(made, "10.0.0.1", NAMES[:4]).expected_ms) == 4
    made.machine.handle(CrawlerJoined(FLEET[4], 1.0))
    assert NAMES[int(np.argmin(found(made, "10.0.0.1").expected_ms))] == "e"


def test_impossible_samples_and_crawlers_without_a_coordinate_do_no_harm(store: Store) -> None:
    measure_fleet(store)
    rows = [sample(name, "10.0.0.1", away_ms(name, (10.0, 10.0))) for name in "abcd"]
    store.samples.add_many([*rows, sample("e", "10.0.0.1", 0.0), sample("gone", "10.0.0.1", 1.0)])
    stranger = Crawler(name="new", address=ip_address("192.0.2.99"))
    answer = found(source(store, [*FLEET, stranger]), "10.0.0.1", [*NAMES, "new"])
    assert NAMES[int(np.argmin(answer.expected_ms))] == "a"
    assert answer.expected_ms[-1] == np.inf
