"""Laws of the hierarchy: it is a tree, says what a scan says, and every way to ask gives the same answer."""

from __future__ import annotations

import itertools
import random
import tempfile
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ipmicra.edge import hierarchy_file
from ipmicra.edge.hierarchy_file import Hierarchy, write_atomically
from ipmicra.hierarchy.encode import Encoded
from ipmicra.hierarchy.hierarchy import Hierarchy as CoreHierarchy
from ipmicra.model.organisation import Organisation
from ipmicra.native import kernels
from tests.examples import at_most
from tests.reference.fast_building import META, assembled, built, dump_of, file_bytes, spelled_address
from tests.reference.slow_hierarchy import (
    BITS,
    SlowRange,
    SlowRow,
    bearable,
    holder_key,
    holder_of,
    lineage,
    merged,
    narrowest,
    nested,
    pieces,
    with_root,
)
from tests.reference.slow_parser import SlowOrganisation, SlowRegistration, read_paragraphs
from tests.strategies import addresses, many_registrations

MAPPED = 0xFFFF << 32
"""Where IPv6 keeps a place for IPv4: ::ffff:0:0/96."""
TYPES: dict[int, type[IPv4Address | IPv6Address]] = {4: IPv4Address, 6: IPv6Address}
WITHOUT_SHRINKING = [Phase.explicit, Phase.reuse, Phase.generate]
"""For examples of many megabytes, of which shrinking would keep too many."""


def slow_rows(registrations: list[SlowRegistration], family: int) -> list[SlowRow]:
    return nested(merged(registrations, family), BITS[family])


def base_of(hierarchy: CoreHierarchy, family: int) -> int:
    """Return the first row of a family."""
    return 0 if family == 4 else len(hierarchy.bounds_array(4))


def edges_of(rows: list[SlowRow], family: int) -> list[int]:
    """Return the ends of all rows and their neighbours; none that IPv6 reads as IPv4."""
    near = {end + step for row in rows for end in (row.first, row.last) for step in (-1, 0, 1)}
    space = range(2 ** BITS[family])
    return sorted(each for each in near if each in space and not (family == 6 and each >> 32 == 0xFFFF))


def array_of(asked: list[int], family: int) -> NDArray[np.generic]:
    """Bring addresses into the form that `lookup_many` takes."""
    if family == 4:
        return np.array(asked, np.uint32)
    return np.array([divmod(each, 1 << 64) for each in asked], np.uint64).reshape(-1, 2)


def written(
    registration: SlowRegistration | None, known: list[tuple[str, SlowOrganisation]]
) -> tuple[str | None, ...]:
    """Return what a subnet must say of itself; an address that its holder has is not repeated."""
    if registration is None:
        return (None,) * 7
    found = registration
    holder = holder_of(found, known)
    address = "" if holder and holder.address == found.address else found.address
    values = (found.netname, found.country, found.status, found.geoloc, found.geofeed, address)
    return (*(value or None for value in values), found.registry.label)


def owners_of(registrations: list[SlowRegistration]) -> list[tuple[str, SlowOrganisation]]:
    """Return the organisations that registrations with `ownerid` and `owner` make, with their kind."""
    return [("OWNERID", owner) for owner in read_paragraphs(dump_of(registrations)).organisations]


@pytest.mark.parametrize("family", [4, 6])
@given(data=st.data())
def test_rows_are_those_of_the_slow_twin(family: int, data: st.DataObject) -> None:
    registrations = data.draw(many_registrations(family))
    hierarchy = built(dump_of(registrations))
    base = base_of(hierarchy, family)
    rows = slow_rows(registrations, family)
    known = owners_of(registrations)
    assert len(hierarchy) == len(rows) + 1
    for i, row in enumerate(rows):
        subnet = hierarchy.subnet(base + i)
        whole = hierarchy.registered_range(base + i)
        assert (int(subnet.first), int(subnet.last), subnet.depth) == (row.first, row.last, row.depth)
        assert (int(whole[0]), int(whole[1])) == (row.whole.first, row.whole.last)
        assert hierarchy.parent(base + i) == (None if i == 0 else base + row.parent)
        label = subnet.registry.label
        places = (subnet.geoloc, subnet.geofeed, subnet.postal_address)
        says = (subnet.netname, subnet.country, subnet.status, *places, label)
        assert says == written(row.whole.registration, known)


