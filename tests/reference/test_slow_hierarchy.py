"""The slow hierarchy itself, on cases worked by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ipmicra.model.organisation import HolderEvidence
from ipmicra.model.registry import Registry
from tests.reference.slow_hierarchy import (
    SlowHolder,
    SlowRange,
    holder_key,
    holder_of,
    lineage,
    merged,
    narrowest,
    nested,
    pieces,
    with_root,
)
from tests.reference.slow_parser import SlowOrganisation, SlowRegistration

PLAIN = SlowRegistration(first=10, last=19, family=4, netname="A", registry=Registry.RIPE, line=1)
OBJECT = SlowOrganisation(
    handle="ORG-A", name="Alpha", address="1 Road", country="GR", date=5, registry=Registry.RIPE, line=1
)


def ends(ranges: list[SlowRange]) -> list[tuple[int, int]]:
    return [(each.first, each.last) for each in ranges]


def shape(*ranges: tuple[int, int]) -> list[tuple[int, int, int, int]]:
    """Nest ranges in a space of eight bits; return first, last, parent, depth of each row."""
    rows = nested([SlowRange(*each) for each in ranges], 8)
    return [(row.first, row.last, row.parent, row.depth) for row in rows]


def test_root_is_added() -> None:
    assert ends(with_root([SlowRange(1, 2)], 8)) == [(0, 255), (1, 2)]


def test_registered_root_stays() -> None:
    root = SlowRange(0, 255, PLAIN)
    assert with_root([root], 8) == [root]


def test_lineage_runs_from_wide_to_narrow() -> None:
    ranges = [SlowRange(4, 5), SlowRange(0, 9), SlowRange(4, 7), SlowRange(8, 9)]
    assert ends(lineage(ranges, 5)) == [(0, 9), (4, 7), (4, 5)]


def test_of_equally_wide_ranges_the_earlier_is_above() -> None:
    assert ends(lineage([SlowRange(5, 8), SlowRange(4, 7)], 6)) == [(4, 7), (5, 8)]


def test_nested_ranges_are_not_cut() -> None:
    ranges = [SlowRange(0, 9), SlowRange(0, 4), SlowRange(5, 9), SlowRange(5, 5)]
    assert [pieces(ranges, each) for each in ranges] == [[(0, 9)], [(0, 4)], [(5, 9)], [(5, 5)]]


def test_narrower_range_is_cut_where_the_wider_one_starts() -> None:
    ranges = [SlowRange(10, 19), SlowRange(15, 34)]
    assert pieces(ranges, ranges[0]) == [(10, 14), (15, 19)]
    assert pieces(ranges, ranges[1]) == [(15, 34)]


def test_narrower_range_is_cut_behind_the_end_of_the_wider_one() -> None:
    ranges = [SlowRange(10, 29), SlowRange(25, 34)]
    assert pieces(ranges, ranges[1]) == [(25, 29), (30, 34)]


def test_a_range_can_be_cut_several_times() -> None:
    ranges = [SlowRange(0, 99), SlowRange(50, 149), SlowRange(45, 104)]
    assert pieces(ranges, ranges[2]) == [(45, 49), (50, 99), (100, 104)]


def test_tree_of_nested_ranges() -> None:
    assert shape((16, 31), (16, 19), (20, 20), (64, 64)) == [
        (0, 255, 0, 0),
        (16, 31, 0, 1),
        (16, 19, 1, 2),
        (20, 20, 1, 2),
        (64, 64, 0, 1),
    ]


def test_tree_of_overlapping_ranges() -> None:
    assert shape((10, 29), (25, 34)) == [(0, 255, 0, 0), (10, 29, 0, 1), (25, 29, 1, 2), (30, 34, 0, 1)]


def test_a_piece_that_fills_its_parent_lies_below_it() -> None:
    assert shape((0, 9), (5, 11), (8, 12)) == [
        (0, 255, 0, 0),
        (0, 9, 0, 1),
        (5, 9, 1, 2),
        (8, 9, 2, 3),
        (10, 11, 0, 1),
        (10, 11, 4, 2),
        (12, 12, 0, 1),
    ]


@pytest.mark.parametrize(("address", "row"), [(0, 0), (10, 1), (25, 2), (29, 2), (30, 3), (35, 0), (255, 0)])
def test_narrowest_is_the_deepest_row(address: int, row: int) -> None:
    assert narrowest(nested([SlowRange(10, 29), SlowRange(25, 34)], 8), address) == row


class TestDuplicates:
    """Which registration of a range is kept."""

    @staticmethod
    def winner(*registrations: SlowRegistration) -> SlowRegistration | None:
        (there,) = merged(registrations, 4)
        (back,) = merged(registrations[::-1], 4)
        assert there == back
        return there.registration

    def test_more_detail_wins_over_newer(self) -> None:
        detailed = replace(PLAIN, descr="d", country="GR", date=1)
        assert self.winner(replace(PLAIN, country="GR", date=9), detailed) is detailed

    def test_newer_wins_in_equal_detail(self) -> None:
        newer = replace(PLAIN, date=9)
        assert self.winner(replace(PLAIN, date=8), newer) is newer

    def test_content_decides_the_rest(self) -> None:
        assert self.winner(replace(PLAIN, netname="B"), PLAIN) is PLAIN
        assert self.winner(replace(PLAIN, registry=Registry.NONE), PLAIN) != PLAIN
        by_org = replace(PLAIN, handle="X", holder="ORG")
        assert self.winner(replace(by_org, holder="OWNERID"), by_org) is by_org

    def test_families_and_ranges_are_kept_apart(self) -> None:
        others = [replace(PLAIN, family=6), replace(PLAIN, last=20)]
        assert ends(merged([PLAIN, *others], 4)) == [(10, 19), (10, 20)]


class TestHolders:
    """Who holds a subnet."""

    def test_handle_leads_to_the_organisation(self) -> None:
        held = replace(PLAIN, handle="org-a", holder="ORG", maintainer="M", descr="D")
        assert holder_of(held, [("ORG", OBJECT)]) == SlowHolder(
            evidence=HolderEvidence.ORG, handle="ORG-A", name="Alpha", address="1 Road", country="GR"
        )

    def test_handle_of_another_kind_does_not(self) -> None:
        held = replace(PLAIN, handle="ORG-A", holder="ORGID")
        assert holder_of(held, [("ORG", OBJECT)]) == SlowHolder(evidence=HolderEvidence.ORGID, handle="ORG-A")

    def test_newest_object_counts(self) -> None:
        held = replace(PLAIN, handle="ORG-A", holder="ORG")
        objects = [("ORG", OBJECT), ("ORG", replace(OBJECT, name="Beta", date=6))]
        found = holder_of(held, objects)
        assert found is not None
        assert found.name == "Beta"

    def test_maintainer_comes_before_description(self) -> None:
        found = holder_of(replace(PLAIN, maintainer="M", descr="D"), [])
        assert found == SlowHolder(evidence=HolderEvidence.MAINTAINER, handle="M")

    def test_description_is_the_last_resort(self) -> None:
        assert holder_of(replace(PLAIN, descr="D"), []) == SlowHolder(
            evidence=HolderEvidence.DESCRIPTION, name="D"
        )
        assert holder_of(PLAIN, []) is None

    def test_descriptions_are_compared_without_case_blanks_and_stops(self) -> None:
        assert holder_key(replace(PLAIN, descr="Alpha  Net, Inc.")) == holder_key(
            replace(PLAIN, descr="ALPHA Net, inc")
        )
        assert holder_key(replace(PLAIN, descr="A")) != holder_key(
            replace(PLAIN, descr="A", registry=Registry.ARIN)
        )
