"""Zones in odd circumstances: too few crawlers, samples that lie or are missing, stores of before."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address
from math import inf, nan

import numpy as np
import pytest

from ipmicra.app.assign.assign import OVERLAY, AssignRequest, assign_seeds
from ipmicra.app.assign.backends import AssignReport
from ipmicra.app.assign.problem import ZoneWishes
from ipmicra.app.assign.zones import OVERLAYS
from ipmicra.app.explain.in_space import find_in_space, render_in_space
from ipmicra.assign.overlay.kept import KIND, KeptOverlay
from ipmicra.assign.packing import pack, unpack
from ipmicra.edge.store.ports import Member
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError
from ipmicra.model.crawler import Capacity, Crawler
from ipmicra.model.sample import Loss, Sample

PLACES = {
    "ams": (0.0, 0.0, 0.0),
    "fra": (90.0, 10.0, 0.0),
    "mad": (10.0, 80.0, 20.0),
    "nyc": (100.0, 90.0, -30.0),
    "sea": (40.0, 30.0, 120.0),
}
HOSTS = {f"198.51.100.{number + 1}": name for number, name in enumerate([*PLACES] * 4)}
"""Sites 6 ms from a crawler each."""


def ms(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    return 3.0 + float(np.linalg.norm(np.subtract(one, other)))


def fleet(store: Store, names: tuple[str, ...] = tuple(PLACES), capacity: Capacity | None = None) -> None:
    """Let crawlers join that have measured each other and all sites."""
    for number, name in enumerate(names):
        crawler = Crawler(
            name=name, address=ip_address(f"192.0.2.{number + 1}"), capacity=capacity or Capacity()
        )
        store.crawlers.put(Member(crawler=crawler))
        mutual = [(f"192.0.2.{i + 1}", other) for i, other in enumerate(names) if other != name]
        store.samples.add_many(sample(one, address, name) for address, one in [*mutual, *HOSTS.items()])


def sample(at: str, address: str, crawler: str) -> Sample:
    near = (PLACES[at][0] + 2.0, PLACES[at][1], PLACES[at][2])
    return Sample(crawler=crawler, address=ip_address(address), rtt_ms=ms(near, PLACES[crawler]), taken_s=1.0)


def assigned(store: Store, *hosts: str, backend: str = "can", **wishes: object) -> AssignReport:
    request = AssignRequest(texts=hosts or list(HOSTS), backend=backend, zones=ZoneWishes(**wishes))  # type: ignore[arg-type]
    return assign_seeds(store, request)[0]


def at_home(report: AssignReport) -> float:
    """Share of the sites that have the crawler beside them."""
    return float(np.mean([HOSTS[one.host] == one.crawler for one in report.assignments]))


@pytest.mark.parametrize("scheme", ["MP", "DL", "MPP", "NH", "GH", "NS", "mp", "MP_30_NH", "DL_60_MPP"])
def test_every_scheme_assigns_all_sites_and_is_kept(memory_store: Store, scheme: str) -> None:
    fleet(memory_store)
    report = assigned(memory_store, scheme=scheme)
    assert report.unassigned == 0
    assert report.overlay is not None
    assert report.overlay.overlay.scheme == scheme
    again = assigned(memory_store)
    assert [one.crawler for one in again.assignments] == [one.crawler for one in report.assignments]
    assert again.overlay is not None
    assert again.overlay.overlay.scheme == scheme, "what was chosen once is gone on with"
    assert not any("anew" in finding for finding in again.findings)
    if scheme in {"MP", "NS", "mp"}:
        assert at_home(report) == 1.0


def test_other_options_draw_zones_anew_and_it_is_told(memory_store: Store) -> None:
    fleet(memory_store)
    assigned(memory_store)
    kept: KeptOverlay | None = None
    for wishes in ({"scheme": "NS"}, {"dimensions": 2}, {"moved": 0.2}):
        report = assigned(memory_store, **wishes)
        assert any("other options" in finding for finding in report.findings)
        kept = report.overlay
    assert kept is not None
    assert kept.overlay.space.dimensions == 2, "options that are not named stay"


def test_one_crawler_gets_everything_without_any_sample(memory_store: Store) -> None:
    memory_store.crawlers.put(Member(crawler=Crawler(name="ams", address=ip_address("192.0.2.1"))))
    for backend in OVERLAYS:
        report = assigned(memory_store, backend=backend)
        assert {(one.crawler, one.reason) for one in report.assignments} == {("ams", "the only crawler")}


@pytest.mark.parametrize("names", [("ams", "fra"), ("ams", "fra", "mad")])
def test_few_crawlers_have_few_dimensions(memory_store: Store, names: tuple[str, ...]) -> None:
    fleet(memory_store, names)
    report = assigned(memory_store)
    most = len(names) - 1
    few = f"{len(names)} crawlers allow for {most}"
    assert f"coordinates have {most} dimensions instead of 3: {few}" in report.findings
    mine = [one for one in report.assignments if HOSTS[one.host] in names]
    assert all(one.crawler == HOSTS[one.host] for one in mine)


def test_crawlers_that_never_measured_each_other_are_told_what_to_do(memory_store: Store) -> None:
    for number, name in enumerate(PLACES):
        crawler = Crawler(name=name, address=ip_address(f"192.0.2.{number + 1}"))
        memory_store.crawlers.put(Member(crawler=crawler))
    for backend in OVERLAYS:
        with pytest.raises(InputError, match=r"0 of 10 pairs: `ipmicra crawler measure`"):
            assigned(memory_store, backend=backend)


def test_a_crawler_that_measured_nobody_gets_no_zone_and_is_named(memory_store: Store) -> None:
    fleet(memory_store)
    memory_store.crawlers.put(Member(crawler=Crawler(name="zrh", address=ip_address("192.0.2.99"))))
    report = assigned(memory_store)
    assert at_home(report) == 1.0
    assert any("no zone and no sites: zrh; `ipmicra crawler measure`" in one for one in report.findings)


def test_round_trips_that_cannot_be_are_left_out(memory_store: Store) -> None:
    """NaN becomes nothing in the store; infinite and negative ones may stand among all of a probe."""
    fleet(memory_store)
    host = ip_address("198.51.100.1")
    memory_store.samples.add_many(
        [
            Sample(crawler="ams", address=host, rtt_ms=5.0, all_ms=(nan, inf, -1.0, 5.0), taken_s=2.0),
            Sample(crawler="fra", address=host, rtt_ms=None, loss=Loss.TIMEOUT, taken_s=2.0),
            Sample(crawler="sea", address=host, rtt_ms=7.0, all_ms=(nan,), taken_s=2.0),
        ]
    )
    report = assigned(memory_store)
    assert at_home(report) == 1.0
    assert all(one.expected_ms is not None and np.isfinite(one.expected_ms) for one in report.assignments)


def test_the_median_of_samples_that_contradict_each_other_counts(memory_store: Store) -> None:
    """One probe in five came back late, one of another day much too early."""
    fleet(memory_store)
    usual = sample("ams", "198.51.100.1", "ams")
    odd = [900.0, usual.rtt_ms, 0.01, usual.rtt_ms]
    memory_store.samples.add_many(
        Sample(crawler="ams", address=usual.address, rtt_ms=one, taken_s=2.0) for one in odd
    )
    first = assigned(memory_store).assignments[0]
    assert (first.crawler, first.expected_ms) == ("ams", usual.rtt_ms)


def test_samples_that_fit_nowhere_still_give_a_coordinate(memory_store: Store) -> None:
    fleet(memory_store)
    host = "198.51.100.200"
    for name, rtt_ms in zip(PLACES, (1.0, 1.0, 1.0, 800.0, 1.0), strict=True):
        memory_store.samples.add_many(
            [Sample(crawler=name, address=ip_address(host), rtt_ms=rtt_ms, taken_s=1.0)]
        )
    (found,) = assigned(memory_store, host).assignments
    assert found.crawler in PLACES
    assert found.crawler != "nyc"


def test_everything_in_one_room_is_refused(memory_store: Store) -> None:
    for number, name in enumerate(PLACES):
        crawler = Crawler(name=name, address=ip_address(f"192.0.2.{number + 1}"))
        memory_store.crawlers.put(Member(crawler=crawler))
        memory_store.samples.add_many(
            Sample(crawler=name, address=ip_address(f"192.0.2.{i + 1}"), rtt_ms=0.05, taken_s=1.0)
            for i in (*range(len(PLACES)), 76)
            if i != number
        )
    with pytest.raises(InputError, match=r"lie within .* ms of each other"):
        assigned(memory_store, "192.0.2.77")


def test_zones_of_the_version_before_are_replaced_and_nothing_else_is_lost(memory_store: Store) -> None:
    """Its zones had neither options nor sources; assignments and sites by name stay."""
    fleet(memory_store)
    before = assigned(memory_store, backend="lbi", scheme="DL")
    facts, arrays = unpack(KIND, memory_store.states.get(OVERLAY) or b"")
    del facts["config"], facts["labels"]
    memory_store.states.put(OVERLAY, pack(KIND, facts, arrays), 1.0)
    after = assigned(memory_store, "198.51.100.1", backend="lbi")
    assert any("earlier version, by the scheme DL" in finding for finding in after.findings)
    assert len(memory_store.assignments.all()) == len(before.assignments)
    assert after.assignments[0].crawler == before.assignments[0].crawler, "LBI leaves sites where they are"


def test_bounds_that_cut_nearly_everything_off_are_learnt_again(memory_store: Store) -> None:
    fleet(memory_store)
    kept = assigned(memory_store).overlay
    assert kept is not None
    facts, arrays = unpack(KIND, kept.to_bytes())
    facts["known"] = [True] * len(facts["known"])
    arrays["points"] = arrays["points"] + 500.0
    memory_store.states.put(OVERLAY, pack(KIND, facts, arrays), 1.0)
    report = assigned(memory_store)
    assert any("no longer where the zones' bounds were learnt" in finding for finding in report.findings)
    assert at_home(report) == 1.0


def test_each_crawlers_own_limit_counts_and_the_option_serves_for_the_rest(memory_store: Store) -> None:
    """Equation 4 divides by capacity: with two pieces on two units the fourth site is one too many."""
    crowd = [host for host, name in HOSTS.items() if name == "ams"]
    fleet(memory_store, capacity=Capacity(bandwidth_mbps=2.0, memory_gb=8.0, max_pieces=2))
    request = AssignRequest(texts=crowd, backend="lbi", zones=ZoneWishes(overload=1000.0), is_kept=False)
    limited, _ = assign_seeds(memory_store, request)
    assert [one.reason.split(";")[0].split(" ")[0] for one in limited.assignments] == [
        *["owner"] * 3,
        "forwarded",
    ]
    fleet(memory_store)
    free, _ = assign_seeds(memory_store, request)
    assert {one.crawler for one in free.assignments} == {"ams"}
    few = replace(request, zones=ZoneWishes(overload=0.0))
    handed, _ = assign_seeds(memory_store, few)
    assert len({one.crawler for one in handed.assignments}) > 1
    none = replace(request, zones=ZoneWishes(overload=0.0, hops=0))
    assert {one.crawler for one in assign_seeds(memory_store, none)[0].assignments} == {"ams"}


def test_explaining_tells_coordinate_zone_and_neighbours(memory_store: Store) -> None:
    fleet(memory_store)
    address = ip_address("198.51.100.2")
    assert find_in_space(memory_store, address) is None
    assigned(memory_store)
    zone = find_in_space(memory_store, address)
    assert zone is not None
    assert (zone.zone_of, zone.nearest, zone.scheme) == ("fra", "fra", "MP")
    assert zone.rests_on == "by samples of 5 crawlers"
    assert set(zone.neighbours) < set(PLACES)
    assert all(low <= high for low, high in zip(zone.low_ms, zone.high_ms, strict=True))
    lines = "\n".join(render_in_space(zone))
    assert "in the zone of fra" in lines
    assert "nearer than all others" in lines
    assert zone.as_record()["point_ms"] == list(zone.point_ms)
    assert find_in_space(memory_store, ip_address("203.0.113.1")) is None
    memory_store.states.put(OVERLAY, b"rot", 1.0)
    assert find_in_space(memory_store, address) is None


def test_kept_zones_come_back_with_their_options_and_labels(memory_store: Store) -> None:
    fleet(memory_store)
    kept = assigned(memory_store, scheme="NS").overlay
    assert kept is not None
    back = KeptOverlay.from_bytes(kept.to_bytes())
    assert back.labels == kept.labels
    assert back.config is not None
    assert kept.config is not None
    assert back.config.wished == kept.config.wished
