"""Sites that crawlers see at different addresses, as they are assigned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from ipaddress import ip_address

import numpy as np
import pytest

from ipmicra.app.assign.backends import assign
from ipmicra.app.assign.problem import AssignProblem
from ipmicra.app.assign.round_trips import KnownRoundTrips
from ipmicra.app.assign.scattered import scattered_trips
from ipmicra.delegate.attempt import Considered, Verdict
from ipmicra.edge.store.ports import SiteAnswer
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import Delegation, Evidence
from ipmicra.model.name import NameAnswer, NameStatus, View
from ipmicra.model.site import Site
from ipmicra.model.types import Floats

A, B = ip_address("193.0.0.1"), ip_address("193.9.0.1")
FRA, NYC, TOK = (Crawler(name=name, address=A) for name in ("fra", "nyc", "tok"))
FLEET = (FRA, NYC, TOK)


class Hopeful:
    """Expects everybody to be next to everything."""

    def filled(self, sites: Sequence[Site], crawlers: Sequence[Crawler], known_ms: Floats) -> Floats:
        return np.where(np.isnan(known_ms), 0.1, known_ms)


def answer(host: str, rtt_ms: dict[str, float], expires_s: float = 9.0) -> SiteAnswer:
    nearest = min(rtt_ms, key=rtt_ms.__getitem__)
    delegation = Delegation(
        first=A,
        last=A,
        crawler=nearest,
        evidence=Evidence.PROBED,
        rtt_ms=rtt_ms[nearest],
        probes=len(rtt_ms),
        created_s=1.0,
        expires_s=expires_s,
    )
    account = [
        Considered(crawler=name, verdict=Verdict.ASKED, reason="", rtt_ms=ms) for name, ms in rtt_ms.items()
    ]
    return SiteAnswer(host=host, delegation=delegation, account=tuple(account))


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open("sqlite://") as opened:
        yield opened


def problem(store: Store, sites: list[Site], **more: object) -> AssignProblem:
    trips = KnownRoundTrips(samples=store.samples)
    made = AssignProblem(sites=sites, crawlers=FLEET, trips=trips, expectations=Hopeful(), is_traded=False)
    return replace(made, scattered=scattered_trips(store, sites, 5.0), **more)  # type: ignore[arg-type]


def test_crawler_that_does_not_see_a_site_never_gets_it(store: Store) -> None:
    """tok sees nothing of eleven hosts; neither a model nor an equal load gives it one."""
    sites = [Site(f"h{i}", A) for i in range(11)]
    store.site_answers.put_many(answer(site.host, {"fra": 5.0, "nyc": 50.0}) for site in sites)
    found = assign(problem(store, sites)).assignments
    assert {one.crawler for one in found} == {"fra", "nyc"}, "and hosts of one address may be parted"
    assert {one.crawler: one.expected_ms for one in found} == {"fra": 5.0, "nyc": 50.0}


def test_row_has_the_address_that_its_crawler_sees(store: Store) -> None:
    store.site_answers.put_many([answer("h", {"fra": 5.0, "nyc": 4.0})])
    seen = NameAnswer(name="h", status=NameStatus.FOUND, addresses=(B,))
    store.views.put_many([View(crawler="fra", answer=seen, asked_s=1.0)])
    (near,) = assign(problem(store, [Site("h", A)])).assignments
    assert (near.crawler, near.address) == ("nyc", A)
    (moved,) = assign(problem(store, [Site("h", A)], crawlers=(FRA, TOK))).assignments
    assert (moved.crawler, moved.address) == ("fra", B)


def test_answer_that_expired_or_is_about_another_address_does_not_count(store: Store) -> None:
    store.site_answers.put_many([answer("old", {"fra": 5.0}, expires_s=5.0), answer("moved", {"fra": 5.0})])
    assert scattered_trips(store, [Site("old", A), Site("moved", B), Site("new", A)], 5.0).sites == {}
