"""What changed between two editions."""

from __future__ import annotations

import pytest

from ipmicra.app.lookup.differences import list_changes
from tests.reference.fast_building import built

Told = list[tuple[str, str, str | None, str | None]]


def changes(old: str, new: str) -> Told:
    found = list_changes(built(old), built(new))
    told = [(each.kind, each.subnet.label, each.old_holder, each.new_holder) for each in found]
    kinds = [each[0] for each in told]
    assert [kinds.count(kind) for kind in ("came", "went", "changed")] == [
        found.came_count,
        found.went_count,
        found.changed_count,
    ]
    return told


A = "inetnum: 10.0.0.0/8\ndescr: Alpha\n\n"
B = "inet6num: 2001:db8::/32\ndescr: Beta\n\n"


def test_same_dumps_differ_in_nothing() -> None:
    assert changes(A + B, B + A) == []


def test_added_and_removed_subnets_are_reported() -> None:
    assert changes(A, B) == [("came", "2001:db8::/32", None, "Beta"), ("went", "10.0.0.0/8", "Alpha", None)]


def test_a_subnet_with_a_new_holder_is_reported() -> None:
    assert changes(A + B, A.replace("Alpha", "Gamma") + B) == [("changed", "10.0.0.0/8", "Alpha", "Gamma")]


def test_a_subnet_that_lost_its_holder_is_reported() -> None:
    assert changes(A, "inetnum: 10.0.0.0/8\n") == [("changed", "10.0.0.0/8", "Alpha", None)]


@pytest.mark.parametrize("same", ["ALPHA.", "alpha", " Alpha ;"])
def test_holder_spelled_otherwise_is_the_same(same: str) -> None:
    assert changes(A, A.replace("Alpha", same)) == []


def test_new_name_of_the_same_handle_is_no_change() -> None:
    held = "inetnum: 10.0.0.0/8\norg: ORG-A\n\n"
    named = "organisation: ORG-A\norg-name: Alpha\n"
    assert changes(held + named, held + named.replace("Alpha", "Omega")) == []


def test_limit_counts_for_each_kind() -> None:
    more = "".join(f"inetnum: {i}.0.0.0/8\n\n" for i in range(20, 30))
    found = list_changes(built(A + B), built(more), limit=3)
    assert [each.kind for each in found] == ["came"] * 3 + ["went"] * 2
    assert (found.came_count, found.went_count) == (10, 2)


def test_pieces_of_the_same_range_count_once() -> None:
    overlapping = (
        "inetnum: 0.0.0.0 - 0.0.0.19\n\ninetnum: 0.0.0.15 - 0.0.0.24\n\ninetnum: 0.0.0.15 - 0.0.0.19\n"
    )
    assert changes(overlapping, overlapping) == []
