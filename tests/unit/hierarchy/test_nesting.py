"""Nesting: overlaps worked by hand, deep trees and the edges of the space."""

from __future__ import annotations

import numpy as np
import pytest

from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.hierarchy.nesting import MOST_PIECES, _nest, sort_order
from tests.reference.fast_building import assembled, built, spelled_address

Named = tuple[int, int]


def nested(**ranges: Named) -> Hierarchy:
    """Build a hierarchy of named IPv4 ranges."""
    return built(text_of(4, **ranges))


def text_of(family: int, **ranges: Named) -> str:
    key = "inetnum" if family == 4 else "inet6num"
    return "\n".join(
        f"{key}: {spelled_address(first, family)} - {spelled_address(last, family)}\nnetname: {name}\n"
        for name, (first, last) in ranges.items()
    )


def names(hierarchy: Hierarchy, address: int) -> list[str | None]:
    return [each.netname for each in hierarchy.lineage(address)][1:]


def test_of_two_overlapping_ranges_the_narrower_is_cut() -> None:
    hierarchy = nested(WIDE=(0, 19), NARROW=(15, 24))
    assert [names(hierarchy, each) for each in (14, 15, 19, 20, 24)] == [
        ["WIDE"],
        ["WIDE", "NARROW"],
        ["WIDE", "NARROW"],
        ["NARROW"],
        ["NARROW"],
    ]


def test_of_two_equally_wide_ranges_the_later_is_cut() -> None:
    assert names(nested(LATE=(5, 14), EARLY=(0, 9)), 7) == ["EARLY", "LATE"]


def test_piece_of_a_wider_range_stays_above_a_narrower_one_that_holds_the_piece() -> None:
    """WIDEST cuts WIDE at 5; what is left of WIDE lies inside NARROW, and is still the wider of the two."""
    hierarchy = nested(WIDE=(0, 9), WIDEST=(5, 24), NARROW=(5, 13))
    assert names(hierarchy, 6) == ["WIDEST", "WIDE", "NARROW"]
    assert hierarchy.lookup(6).netname == "NARROW"
    assert hierarchy.lookup(11).netname == "NARROW"


def test_piece_of_an_earlier_range_stays_above_an_equally_wide_later_one() -> None:
    assert names(nested(EARLY=(0, 5), LATE=(1, 6), WIDEST=(1, 7)), 3) == ["WIDEST", "EARLY", "LATE"]


def test_a_staircase_of_ranges_keeps_its_order_everywhere() -> None:
    steps = {f"S{i}": (i, i + 9) for i in range(12)}
    hierarchy = nested(**steps)
    for address in range(21):
        holding = [name for name, (first, last) in steps.items() if first <= address <= last]
        assert names(hierarchy, address) == holding


def test_each_cut_names_the_range_whose_bound_it_was_cut_at() -> None:
    made = assembled(text_of(4, A=(0, 2), B=(1, 3), C=(2, 4)).encode())
    assert sorted(made.tree4.cuts.tolist()) == [[1, 0], [2, 0], [2, 1]]


def staircase(count: int, base: int = 10 << 24) -> dict[str, Named]:
    """Make ranges of equal width, each one address behind the one before."""
    return {f"S{i}": (base + i, base + i + count) for i in range(count)}


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("count", [1000, 20_000])
def test_output_does_not_grow_with_the_square_of_overlapping_ranges(family: int, count: int) -> None:
    """The first 64 are cut into 1, 2, … 64 pieces; each later one would have more."""
    made = assembled(text_of(family, **staircase(count)).encode())
    tree = made.tree4 if family == 4 else made.tree6
    assert made.registered == MOST_PIECES * (MOST_PIECES + 1) // 2
    assert sorted(tree.left_out.tolist()) == list(range(MOST_PIECES, count))


def test_ranges_that_overlap_in_many_places_are_all_kept() -> None:
    """More cuts than the kernel gets room for at first, but few for each range."""
    steps, places = 40, 200
    stairs = [staircase(steps, place << 16) for place in range(places)]
    ranges = {f"P{i}{name}": ends for i, stair in enumerate(stairs) for name, ends in stair.items()}
    made = assembled(text_of(4, **ranges).encode())
    assert made.registered == places * steps * (steps + 1) // 2
    assert len(made.tree4.left_out) == 0
    assert len(made.tree4.cuts) == places * steps * (steps - 1) // 2


