"""Assigning from samples: reasons, incremental calls, pieces, findings."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address

import numpy as np
import pytest

from ipmicra.app.assign.backends import BACKENDS, AssignReport, assign
from ipmicra.app.assign.findings import explain_load
from ipmicra.app.assign.problem import AssignProblem
from ipmicra.app.assign.round_trips import KnownRoundTrips, RoundTrips, fleet_coordinates
from ipmicra.assign.balance.config import PieceConfig
from ipmicra.assign.balance.load import fleet_loads
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError
from ipmicra.model.address import Address
from ipmicra.model.crawler import Capacity, Crawler
from ipmicra.model.sample import Loss, Sample
from ipmicra.model.site import Site

NAMES = ("ath", "ber", "cdg", "dub", "edi", "fra")
CRAWLERS = [
    Crawler(name=name, address=ip_address(f"192.0.2.{number + 1}")) for number, name in enumerate(NAMES)
]


class LineWorld:
    """Crawlers stand in a row, 20 ms apart; the last number of an address tells where a site stands."""

    def __init__(self, unknown: frozenset[int] = frozenset()) -> None:
        self.unknown = unknown

    def expected_ms(self, addresses: Sequence[Address], crawlers: Sequence[Crawler]) -> np.ndarray:
        rows = []
        for address in addresses:
            number = int(address) & 255
            at = [20.0 * NAMES.index(crawler.name) for crawler in crawlers]
            place = (
                20.0 * (number - 1)
                if int(address) >> 8 == int(ip_address("192.0.2.0")) >> 8
                else float(number)
            )
            told = [abs(one - place) + 5.0 for one in at]
            rows.append([np.nan] * len(crawlers) if number in self.unknown else told)
        return np.array(rows).reshape(len(addresses), len(crawlers))


def site(number: int, name: str = "") -> Site:
    return Site(name or f"s{number}.example", ip_address(f"198.51.100.{number}"))


def assigned(
    sites: Sequence[Site],
    trips: RoundTrips | None = None,
    crawlers: Sequence[Crawler] = CRAWLERS,
    **more: object,
) -> AssignReport:
    problem = AssignProblem(sites=sites, crawlers=crawlers, trips=trips or LineWorld(), **more)  # type: ignore[arg-type]
    return assign(problem)


def test_sites_go_to_the_nearest_while_there_is_room() -> None:
    report = assigned([site(1), site(41), site(99)])
    assert [(one.crawler, one.reason, one.expected_ms) for one in report.assignments] == [
        ("ath", "nearest", 6.0),
        ("cdg", "nearest", 6.0),
        ("fra", "nearest", 6.0),
    ]


def test_who_is_full_forwards_and_the_reason_says_so() -> None:
    report = assigned([site(number) for number in range(1, 13)])
    reasons = {one.reason for one in report.assignments}
    assert "forwarded from ath: load" in reasons
    held = [sum(one.crawler == name for one in report.assignments) for name in NAMES]
    assert max(held) <= 3


def test_hosts_of_one_address_stay_together() -> None:
    same = [site(1, f"h{number}.example") for number in range(6)]
    report = assigned([*same, *(site(number) for number in range(2, 40))])
    assert len({one.crawler for one in report.assignments[:6]}) == 1


def test_a_second_call_moves_nothing_and_counts_what_others_hold() -> None:
    sites = [site(number) for number in range(1, 61)]
    first = assigned(sites)
    again = assigned(sites, before=first.assignments)
    assert [one.crawler for one in again.assignments] == [one.crawler for one in first.assignments]
    assert again.moved_load == 0
    ath = [one for one in first.assignments if one.crawler == "ath"]
    new = assigned([site(100, f"new{number}.example") for number in range(1)], before=ath)
    assert new.assignments[0].crawler == "fra"
    crowded = assigned([site(1, "new.example"), site(2, "other.example")], before=ath)
    assert {one.crawler for one in crowded.assignments}.isdisjoint({"ath"})


def test_a_crawler_that_left_loses_its_sites_and_only_those() -> None:
    sites = [site(number) for number in range(1, 61)]
    first = assigned(sites)
    left = assigned(sites, crawlers=CRAWLERS[1:], before=first.assignments)
    for before, after in zip(first.assignments, left.assignments, strict=True):
        assert after.crawler is not None
        assert after.crawler != "ath"
        assert before.crawler == "ath" or after.crawler == before.crawler
    count = sum(one.crawler == "ath" for one in first.assignments)
    assert f"ath is gone: {count} of its sites start again elsewhere" in left.findings
    some = assigned(sites[:5], crawlers=CRAWLERS[1:], before=first.assignments)
    again = sum(one.crawler == "ath" for one in first.assignments[:5])
    assert 0 < again < count
    assert (
        f"ath is gone: {again} of its sites start again elsewhere, "
        f"{count - again} were not asked for or have no heir"
    ) in some.findings


def test_the_load_decision_can_be_explained() -> None:
    report = assigned([site(number) for number in range(1, 13)], pages={"s1.example": 500})
    (told,) = explain_load(
        [one for one in report.assignments if one.host == "s1.example"],
        fleet_loads(report.assignments),
        CRAWLERS,
    )
    own = [one for one in report.assignments if one.crawler == told["crawler"]]
    assert told["crawler_tasks"] == len(own)
    assert told["relative_page_load"] == 500 * len(own)
    assert told["mean_page_load"] == pytest.approx(500 * 12 / 6)
    assert told["reason"] == report.assignments[0].reason


def test_a_large_site_is_cut_and_its_pieces_are_told() -> None:
    urls = [f"https://s1.example/{name}/{i}" for name in ("a", "b", "c") for i in range(10)]
    cut = PieceConfig(most=3, least_pages=10)
    report = assigned([site(1), site(50)], urls={"s1.example": urls}, pieces=cut)
    pieces = [one for one in report.assignments if one.host == "s1.example"]
    assert [(one.piece, one.of, one.pages) for one in pieces] == [(1, 3, 10), (2, 3, 10), (3, 3, 10)]
    assert [one.reason.split(",")[0] for one in pieces] == ["piece 1/3", "piece 2/3", "piece 3/3"]
    assert [one.filters for one in pieces] == [("/a/", "-/b/", "-/c/"), ("/b/",), ("/c/",)]
    again = assigned([site(1), site(50)], urls={"s1.example": urls}, pieces=cut, before=report.assignments)
    assert [one.crawler for one in again.assignments] == [one.crawler for one in report.assignments]


def test_sites_without_any_sample_go_where_room_is() -> None:
    report = assigned([site(1), site(7)], LineWorld(frozenset({7})))
    assert report.assignments[1].reason == "no sample: where room is"
    assert report.assignments[1].crawler is not None
    assert report.assignments[1].expected_ms is None


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_assigns_every_site(backend: str) -> None:
    sites = [site(number) for number in range(1, 121)]
    report = assigned(sites, backend=backend)
    assert report.unassigned == 0
    assert {one.backend for one in report.assignments} == {backend}
    if backend in {"lbi", "lbi-split"}:
        assert any(one.reason.startswith("forwarded from") for one in report.assignments)


def test_overlay_backends_say_what_they_need() -> None:
    unmeasured = LineWorld(frozenset(range(1, 7)))
    with pytest.raises(InputError, match=r"round trips between .* 0 of 15 pairs: `ipmicra crawler measure`"):
        assigned([site(40)], unmeasured, backend="can")


# --- bad input


def test_no_capacity_anywhere_leaves_all_and_says_why() -> None:
    idle = [Crawler(name="ath", address=CRAWLERS[0].address, capacity=Capacity(bandwidth_mbps=0.0))]
    report = assigned([site(1)], crawlers=idle)
    assert (report.assignments[0].crawler, report.assignments[0].reason) == (
        None,
        "no crawler has any capacity",
    )
    assert report.findings[-1] == "without capacity, so without sites: ath"


def test_more_tasks_than_a_crawler_wants_are_told() -> None:
    one = [Crawler(name="ath", address=CRAWLERS[0].address, capacity=Capacity(max_pieces=2))]
    report = assigned([site(number) for number in range(1, 6)], crawlers=one)
    assert "ath (5 of 2)" in report.findings[-1]


def test_absurd_page_counts_are_estimated_and_told() -> None:
    report = assigned([site(1), site(2), site(3)], pages={"s1.example": 10**12, "s2.example": 0})
    assert [one.pages for one in report.assignments] == [1, 1, None]
    assert "1 without a known number of pages: estimated by the median of the others" in report.findings
    assert "1 with a number of pages beyond belief: estimated instead" in report.findings


def test_sites_of_unknown_size_count_the_same_and_that_is_told() -> None:
    report = assigned([site(1), site(2)])
    assert any(finding.startswith("no number of pages is known") for finding in report.findings)
    assert not any("median" in finding for finding in report.findings)


def test_no_crawler_an_unknown_backend_and_no_sites_are_told() -> None:
    with pytest.raises(InputError, match="ipmicra crawler add"):
        assigned([site(1)], crawlers=[])
    with pytest.raises(InputError, match="balance"):
        assigned([site(1)], backend="magic")
    assert assigned([]).assignments == []


def test_samples_of_the_store_are_round_trips_and_losses_are_not(memory_store: Store) -> None:
    address = ip_address("198.51.100.1")
    memory_store.samples.add_many(
        [
            Sample(crawler="ath", address=address, rtt_ms=9.0, taken_s=1.0),
            Sample(crawler="ath", address=address, rtt_ms=7.0, taken_s=2.0),
            Sample(crawler="ber", address=address, rtt_ms=None, loss=Loss.TIMEOUT, taken_s=1.0),
            Sample(crawler="zzz", address=address, rtt_ms=1.0, taken_s=1.0),
        ]
    )
    found = KnownRoundTrips(samples=memory_store.samples).expected_ms([address, address], CRAWLERS[:2])
    assert found[:, 0].tolist() == [7.0, 7.0]
    assert np.isnan(found[:, 1]).all()


def test_coordinates_fill_in_what_was_not_measured() -> None:
    world = LineWorld()
    addresses = [ip_address(f"198.51.100.{number}") for number in (10, 50, 90)]
    truth = world.expected_ms(addresses, CRAWLERS)
    some = truth.copy()
    some[:, 1] = np.nan
    found = fleet_coordinates(world, CRAWLERS, some)
    assert found is not None
    told = found.expected_ms()
    assert told[:, 0].tolist() == truth[:, 0].tolist()
    assert np.abs(told[:, 1] - truth[:, 1]).max() < 15
