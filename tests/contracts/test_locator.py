"""What every location heuristic promises, whatever it is given."""

from __future__ import annotations

from functools import cache
from ipaddress import ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipmicra.edge.geodata.places import load_gazetteer, load_institutions, load_registered_domain
from ipmicra.locate.chain import DEFAULT_ORDER
from ipmicra.locate.known import KnownTable, read_geofeed, read_table
from ipmicra.locate.loc_record import LocRecord
from ipmicra.locate.locator import Clues, Located, Locator, LocatorTables
from ipmicra.model.location import Heuristic, Location
from ipmicra.model.organisation import HolderEvidence, Organisation
from ipmicra.model.registry import Registry
from ipmicra.model.sample import Sample
from ipmicra.model.subnet import Subnet

ADDRESS = ip_address("192.0.2.1")
CRAWLERS = {
    "fra": Location(latitude=50.11, longitude=8.68, radius_km=0.0),
    "ams": Location(latitude=52.37, longitude=4.90, radius_km=0.0),
    "par": Location(latitude=48.86, longitude=2.35, radius_km=0.0),
    "pole": Location(latitude=-90.0, longitude=180.0, radius_km=0.0),
}
every_heuristic = pytest.mark.parametrize("heuristic", list(Heuristic))


@cache
def tables() -> LocatorTables:
    known = KnownTable()
    institutions = read_table(known, ["192.0.2.0/24,35.7,139.7,50,Tokyo,JP"], "own.csv", 50.0)
    return LocatorTables(
        gazetteer=load_gazetteer(),
        registered_domain=load_registered_domain(),
        institutions=load_institutions().updated(institutions),
        known=known,
        crawlers=CRAWLERS,
    )


def subnet(address: str | None, country: str | None, geoloc: str | None) -> Subnet:
    organisation = Organisation(
        number=1, handle="ORG-1", name="Example", address=address, country=country,
        registry=Registry.RIPE, evidence=HolderEvidence.ORG,
    )  # fmt: skip
    return Subnet(
        row=1, first=ip_address("192.0.2.0"), last=ip_address("192.0.2.255"), depth=1, netname="N",
        organisation=organisation, registry=Registry.RIPE, country=country, status=None, date=None,
        geoloc=geoloc, geofeed=None,
    )  # fmt: skip


@cache
def locator(*order: Heuristic) -> Locator:
    return Locator(tables(), order)


def located(heuristic: Heuristic, clues: Clues) -> Located:
    return locator(heuristic).locate(clues)


EXAMPLES = {
    Heuristic.LOC: Clues(
        loc_records=(
            LocRecord(
                owner="a.example",
                latitude=41.9,
                longitude=12.5,
                size_m=1.0,
                precision_m=10.0,
                is_parent=False,
            ),
        )
    ),
    Heuristic.AIRPORT: Clues(host_names=("ae3.fra-core2.example.net",)),
    Heuristic.CITY: Clues(host_names=("cr1.frankfurt2.example.net",)),
    Heuristic.INSTITUTION: Clues(host_names=("www.mit.edu",)),
    Heuristic.KNOWN: Clues(address=ADDRESS),
    Heuristic.REGISTRY: Clues(lineage=(subnet("Stationsplein 11, 1012 AB Amsterdam", "NL", None),)),
    Heuristic.LATENCY: Clues(
        samples=tuple(Sample(crawler=name, address=ADDRESS, rtt_ms=5.0) for name in ("fra", "ams", "par"))
    ),
}

texts = st.text(max_size=40)
names = st.one_of(
    texts,
    st.lists(
        st.sampled_from(
            ["fra", "lhr2", "core", "ae-1", "new-york", "xn--", "mit", "edu", "com", "de", "", "x" * 64]
        ),
        max_size=6,
    ).map(".".join),
)
places = st.floats(allow_nan=True, allow_infinity=True)
any_clues = st.builds(
    Clues,
    address=st.one_of(st.none(), st.ip_addresses(), st.just(ADDRESS)),
    host_names=st.lists(names, max_size=3).map(tuple),
    loc_records=st.lists(
        st.builds(
            LocRecord,
            owner=texts,
            latitude=places,
            longitude=places,
            size_m=st.floats(0, 1e12),
            precision_m=st.floats(0, 1e12),
            is_parent=st.booleans(),
        ),
        max_size=2,
    ).map(tuple),
    lineage=st.lists(
        st.builds(
            subnet,
            st.one_of(st.none(), texts, st.just("1 High Street, London, UK")),
            st.one_of(st.none(), texts, st.sampled_from(["DE", "ZZ", "us"])),
            st.one_of(st.none(), texts, st.just("37.98 23.73")),
        ),
        max_size=3,
    ).map(tuple),
    neighbours=st.lists(st.one_of(st.none(), texts), max_size=3).map(tuple),
    samples=st.lists(
        st.builds(
            Sample,
            crawler=st.sampled_from([*CRAWLERS, "nobody"]),
            address=st.just(ADDRESS),
            rtt_ms=st.one_of(st.none(), st.floats(0, 1000)),
        ),
        max_size=5,
    ).map(tuple),
)


@every_heuristic
@given(clues=any_clues)
@settings(max_examples=60)
def test_a_vote_names_its_heuristic_and_is_a_place_with_a_weight(heuristic: Heuristic, clues: Clues) -> None:
    found = located(heuristic, clues)
    assert len(found.votes) <= 1
    for vote in (*found.votes, *(one.hint for one in found.rejected)):
        place = vote.location
        assert vote.heuristic is heuristic
        assert 0 < vote.weight <= 1
        assert vote.evidence
        assert place.radius_km >= 0
        assert -90 <= place.latitude <= 90
        assert -180 <= place.longitude <= 180
    assert found.location == (found.votes[0].location if found.votes else None)
    assert found.heuristic is (heuristic if found.votes else None)


@given(clues=any_clues)
@settings(max_examples=60)
def test_the_chain_takes_one_of_its_votes_and_the_same_each_time(clues: Clues) -> None:
    found = locator(*DEFAULT_ORDER).locate(clues)
    assert found == locator(*DEFAULT_ORDER).locate(clues)
    heuristics = [vote.heuristic for vote in found.votes]
    assert heuristics == sorted(set(heuristics), key=DEFAULT_ORDER.index)
    assert (found.location in [vote.location for vote in found.votes]) == bool(found.votes)


@every_heuristic
def test_it_votes_where_its_clue_is_there_and_only_if_it_is_switched_on(heuristic: Heuristic) -> None:
    assert located(heuristic, EXAMPLES[heuristic]).heuristic is heuristic
    assert located(heuristic, Clues()).votes == ()
    others = tuple(one for one in Heuristic if one is not heuristic)
    votes = locator(*others).locate(EXAMPLES[heuristic]).votes
    assert heuristic not in {vote.heuristic for vote in votes}


@given(lines=st.lists(st.one_of(texts, st.just("192.0.2.0/24,GR,GR-I,Athens,")), max_size=5))
def test_tables_of_known_places_read_any_text(lines: list[str]) -> None:
    known = KnownTable()
    read_table(known, lines, "own.csv", 50.0)
    read_geofeed(known, lines, "feed.csv", load_gazetteer())
    hint = known.hint(ADDRESS, lines)
    assert hint is None or hint.heuristic is Heuristic.KNOWN
