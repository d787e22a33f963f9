"""Whose vote counts, in which order, and what the two tables of a list say."""

from __future__ import annotations

from ipaddress import ip_address

import numpy as np
import pytest

from ipmicra.edge.geodata.places import load_gazetteer, load_registered_domain
from ipmicra.errors import InputError
from ipmicra.locate.agreement import count_agreements, count_hits
from ipmicra.locate.chain import DEFAULT_ORDER, in_order, read_order, winner
from ipmicra.locate.known import KnownRow, KnownTable
from ipmicra.locate.loc_record import LocRecord
from ipmicra.locate.locator import Clues, Locator, LocatorTables
from ipmicra.model.location import Heuristic, Hint, Location
from ipmicra.model.sample import Sample

ADDRESS = ip_address("192.0.2.1")
ROME = LocRecord(
    owner="host.example", latitude=41.9, longitude=12.5, size_m=1.0, precision_m=10_000.0, is_parent=False
)
CRAWLERS = {
    "fra": Location(latitude=50.11, longitude=8.68, radius_km=0.0),
    "ams": Location(latitude=52.37, longitude=4.90, radius_km=0.0),
    "syd": Location(latitude=-33.87, longitude=151.21, radius_km=0.0),
}


def locator(order: tuple[Heuristic, ...] = DEFAULT_ORDER) -> Locator:
    known = KnownTable()
    tokyo = Location(latitude=35.7, longitude=139.7, radius_km=50.0, city="Tokyo", country="JP")
    known.add_range(ADDRESS, ADDRESS, KnownRow(location=tokyo, source="own.csv, line 1"))
    return Locator(
        LocatorTables(
            gazetteer=load_gazetteer(),
            registered_domain=load_registered_domain(),
            known=known,
            crawlers=CRAWLERS,
        ),
        order,
    )


CLUES = Clues(address=ADDRESS, host_names=("cr1.fra2.example.net",), loc_records=(ROME,))


def samples(**rtt_ms: float) -> tuple[Sample, ...]:
    return tuple(Sample(crawler=name, address=ADDRESS, rtt_ms=rtt) for name, rtt in rtt_ms.items())


def hint(heuristic: Heuristic, radius_km: float) -> Hint:
    return Hint(
        heuristic=heuristic,
        location=Location(latitude=0.0, longitude=0.0, radius_km=radius_km),
        evidence="told",
    )


def test_default_order_is_the_papers_with_latency_behind() -> None:
    assert [
        str(one) for one in DEFAULT_ORDER
    ] == "loc airport city institution known registry latency".split()


def test_first_hit_wins_and_all_votes_are_kept() -> None:
    located = locator().locate(CLUES)
    assert located.heuristic is Heuristic.LOC
    assert [vote.heuristic for vote in located.votes] == [Heuristic.LOC, Heuristic.AIRPORT, Heuristic.KNOWN]


def test_heuristics_are_reordered_and_switched_off() -> None:
    located = locator(read_order("known, airport")).locate(CLUES)
    assert located.heuristic is Heuristic.KNOWN
    assert [vote.heuristic for vote in located.votes] == [Heuristic.KNOWN, Heuristic.AIRPORT]


@pytest.mark.parametrize("text", ["", "gps", "loc,loc", "loc;city"])
def test_order_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_order(text)


def test_vote_for_a_whole_country_waits_for_a_narrower_one() -> None:
    wide, narrow = hint(Heuristic.INSTITUTION, 900.0), hint(Heuristic.KNOWN, 50.0)
    assert winner(in_order([narrow, wide], DEFAULT_ORDER)) is narrow
    assert winner([wide]) is wide
    assert winner([]) is None


def test_impossible_vote_is_struck_and_the_next_one_wins() -> None:
    clues = Clues(address=ADDRESS, host_names=CLUES.host_names, loc_records=(ROME,), samples=samples(fra=1.0))
    located = locator().locate(clues)
    assert [vote.hint.heuristic for vote in located.rejected] == [Heuristic.LOC, Heuristic.KNOWN]
    assert located.heuristic is Heuristic.AIRPORT


def test_latency_locates_when_nothing_else_does() -> None:
    clues = Clues(address=ip_address("198.51.100.1"), samples=samples(fra=1.0, ams=8.0, syd=260.0))
    located = locator().locate(clues)
    assert located.heuristic is Heuristic.LATENCY
    assert located.location is not None
    assert located.location.radius_km < 150


def test_anycast_is_marked_and_strikes_nothing() -> None:
    located = locator().locate(
        Clues(address=ADDRESS, host_names=CLUES.host_names, samples=samples(fra=1.0, syd=1.0))
    )
    assert located.anycast is not None
    assert located.rejected == ()
    assert located.heuristic is Heuristic.AIRPORT


def test_places_of_many_come_as_an_array_with_nan_for_the_unknown() -> None:
    places = locator().places_many([CLUES, Clues()])
    assert places.shape == (2, 3)
    assert places[0] == pytest.approx([41.9, 12.5, 5.0])
    assert np.isnan(places[1]).all()
    assert locator().places_many([]).shape == (0, 3)


def test_loc_record_off_the_map_is_a_finding() -> None:
    off = LocRecord(owner="x", latitude=123.0, longitude=0.0, size_m=1.0, precision_m=1.0, is_parent=False)
    located = locator().locate(Clues(host_names=("cr1.fra2.example.net",), loc_records=(off,)))
    assert located.heuristic is Heuristic.AIRPORT
    assert "no place on Earth" in located.findings[0]


def test_tables_count_hits_and_agreement() -> None:
    located = locator().locate_many([CLUES, Clues(host_names=("cr1.fra2.example.net",)), Clues()])
    hits = {row.heuristic: (row.votes, row.wins) for row in count_hits(located, DEFAULT_ORDER)}
    assert hits[Heuristic.LOC] == (1, 1)
    assert hits[Heuristic.AIRPORT] == (2, 1)
    assert hits[Heuristic.CITY] == (0, 0)
    pairs = {(row.one, row.other): row for row in count_agreements(located, DEFAULT_ORDER)}
    assert len(pairs) == 21
    assert (pairs[Heuristic.LOC, Heuristic.AIRPORT].both, pairs[Heuristic.LOC, Heuristic.AIRPORT].agree) == (
        1,
        0,
    )
    assert pairs[Heuristic.CITY, Heuristic.KNOWN].share is None
