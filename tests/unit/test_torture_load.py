"""What `bin/torture load` counts and judges."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address

from ipmicra.wire.links import ExchangeRequest, decode_exchange, encode_exchange
from tests.torture.load.__main__ import NOISE_MB, LoadConfig, LoadReport, Part
from tests.torture.load.world import LANES, PER_SUBNET, LoadedWeb, Seen, host_of, trip_ms

PART = Part(what="links", count=1_000, sites=100, cpu_s=0.05, elapsed_s=1.0, rss_mb=100.0)


def report(*parts: Part) -> LoadReport:
    return LoadReport(LoadConfig(), list(parts))


def test_second_half_may_cost_a_quarter_more_and_no_more() -> None:
    assert report(PART, replace(PART, cpu_s=0.06)).is_well
    worse = report(PART, replace(PART, cpu_s=0.07))
    assert not worse.is_well
    assert "NOT linear" in worse.text()
    assert worse.ratios() == {"links": 1.4}


def test_halves_of_different_sizes_are_compared_by_what_one_costs() -> None:
    assert report(PART, replace(PART, count=2_000, cpu_s=0.1)).ratios() == {"links": 1.0}


def test_memory_may_grow_by_so_much_for_each_site_and_no_more() -> None:
    full = replace(PART, sites=1_000_000)
    assert report(full, replace(full, rss_mb=100.0 + NOISE_MB + 499.0)).is_well
    worse = report(full, replace(full, rss_mb=100.0 + NOISE_MB + 501.0))
    assert not worse.is_well
    assert "501 bytes for each site beyond 64 MB, NOT within 500" in worse.text()


def test_lost_page_is_a_problem_however_cheap() -> None:
    found = report(PART, PART)
    found.problems.append("1 of 2 pages are lost")
    assert not found.is_well


def test_every_page_is_found_once_from_the_starts() -> None:
    web = LoadedWeb(hosts=LANES + 30, pages=3)
    seen, todo = Seen(web), [one for part in range(7) for one in web.starts(part, 7)]
    while todo:
        place = web.place(todo.pop())
        seen.see(*place)
        todo += web.links_of(*place)
    assert (seen.count, seen.again) == (web.count, 0)
    seen.see(0, 0)
    assert (seen.count, seen.again) == (web.count, 1)


def test_links_are_what_the_wire_takes_and_sites_share_subnets() -> None:
    link = LoadedWeb(hosts=5, pages=2).link(4, 1)
    request = ExchangeRequest(session="s", links=(link,))
    assert decode_exchange(encode_exchange(request)) == request
    subnets = {host_of(number).rpartition(".")[0] for number in range(2 * PER_SUBNET)}
    assert len(subnets) == 2


def test_round_trip_of_a_subnet_is_the_same_for_all_its_addresses() -> None:
    here = [trip_ms("c1", ip_address(host_of(number))) for number in range(PER_SUBNET + 1)]
    assert len(set(here[:PER_SUBNET])) == 1
    assert here[0] != here[-1]