@given(registrations=many_registrations())
def test_children_lie_inside_their_parents_and_siblings_do_not_overlap(
    registrations: list[SlowRegistration],
) -> None:
    hierarchy = built(dump_of(registrations))
    for row in range(len(hierarchy)):
        first, last = hierarchy.bounds(row)
        behind = int(first) - 1
        for child in hierarchy.children(row):
            child_first, child_last = hierarchy.bounds(int(child))
            assert behind < int(child_first) <= int(child_last) <= int(last)
            assert child_first.version == first.version
            behind = int(child_last)


@given(registrations=many_registrations())
def test_relations_between_rows_agree_with_each_other(registrations: list[SlowRegistration]) -> None:
    hierarchy = built(dump_of(registrations))
    rows = np.arange(len(hierarchy))
    parents = [hierarchy.parent(int(row)) for row in rows]
    assert hierarchy.parent_many(rows).tolist() == [-1 if each is None else each for each in parents]
    for row in range(len(hierarchy)):
        children = hierarchy.children(row).tolist()
        assert children == [i for i, parent in enumerate(parents) if parent == row]
        inside = [i for i in rows.tolist() if row in hierarchy.lineage_rows(i)[:-1]]
        assert list(hierarchy.descendants(row)) == inside
        parent = parents[row]
        beside = [] if parent is None else hierarchy.children(parent).tolist()
        assert hierarchy.siblings(row).tolist() == [each for each in beside if each != row]
        lineage = hierarchy.lineage(hierarchy.subnet(row))
        assert [each.row for each in lineage] == hierarchy.lineage_rows(row)
        assert [each.depth for each in lineage] == list(range(len(lineage)))


@given(registrations=many_registrations(), data=st.data())
def test_lineage_of_an_address_is_the_ranges_that_hold_it(
    registrations: list[SlowRegistration], data: st.DataObject
) -> None:
    hierarchy = built(dump_of(registrations))
    for family in (4, 6):
        rows = slow_rows(registrations, family)
        for address in edges_of(rows, family) + data.draw(st.lists(addresses(family), max_size=5)):
            if family == 6 and address >> 32 == 0xFFFF:
                continue
            found = hierarchy.lineage(TYPES[family](address))
            holding = sorted(
                (row for row in rows if row.first <= address <= row.last), key=lambda row: row.depth
            )
            assert [(int(each.first), int(each.last)) for each in found] == [
                (row.first, row.last) for row in holding
            ]
            wholes = [hierarchy.registered_range(each.row) for each in found]
            assert [(int(first), int(last)) for first, last in wholes] == [
                (row.whole.first, row.whole.last) for row in holding
            ]
            assert hierarchy.lookup(str(TYPES[family](address))) == found[-1]


@given(registrations=many_registrations(), data=st.data())
def test_every_way_to_look_an_address_up_gives_the_row_of_a_scan(
    registrations: list[SlowRegistration], data: st.DataObject
) -> None:
    hierarchy = built(dump_of(registrations))
    for family in (4, 6):
        rows, base = slow_rows(registrations, family), base_of(hierarchy, family)
        asked = [*edges_of(rows, family), *data.draw(st.lists(addresses(family), max_size=20))]
        asked = [each for each in asked if family == 4 or each >> 32 != 0xFFFF]
        expected = [base + narrowest(rows, each) for each in asked]
        objects = [TYPES[family](each) for each in asked]
        spelled = [str(each) for each in objects]
        assert hierarchy.lookup_many(array_of(asked, family)).tolist() == expected
        assert hierarchy.lookup_many(objects).tolist() == expected
        assert hierarchy.lookup_many(spelled).tolist() == expected
        assert [hierarchy.row_of(each) for each in spelled] == expected
        assert [hierarchy.lookup(each).row for each in objects] == expected
        packed = np.frombuffer(b"".join(each.packed for each in objects), np.uint8)
        if family == 4:
            assert [hierarchy.lookup(each).row for each in asked] == expected
            assert hierarchy.lookup_many(np.array(asked, np.int64)).tolist() == expected
            mapped = [IPv6Address(MAPPED | each) for each in asked]
            assert [hierarchy.row_of(str(each)) for each in mapped] == expected
            assert [hierarchy.lookup(each).row for each in mapped] == expected
            assert hierarchy.lookup_many(mapped).tolist() == expected
            assert hierarchy.lookup_many(array_of([int(each) for each in mapped], 6)).tolist() == expected
        else:
            assert hierarchy.lookup_many(packed.reshape(-1, 16)).tolist() == expected