def test_many_ranges_cut_at_the_common_end_of_many_others_take_no_longer_than_others() -> None:
    """Finding whose end it is once took a step per range that ends there, for each range that is cut."""
    count, end = 100_000, 1 << 24
    start = [0, *range(1, count + 1), *range(end - count, end)]
    stop = [1 << 32, *([end] * count), *([end + 1] * count)]
    inverted = np.uint64(1 << 32) - np.array(stop, np.uint64)
    nested = _nest(np.array(start, np.uint64) << np.uint64(32) | inverted, np.empty(0, np.uint64))
    assert len(nested.left_out) == 0
    assert sorted(nested.cuts[:, 0].tolist()) == list(range(count + 1, 2 * count + 1))
    assert set(nested.cuts[:, 1].tolist()) == {1}


def test_narrow_ranges_cannot_push_out_a_wide_one() -> None:
    across = {f"N{i}": (900 + i, 1100) for i in range(100)}
    hierarchy = nested(WIDE=(0, 999), **across)
    assert names(hierarchy, 999)[0] == "WIDE"
    assert len(names(hierarchy, 999)) == 1 + len(across)


def test_cut_subnets_remember_what_was_registered() -> None:
    hierarchy = nested(WIDE=(0, 19), NARROW=(15, 24))
    piece = hierarchy.lookup(20)
    assert [int(end) for end in (piece.first, piece.last)] == [20, 24]
    assert [int(end) for end in hierarchy.registered_range(piece.row)] == [15, 24]


@pytest.mark.parametrize(("family", "bits"), [(4, 32), (6, 128)])
def test_whole_space_and_its_ends_can_be_registered(family: int, bits: int) -> None:
    last = 2**bits - 1
    hierarchy = built(text_of(family, ALL=(0, last), FIRST=(0, 0), LAST=(last, last)))
    root = 0 if family == 4 else 1
    assert hierarchy.subnet(root).netname == "ALL"
    assert [each.netname for each in hierarchy.subnets(hierarchy.children(root))] == ["FIRST", "LAST"]
    assert hierarchy.lookup(spelled_address(last, family)).netname == "LAST"
    assert hierarchy.lookup(spelled_address(last - 1, family)).netname == "ALL"


def test_all_prefixes_of_an_address_nest() -> None:
    text = "".join(f"inetnum: 255.255.255.255/{length}\nnetname: N{length}\n\n" for length in range(33))
    hierarchy = built(text)
    assert [each.netname for each in hierarchy.lineage("255.255.255.255")] == [f"N{i}" for i in range(33)]
    assert hierarchy.lookup("255.255.255.254").netname == "N31"


def test_ranges_nest_deeper_than_the_stack_holds_at_first() -> None:
    """70,000 levels, one address narrower on each side at every level."""
    levels = 70_000
    top = levels * 2
    lines = (f"inet6num: {spelled_address(i, 6)} - {spelled_address(top - i, 6)}\n" for i in range(levels))
    made = assembled("\n".join(lines).encode())
    assert made.deepest == levels
    assert made.registered == levels
    assert (np.diff(made.tree6.parent.astype(np.int64)) == np.r_[0, np.ones(levels - 1)]).all()


def test_deep_nesting_of_ipv4_is_looked_up() -> None:
    levels = 300
    hierarchy = nested(**{f"L{i}": (i, 1000 - i) for i in range(levels)})
    assert len(hierarchy.lineage(500)) == levels + 1
    assert hierarchy.lookup(levels - 1).netname == f"L{levels - 1}"
    assert hierarchy.lookup(1000).netname == "L0"


def test_no_registration_leaves_the_two_roots() -> None:
    hierarchy = built("")
    assert [(each.label, each.depth) for each in hierarchy.subnets(range(2))] == [
        ("0.0.0.0/0", 0),
        ("::/0", 0),
    ]
    assert hierarchy.lookup_many(["1.2.3.4", "::1"]).tolist() == [0, 1]
    assert hierarchy.parent(0) is None
    assert hierarchy.siblings(1).tolist() == []


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
def test_order_of_keys_is_stable(count: int) -> None:
    rng = np.random.default_rng(count)
    high, low = rng.integers(3, size=(2, count)).astype(np.uint64) << np.uint64(60)
    assert sort_order([high, low]).tolist() == np.lexsort((low, high)).tolist()
