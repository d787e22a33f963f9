"""Plans of mutual probes, and landmarks: what is measured, and what it costs."""

from __future__ import annotations

from ipaddress import ip_address

import numpy as np
import pytest

from ipmicra.app.fleet.fleet import Fleet
from ipmicra.app.fleet.landmarks import landmarks_of
from ipmicra.app.fleet.measuring import plan_mutual
from ipmicra.edge.store.ports import Member
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError
from ipmicra.model.crawler import Crawler
from ipmicra.model.sample import Loss, Sample

PLACES = np.random.default_rng(5).uniform(0, 200, (9, 2))


def enrolled(store: Store, silent: frozenset[int] = frozenset()) -> dict[str, Member]:
    """Let nine crawlers join, some of them without an agent."""
    members = {}
    for number in range(len(PLACES)):
        url = None if number in silent else f"http://127.0.0.1:{9000 + number}"
        crawler = Crawler(name=f"c{number}", address=ip_address(f"192.0.2.{number + 1}"), agent_url=url)
        members[crawler.name] = Member(crawler=crawler)
        store.crawlers.put(members[crawler.name])
    return members


def sample(one: int, other: int) -> Sample:
    rtt_ms = 2.0 + float(np.linalg.norm(PLACES[one] - PLACES[other]))
    return Sample(crawler=f"c{one}", address=ip_address(f"192.0.2.{other + 1}"), rtt_ms=rtt_ms, taken_s=1.0)


def test_everybody_with_an_agent_measures_everybody_else(memory_store: Store) -> None:
    enrolled(memory_store, frozenset({3}))
    plan = plan_mutual(Fleet(memory_store), memory_store, ())
    assert len(plan.probes) == 8 * 8
    assert "c3" not in plan.members
    assert plan.cost() == "64 probes: 8 crawlers measure 9"
    one = plan_mutual(Fleet(memory_store), memory_store, ["c3"], port=81)
    assert {(probe.crawler, probe.port) for probe in one.probes} == {
        (f"c{n}", 81) for n in range(9) if n != 3
    }


def test_pairs_that_were_measured_either_way_can_be_left_out(memory_store: Store) -> None:
    enrolled(memory_store)
    lost = Sample(crawler="c5", address=ip_address("192.0.2.7"), rtt_ms=None, loss=Loss.TIMEOUT, taken_s=1.0)
    memory_store.samples.add_many([sample(0, 1), sample(2, 0), lost])
    plan = plan_mutual(Fleet(memory_store), memory_store, (), only_missing=True)
    assert (len(plan.probes), plan.known) == (72 - 4, 4)
    assert plan.cost().endswith("4 pairs are known already")


def test_landmarks_are_all_of_a_small_fleet_and_chosen_in_a_large_one(memory_store: Store) -> None:
    members = enrolled(memory_store)
    assert landmarks_of(members, memory_store, 20) == members
    with pytest.raises(InputError, match="crawler measure"):
        landmarks_of(members, memory_store, 4)
    memory_store.samples.add_many(
        sample(one, other) for one in range(9) for other in range(9) if one != other
    )
    chosen = landmarks_of(members, memory_store, 4)
    assert len(chosen) == 4
    assert list(chosen) == sorted(chosen)
    assert chosen == landmarks_of(members, memory_store, 4)


def test_nothing_is_measured_between_fewer_than_two(memory_store: Store) -> None:
    with pytest.raises(InputError, match="fewer than two crawlers"):
        plan_mutual(Fleet(memory_store), memory_store, ())
