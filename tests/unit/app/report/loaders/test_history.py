"""The history of a store: what happened when, in even steps."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address

import pytest

from ipmicra.app.report.data import ReportCrawler, ReportData, ReportSite
from ipmicra.app.report.loaders.history import history_of
from ipmicra.app.report.page import render
from ipmicra.edge.store.ports import DelegationRecord
from ipmicra.edge.store.store import Store
from ipmicra.model.delegation import Delegation, Evidence
from ipmicra.model.sample import Loss, Sample

DAY_S = 24 * 3600.0
FIRST_S = 20_000 * DAY_S


def delegated(number: int, crawler: str, day: float) -> DelegationRecord:
    delegation = Delegation(
        first=ip_address(f"10.0.{number}.0"),
        last=ip_address(f"10.0.{number}.255"),
        crawler=crawler,
        evidence=Evidence.PROBED,
        rtt_ms=5.0,
        probes=1,
        created_s=FIRST_S + day * DAY_S,
        expires_s=FIRST_S + 100 * DAY_S,
    )
    return DelegationRecord(delegation=delegation)


@pytest.fixture
def store(memory_store: Store) -> Store:
    memory_store.delegations.put_many([delegated(i, "ath", 0.2) for i in range(4)])
    memory_store.delegations.put_many([delegated(0, "ber", 5.1), delegated(1, "ath", 5.2)])
    trips = [(0.1, 10.0), (0.2, 20.0), (5.1, None), (5.2, 6.0)]
    memory_store.samples.add_many(
        Sample(
            crawler="ath",
            address=ip_address(f"10.0.{i}.1"),
            rtt_ms=rtt_ms,
            loss=Loss.TIMEOUT if rtt_ms is None else None,
            taken_s=FIRST_S + day * DAY_S,
        )
        for i, (day, rtt_ms) in enumerate(trips)
    )
    return memory_store


def test_steps_count_delegations_probes_round_trips_and_moves(store: Store) -> None:
    steps = history_of(store)
    assert {one.length_s for one in steps} == {6 * 3600.0}
    assert sum(one.delegations for one in steps) == 6
    assert sum(one.probes for one in steps) == 4
    assert [one.moves for one in steps if one.moves] == [1], "decided anew for the same crawler is no move"
    assert (steps[0].delegations, steps[0].probes, steps[0].mean_rtt_ms) == (4, 2, 15.0)
    assert (steps[-1].moves, steps[-1].probes, steps[-1].mean_rtt_ms) == (1, 2, 6.0)


def test_an_empty_store_has_no_history(memory_store: Store) -> None:
    assert history_of(memory_store) == ()


def test_history_is_drawn_and_listed(store: Store) -> None:
    crawler, site = ReportCrawler(name="ath"), ReportSite(host="a.example", crawler=0, rtt_ms=5.0)
    data = ReportData(crawlers=(crawler,), sites=(site,), history=history_of(store))
    html = render(data).html
    assert 'id="history"' in html
    assert "subnets that moved to another crawler" in html
    assert "new delegations" in html
    assert 'id="history"' not in render(replace(data, history=data.history[:1])).html
