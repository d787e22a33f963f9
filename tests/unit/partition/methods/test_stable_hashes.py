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
from ipmicra.partition.methods.two_level import KeptTable, LogicalTable
from ipmicra.partition.names import PackedNames
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


@pytest.mark.parametrize("name", ["two-level", "subsite", "consistent", "chord"])
def test_leave_of_a_crawler_in_the_middle_moves_only_what_it_had(name: str) -> None:
    method, problem = METHODS[name], problem_of(8)
    column = partition(method, problem)
    for leaver in (0, 3, 7):
        moved = moved_on_leave(method, problem, column, leaver)
        assert moved == pytest.approx(float(np.mean(column == leaver)))


@pytest.mark.parametrize("name", ["two-level", "consistent"])
@pytest.mark.parametrize("parts", [2, 5, 10, 20, 50])
def test_leave_moves_little_more_than_one_share_of_the_sites(name: str, parts: int) -> None:
    method, problem = METHODS[name], problem_of(parts)
    column = partition(method, problem)
    for leaver in {0, parts // 2, parts - 1}:
        moved = moved_on_leave(method, problem, column, leaver)
        assert moved is not None
        assert moved <= 1.5 / parts


fleets = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.1, 10), min_size=1)


@given(fleets, st.lists(fleets, min_size=1, max_size=4))
def test_kept_table_follows_a_fleet_by_name_and_moves_only_what_it_must(
    first: dict[str, float], others: list[dict[str, float]]
) -> None:
    """Whatever the order of the list: what moves are entries of leavers, and those above somebody's quota."""
    table = KeptTable.start(CrawlerTable.of(list(first), capacity=list(first.values())), 512)
    for fleet in others:
        crawlers = CrawlerTable.of(list(fleet), capacity=list(fleet.values()))
        if not set(table.names) & set(fleet):
            with pytest.raises(InputError, match="another fleet"):
                table.for_fleet(crawlers)
            continue
        after = table.for_fleet(crawlers)
        held = {name: int((table.table.owner == i).sum()) for i, name in enumerate(table.names)}
        now = {name: int((after.table.owner == i).sum()) for i, name in enumerate(after.names)}
        gained = sum(max(now[name] - held.get(name, 0), 0) for name in now)
        assert after.moved_from(table) == gained  # nobody both gains and loses
        share = 512 * np.array(list(fleet.values())) / sum(fleet.values())
        assert np.abs(np.array(list(now.values())) - share).max() < 1 + 1e-9
        again = after.for_fleet(crawlers)
        assert again.moved_from(after) == 0
        table = after


def test_replaced_crawler_hands_its_entries_to_the_new_one_and_nobody_else() -> None:
    before = KeptTable.start(CrawlerTable.of(["a", "b", "c", "d"]), 4096)
    after = before.for_fleet(CrawlerTable.of(["a", "x", "c", "d"]))
    assert after.moved_from(before) == 1024
    assert (after.table.owner[before.table.owner == 1] == 1).all()


def test_kept_table_keeps_sites_when_the_list_is_sorted_anew() -> None:
    kept = KeptTable.start(CrawlerTable.of(["a", "b", "c"]), 4096)
    shuffled = Problem(sites=SiteTable.of(HOSTS), crawlers=CrawlerTable.of(["c", "a", "b"]), logical=kept)
    plain = Problem(sites=SiteTable.of(HOSTS), crawlers=CrawlerTable.of(["a", "b", "c"]), logical=kept)
    named = [np.array(one.crawlers.names)[partition(METHODS["two-level"], one)] for one in (shuffled, plain)]
    assert (named[0] == named[1]).all()


@given(st.lists(st.text("abcXYZ.-é", min_size=1, max_size=20), min_size=1, max_size=20), fleets)
def test_one_host_has_the_owner_that_the_whole_list_gives_it(
    hosts: list[str], fleet: dict[str, float]
) -> None:
    crawlers = CrawlerTable.of(list(fleet), capacity=list(fleet.values()))
    table = KeptTable.start(crawlers, 512)
    column = table.table.crawlers_of(PackedNames.pack(hosts))
    assert [table.owner_of(host) for host in hosts] == [crawlers.names[one] for one in column]


def test_subsite_looks_the_first_label_up_in_the_table_of_two_level() -> None:
    labels = [f"part{number}" for number in range(300)]
    hosts = [f"{label}.big.example" for label in labels]
    by_label = partition(METHODS["two-level"], problem_of(7, hosts=labels))
    assert (partition(METHODS["subsite"], problem_of(7, hosts=hosts)) == by_label).all()


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