@at_most(12, phases=WITHOUT_SHRINKING)
@given(registrations=many_registrations(), seed=st.integers(0, 99))
def test_compiled_look_ups_in_threads_give_the_rows_of_a_scan(
    registrations: list[SlowRegistration], seed: int
) -> None:
    content = file_bytes(dump_of(registrations))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hierarchy_file, "PER_THREAD", kernels.WORTH_TABLE)
        for threads in (1, 3):
            hierarchy = Hierarchy(content, threads=threads)
            for family in (4, 6):
                rows, base = slow_rows(registrations, family), base_of(hierarchy, family)
                asked = edges_of(rows, family)
                expected = np.array([base + narrowest(rows, each) for each in asked])
                picks = np.random.default_rng(seed).integers(len(asked), size=3 * kernels.WORTH_TABLE + 17)
                found = hierarchy.lookup_many(array_of(asked, family)[picks])
                assert (found == expected[picks]).all()


@at_most(12, phases=WITHOUT_SHRINKING)
@given(registrations=many_registrations(most=8))
def test_compiled_look_ups_of_both_families_mixed_agree_with_single_ones(
    registrations: list[SlowRegistration],
) -> None:
    hierarchy = built(dump_of(registrations))
    mapped = [MAPPED | each for each in edges_of(slow_rows(registrations, 4), 4)]
    asked = [*mapped, *edges_of(slow_rows(registrations, 6), 6)]
    single = np.array([hierarchy.lookup(IPv6Address(each)).row for each in asked])
    picks = np.arange(2 * kernels.WORTH_TABLE) % len(asked)
    assert (hierarchy.lookup_many(array_of(asked, 6)[picks]) == single[picks]).all()


@at_most(12, phases=WITHOUT_SHRINKING)
@given(seed=st.integers(0, 99), prefixes=st.integers(1, 700))
def test_look_ups_do_not_depend_on_the_instructions_of_the_processor(seed: int, prefixes: int) -> None:
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 1 << 64, (prefixes, 2), np.uint64, endpoint=False)
    words[:, 0] >>= rng.integers(
        0, 64, prefixes, np.uint64
    )  # crowded at the start of the space, as registries are
    spelled = [IPv6Address(int(high) << 64 | int(low)) for high, low in words]
    lengths = rng.integers(8, 129, prefixes)
    text = "\n".join(f"inet6num: {each}/{length}\n" for each, length in zip(spelled, lengths, strict=True))
    hierarchy = built(text)
    ends = [[0, 0], [2**64 - 1, 2**64 - 1], [2**64 - 1, 0]]
    near = np.concatenate((words, words + np.uint64(1), words - np.uint64(1), np.array(ends, np.uint64)))
    asked = near[np.arange(kernels.WORTH_TABLE + 5) % len(near)]
    single = [hierarchy.lookup(IPv6Address(int(high) << 64 | int(low))).row for high, low in near]
    for instructions in range(4):
        found = np.empty(len(asked), np.uint32)
        hierarchy._finder.rows_of_wide(asked, found, instructions)
        assert found[: len(near)].tolist() == single


@given(registrations=many_registrations(), seed=st.integers(0, 99))
def test_order_of_the_input_is_irrelevant(registrations: list[SlowRegistration], seed: int) -> None:
    shuffled = list(registrations)
    random.Random(seed).shuffle(shuffled)
    assert file_bytes(dump_of(shuffled)) == file_bytes(dump_of(registrations))


