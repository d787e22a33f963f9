"""Where sites are besides their own samples: subnets that follow samples, holders, places."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipmicra.app.assign.whereabouts import StoredWhereabouts, SubnetLedger
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import DelegationRecord
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import Delegation, Evidence
from ipmicra.model.location import Location
from ipmicra.model.sample import Sample
from ipmicra.model.site import Site
from tests.cli.command_line import built_file

DUMP = "".join(
    f"inetnum: {first} - {last}\nnetname: N\ncountry: GR\nsource: RIPE\n\n"
    for first, last in (
        ("10.0.0.0", "10.255.255.255"),
        ("10.1.0.0", "10.1.255.255"),
        ("10.1.2.0", "10.1.2.255"),
    )
)
CRAWLERS = [
    Crawler(
        name=name,
        address=ip_address(f"192.0.2.{number + 1}"),
        location=Location(latitude=latitude, longitude=longitude, radius_km=5.0),
    )
    for number, (name, latitude, longitude) in enumerate(
        (("ath", 38.0, 23.7), ("fra", 50.1, 8.7), ("nyc", 40.7, -74.0), ("syd", -33.9, 151.2))
    )
]
NOW_S = 1000.0


@pytest.fixture(scope="module")
def hierarchy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hierarchy]:
    with Hierarchy.open(built_file(tmp_path_factory.mktemp("tree"), DUMP)) as opened:
        yield opened


def sample(crawler: str, address: str, *all_ms: float) -> Sample:
    return Sample(
        crawler=crawler, address=ip_address(address), rtt_ms=min(all_ms), all_ms=all_ms, taken_s=NOW_S
    )


def holding(store: Store, first: str, last: str, crawler: str, **more: object) -> None:
    fields: dict[str, object] = {"rtt_ms": 20.0, "expires_s": NOW_S + 1, "evidence": Evidence.PROBED, **more}
    one = Delegation(
        first=ip_address(first),
        last=ip_address(last),
        crawler=crawler,
        probes=1,
        created_s=0.0,
        **fields,  # type: ignore[arg-type]
    )
    store.delegations.put_many([DelegationRecord(delegation=one, address=ip_address(first))])


samples = st.lists(
    st.builds(
        sample,
        st.sampled_from(["ath", "fra"]),
        st.sampled_from(["10.1.2.3", "10.1.2.9", "10.1.7.7", "10.9.9.9", "99.1.1.1", "2001:db8::1"]),
        st.floats(0.1, 500),
    ),
    max_size=30,
)


@given(parts=st.lists(samples, max_size=4))
@settings(max_examples=30)
def test_subnets_followed_call_by_call_are_those_read_all_at_once(
    hierarchy: Hierarchy, parts: list[list[Sample]]
) -> None:
    """The slow twin goes through all samples; each call sees only what came since the last one."""
    with Store.open("sqlite://") as store:
        for part in parts:
            store.samples.add_many(part)
            SubnetLedger(store, hierarchy, hierarchy).save()
        ledger = SubnetLedger(store, hierarchy, hierarchy)
        slow: dict[object, dict[str, list[float]]] = {}
        for one in store.samples.after(0, 10_000)[1]:
            slow.setdefault(ledger.bounds(one.address), {}).setdefault(one.crawler, []).append(one.all_ms[0])
        found = {
            bounds: {name: list(one.last_ms) for name, one in each.items()}
            for bounds, each in ledger.newest(999).items()
        }
        assert found == {
            bounds: {name: kept[-5:] for name, kept in each.items()} for bounds, each in slow.items()
        }


def test_a_new_edition_learns_subnets_again_from_all_samples(
    hierarchy: Hierarchy, memory_store: Store, tmp_path: Path
) -> None:
    memory_store.samples.add_many([sample("ath", "10.1.2.3", 7.0, 9.0, 8.0)])
    SubnetLedger(memory_store, hierarchy, hierarchy).save()
    with Hierarchy.open(built_file(tmp_path, DUMP.replace("10.1.2.0", "10.1.2.2"))) as other:
        ledger = SubnetLedger(memory_store, other, other)
        (bounds,) = ledger.newest(9)
        assert (str(bounds[0]), ledger.of(bounds)["ath"].last_ms) == ("10.1.2.2", (median([7, 8, 9]),))
        ledger.save()
        assert len(memory_store.subnet_trips.newest(9)) == 1


def test_the_narrowest_delegated_subnet_around_a_site_tells_its_holder(
    hierarchy: Hierarchy, memory_store: Store
) -> None:
    def held(address: str) -> str | None:
        about = StoredWhereabouts(memory_store, hierarchy, lambda: NOW_S)
        (holder,) = about.holders([Site(address, ip_address(address))])
        return None if holder is None else holder.crawler

    assert held("10.1.2.3") is None
    holding(memory_store, "10.0.0.0", "10.255.255.255", "syd")
    assert (held("10.1.2.3"), held("10.200.0.1"), held("11.0.0.1")) == ("syd", "syd", None)
    holding(memory_store, "10.1.2.0", "10.1.2.255", "fra")
    assert (held("10.1.2.3"), held("10.1.3.3")) == ("fra", "syd")
    holding(memory_store, "10.1.2.3", "10.1.2.3", "ath")
    assert (held("10.1.2.3"), held("10.1.2.4")) == ("ath", "fra")
    holding(memory_store, "10.1.2.0", "10.1.2.255", "nyc", expires_s=NOW_S - 1)
    assert held("10.1.2.4") == "syd", "an expired one is none"
    holding(memory_store, "10.1.2.0", "10.1.2.255", "nyc", rtt_ms=None)
    assert held("10.1.2.4") == "syd", "one by a hash says nothing"
    holding(memory_store, "10.1.2.0", "10.1.2.255", "nyc", evidence=Evidence.ANYCAST)
    assert held("10.1.2.4") == "syd", "what is everywhere is nowhere"


def test_places_become_round_trips_at_the_rate_learnt_between_the_crawlers(
    hierarchy: Hierarchy, memory_store: Store
) -> None:
    about = StoredWhereabouts(memory_store, hierarchy, lambda: NOW_S)
    sites = [Site("10.1.2.3", ip_address("10.1.2.3")), Site("99.1.1.1", ip_address("99.1.1.1"))]
    mutual = np.full((4, 4), np.nan)
    found = about.place_ms(sites, CRAWLERS, mutual)
    assert np.isnan(found[1]).all(), "nobody knows where that is"
    assert found[0].argsort().tolist() == [0, 1, 2, 3], "from Greece"
    slow = about.place_ms(sites, CRAWLERS, np.full((4, 4), 900.0))
    assert (slow[0] > found[0]).all()
    nowhere = [Crawler(name="x", address=ip_address("192.0.2.9"))]
    assert np.isnan(about.place_ms(sites, nowhere, np.full((1, 1), np.nan))).all()
