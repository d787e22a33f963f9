"""Two-level tables and circles: what moves, and to whom."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.errors import InputError
from ipmicra.partition.compare import moved_on_join, moved_on_leave
from ipmicra.partition.config import HashConfig
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.methods.registry import METHODS, partition
from ipmicra.partition.methods.two_level import LogicalTable
from ipmicra.partition.problem import Problem
from ipmicra.partition.sites import SiteTable
from tests.reference.slow_partition import slow_next_on_circle

HOSTS = [f"www.site{number}.example" for number in range(6000)]


def problem_of(parts: int, capacity: list[float] | None = None, hosts: list[str] | None = None) -> Problem:
    names = [f"crawler-{number + 1:02d}" for number in range(parts)]
    return Problem(sites=SiteTable.of(hosts or HOSTS), crawlers=CrawlerTable.of(names, capacity=capacity))


@pytest.mark.parametrize("name", ["two-level", "consistent"])
@pytest.mark.parametrize("parts", [1, 2, 5, 10, 20, 50])
def test_join_moves_little_more_than_it_must(name: str, parts: int) -> None:
    problem = problem_of(parts)
    method = METHODS[name]
    moved = moved_on_join(method, problem, partition(method, problem))
    assert moved is not None
    assert moved <= 1.5 / parts


@pytest.mark.parametrize("name", ["two-level", "consistent", "chord"])
def test_join_moves_sites_to_the_newcomer_only(name: str) -> None:
    method = METHODS[name]
    before, after = problem_of(7), problem_of(8)
    column = partition(method, before)
    changed = method.again(before, after, column) if method.again else partition(method, after)
    assert set(changed[changed != column].tolist()) <= {7}


@pytest.mark.parametrize("name", ["two-level", "consistent", "chord"])
def test_leave_moves_only_what_the_leaver_had(name: str) -> None:
    method, problem = METHODS[name], problem_of(8)
    column = partition(method, problem)
    assert moved_on_leave(method, problem, column) == pytest.approx(float(np.mean(column == 7)))


def test_plain_hash_moves_most_sites_on_a_join() -> None:
    problem = problem_of(20)
    moved = moved_on_join(METHODS["hash"], problem, partition(METHODS["hash"], problem))
    assert moved is not None
    assert moved > 0.9


capacities = st.lists(st.floats(0.1, 10), min_size=1, max_size=9)


@given(capacities, st.data())
def test_table_stays_by_capacity_through_joins_and_leaves(wanted: list[float], data: st.DataObject) -> None:
    names = [str(number) for number in range(len(wanted))]
    table = LogicalTable.joined(CrawlerTable.of(names, capacity=wanted), 512)
    for leaver in data.draw(st.lists(st.integers(0, len(wanted) - 1), max_size=len(wanted) - 1, unique=True)):
        changed = table.with_left(leaver)
        assert set(np.flatnonzero(changed.owner != table.owner)) >= set(np.flatnonzero(table.owner == leaver))
        assert leaver not in changed.owner
        table = changed
    share = 512 * table.capacity / table.capacity.sum()
    assert np.abs(np.bincount(table.owner, minlength=len(share)) - share).max() < 1 + 1e-9


@given(capacities, st.floats(0.1, 10))
def test_join_takes_no_more_from_a_table_than_the_newcomer_gets(wanted: list[float], newcomer: float) -> None:
    names = [str(number) for number in range(len(wanted))]
    table = LogicalTable.joined(CrawlerTable.of(names, capacity=wanted), 512)
    changed = table.with_joined(newcomer)
    moved = changed.owner != table.owner
    gains = np.bincount(changed.owner, minlength=len(wanted) + 1) - np.bincount(
        table.owner, minlength=len(wanted) + 1
    )
    assert moved.sum() == np.maximum(gains, 0).sum()


def test_last_crawler_cannot_leave_a_table() -> None:
    with pytest.raises(InputError, match="last crawler"):
        LogicalTable.start(16).with_left(0)


def test_table_smaller_than_the_fleet_is_refused() -> None:
    with pytest.raises(InputError, match="logical"):
        LogicalTable.joined(CrawlerTable.floating(20), 16)


@given(st.lists(st.text("abc.", min_size=1, max_size=6), min_size=1, max_size=20), st.integers(1, 6))
def test_circle_gives_the_next_point(hosts: list[str], parts: int) -> None:
    problem = Problem(
        sites=SiteTable.of(hosts), crawlers=CrawlerTable.floating(parts), hashes=HashConfig(replicas=5)
    )
    names = problem.crawlers.names
    for method, replicas in (("consistent", 5), ("chord", 1)):
        column = partition(METHODS[method], problem)
        slow = [slow_next_on_circle(host, list(names), replicas) for host in hosts]
        assert [names[one] for one in column] == slow


def test_consistent_shares_go_by_capacity() -> None:
    problem = problem_of(4, capacity=[1, 1, 1, 5])
    counts = np.bincount(partition(METHODS["consistent"], problem), minlength=4) / len(HOSTS)
    assert counts[3] == pytest.approx(5 / 8, rel=0.1)


def test_hosts_of_one_big_site_are_parted_by_their_first_label() -> None:
    hosts = ["photo.big.example", "photo.archive.big.example", "blog.big.example"]
    column = partition(METHODS["subsite"], problem_of(1000, hosts=hosts))
    assert column[0] == column[1] != column[2]