@given(registrations=many_registrations(most=8))
def test_what_is_registered_twice_counts_once(registrations: list[SlowRegistration]) -> None:
    once, twice = assembled(dump_of(registrations)), assembled(dump_of([*registrations, *registrations]))
    assert Encoded(once.sections, META).content_hash == Encoded(twice.sections, META).content_hash
    lost = len(twice.tree4.duplicates) + len(twice.tree6.duplicates)
    assert lost - len(once.tree4.duplicates) - len(once.tree6.duplicates) == len(registrations)


@given(registrations=many_registrations())
def test_each_duplicate_and_each_cut_is_counted(registrations: list[SlowRegistration]) -> None:
    found = assembled(dump_of(registrations))
    for family, tree in ((4, found.tree4), (6, found.tree6)):
        kept = merged(registrations, family)
        assert len(tree.duplicates) == sum(each.family == family for each in registrations) - len(kept)
        rows = nested(kept, BITS[family])
        wholes = {(row.whole.first, row.whole.last) for row in rows}
        cut = {
            (r.whole.first, r.whole.last) for r in rows if (r.first, r.last) != (r.whole.first, r.whole.last)
        }
        assert len({int(loser) for loser, _winner in tree.cuts}) == len(cut)
        assert (len(tree.cuts) == 0) == (len(rows) == len(wholes))
        assert tree.deepest == max(row.depth for row in rows)


@pytest.mark.parametrize("family", [4, 6])
@at_most(20)
@given(
    ends=st.sets(
        st.tuples(st.integers(0, 150), st.integers(0, 150)).map(lambda ends: (min(ends), max(ends))),
        min_size=70,
        max_size=200,
    )
)
def test_ranges_with_too_many_pieces_are_left_out_and_no_others(
    family: int, ends: set[tuple[int, int]]
) -> None:
    ranges = with_root([SlowRange(first, last) for first, last in ends], BITS[family])
    kept = bearable(ranges)
    lines = [" - ".join(spelled_address(end, family) for end in pair) for pair in ends]
    text = "\n".join(f"{'inetnum' if family == 4 else 'inet6num'}: {line}\n" for line in lines).encode()
    made = assembled(text)
    assert len((made.tree4 if family == 4 else made.tree6).left_out) == len(ranges) - len(kept)
    assert made.registered == sum(len(pieces(kept, whole)) for whole in kept) - 1
    hierarchy = built(text)
    for address in range(151):
        found = [hierarchy.registered_range(each.row) for each in hierarchy.lineage(TYPES[family](address))]
        assert [(int(first), int(last)) for first, last in found] == [
            (whole.first, whole.last) for whole in lineage(kept, address)
        ]


@given(registrations=many_registrations())
def test_pieces_cover_the_registered_range_without_gap(registrations: list[SlowRegistration]) -> None:
    hierarchy = built(dump_of(registrations))
    parts: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for row in range(len(hierarchy)):
        first, last = hierarchy.registered_range(row)
        piece = [int(end) for end in hierarchy.bounds(row)]
        parts.setdefault((first.version, int(first), int(last)), []).append((piece[0], piece[1]))
    for (_version, low, high), found in parts.items():
        assert (found[0][0], found[-1][1]) == (low, high)
        assert all(one[1] + 1 == other[0] for one, other in itertools.pairwise(found))
    wanted = {(each.family, each.first, each.last) for each in registrations}
    assert set(parts) == wanted | {(4, 0, 2**32 - 1), (6, 0, 2**128 - 1)}


@given(registrations=many_registrations())
def test_holders_are_those_of_the_slow_twin(registrations: list[SlowRegistration]) -> None:
    objects = (
        b"organisation: ORG-A\norg-name: Alpha\ncountry: GR\n\norgid: b\norgname: Beta\naddress: Road\n\n"
    )
    known = list(zip(("ORG", "ORGID"), read_paragraphs(objects).organisations, strict=True))
    known += owners_of(registrations)
    hierarchy = built(objects + dump_of(registrations))
    numbers: dict[tuple[object, ...], set[int]] = {}
    rows = [row for family in (4, 6) for row in slow_rows(registrations, family)]
    held: dict[int, list[int]] = {}
    for i, row in enumerate(rows):
        found = hierarchy.subnet(i).organisation
        registered = row.whole.registration
        slow = holder_of(registered, known) if registered else None
        key = holder_key(registered) if registered else None
        assert (found is None) == (slow is None) == (key is None)
        if found and slow and key:
            assert found.evidence is slow.evidence
            assert (found.name or "").casefold()[:4] == slow.name.casefold()[:4]
            assert (found.handle or "").casefold() == slow.handle.casefold()
            assert (found.country or "", found.address or "") == (slow.country, slow.address)
            numbers.setdefault(key, set()).add(found.number)
            held.setdefault(found.number, []).append(i)
    assert sorted(number for found in numbers.values() for number in found) == list(
        range(1, len(hierarchy.organisations) + 1)
    )
    assert all(len(found) == 1 for found in numbers.values())
    for number, expected in held.items():
        assert hierarchy.subnets_of(number).tolist() == expected
        assert hierarchy.subnets_of(hierarchy.organisations[number]).tolist() == expected
    assert hierarchy.organisation_many(np.arange(len(rows))).tolist() == [
        next((number for number, some in held.items() if i in some), 0) for i in range(len(rows))
    ]


@given(registrations=many_registrations())
def test_every_organisation_is_found_by_its_handle_and_by_part_of_its_name(
    registrations: list[SlowRegistration],
) -> None:
    hierarchy = built(dump_of(registrations))
    everybody = [hierarchy.organisations[i + 1] for i in range(len(hierarchy.organisations))]
    for query in ("alpha", "ÊTA", "org-", "m-1", "b"):
        assert hierarchy.search(query) == [each for each in everybody if is_named(each, query)]
        assert hierarchy.search(query, limit=1) == hierarchy.search(query)[:1]
    for each in everybody:
        if each.handle:
            rows = {row for other in everybody if same_handle(each, other) for row in held(hierarchy, other)}
            assert hierarchy.subnets_of(each.handle.swapcase()).tolist() == sorted(rows)


def is_named(organisation: Organisation, query: str) -> bool:
    texts = (organisation.handle or "", organisation.name or "")
    return any(query.casefold() in text.casefold() for text in texts)


def same_handle(one: Organisation, other: Organisation) -> bool:
    return (one.handle or "").casefold() == (other.handle or "").casefold()


def held(hierarchy: Hierarchy, organisation: Organisation) -> list[int]:
    rows: list[int] = hierarchy.subnets_of(organisation).tolist()
    return rows


@given(registrations=many_registrations())
def test_file_memory_and_core_give_the_same_answers(registrations: list[SlowRegistration]) -> None:
    content = file_bytes(dump_of(registrations))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "hierarchy.ipm")
        assert write_atomically(path, [content]) == len(content)
        with Hierarchy.open(path) as mapped:
            mapped.verify()
            readers = [mapped, Hierarchy(content), Hierarchy(bytearray(content)), CoreHierarchy(content)]
            rows = range(len(mapped))
            answers = [reader.subnets(rows) for reader in readers]
            assert all(each == answers[0] for each in answers)
            asked = edges_of(slow_rows(registrations, 4), 4)
            found = [reader.lookup_many(array_of(asked, 4)).tolist() for reader in readers]
            assert all(each == found[0] for each in found)
            assert {reader.edition for reader in readers} == {mapped.edition}
            assert {repr(reader) for reader in readers} == {repr(mapped)}


@given(registrations=many_registrations(most=6))
def test_encoded_sections_come_back_as_they_were(registrations: list[SlowRegistration]) -> None:
    sections = assembled(dump_of(registrations)).sections
    encoded = Encoded(sections, META)
    hierarchy = CoreHierarchy(bytes(encoded))
    for name, array in sections.items():
        stored = hierarchy._sections.array(name)
        assert stored.dtype == array.dtype
        assert (stored == array).all()
        assert not stored.flags.writeable
    assert hierarchy.meta == META
    assert hierarchy.content_hash == encoded.content_hash.hex()
