"""Laws of hierarchy files: whatever byte is damaged, readers stay sane and `verify` finds it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.app.lookup.differences import list_changes
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.errors import CorruptHierarchyError, IpmicraError
from ipmicra.hierarchy import format as names
from ipmicra.hierarchy.format import ENTRY, HEADER, read_layout
from ipmicra.native import kernels
from tests.patience import loops_broken
from tests.reference.fast_building import file_bytes

TEXT = """inetnum: 10.0.0.0 - 10.0.255.255
netname: WIDE
org: ORG-A
country: GR
status: ALLOCATED PA
geoloc: 1 2
last-modified: 2020-01-01

inetnum: 10.0.1.0 - 10.1.0.255
netname: OVERLAPPING
descr: Größe

inetnum: 10.0.0.0/28
netname: NARROW
mnt-by: M-1
country: DE

inetnum: 255.255.255.0/24
status: ASSIGNED PA
geofeed: https://example.org/g

inet6num: 2001:db8::/32
netname: SIX
org: ORG-B

inet6num: 2001:db8:1::/48
netname: INNER

inet6num: 2001:db8:0:8000:: - 2001:db8:1:7fff:ffff:ffff:ffff:ffff
netname: ACROSS

organisation: ORG-A
org-name: Alpha
address: 1 Road
country: GR
"""
SOUND = file_bytes(TEXT.encode())
LAYOUT = read_layout(memoryview(SOUND))
COMPILED_SECTIONS = {names.SEGMENTS, names.BOUNDS4, names.BOUNDS6, names.PARENT}
"""Sections that compiled look-ups read."""
ADDRESSES: list[IPv4Address | IPv6Address] = [
    *(IPv4Address(each) for each in (0, 1, 0x0A000000, 0x0A00000F, 0x0A000100, 0x0A0100FF, 2**32 - 1)),
    *(IPv6Address(each) for each in ("::", "2001:db8::1", "2001:db8:1::", "2001:db8:1:8000::", "ffff::")),
]


def questions(hierarchy: Hierarchy, *, is_compiled: bool) -> Iterator[Callable[[], object]]:
    """Return every question that a reader can be asked."""
    rows = range(-1, len(hierarchy) + 1)
    wide = np.array([divmod(int(each), 1 << 64) for each in ADDRESSES if each.version == 6], np.uint64)
    narrow = np.array([int(each) for each in ADDRESSES if each.version == 4], np.uint32)
    copies = kernels.WORTH_TABLE if is_compiled else 1
    yield lambda: hierarchy.meta
    yield lambda: hierarchy.edition.label
    yield lambda: repr(hierarchy)
    for address in ADDRESSES:
        yield lambda address=address: hierarchy.lookup(address)  # type: ignore[misc]
        yield lambda address=address: hierarchy.lineage(str(address))  # type: ignore[misc]
        yield lambda address=address: hierarchy.subnet(hierarchy.row_of(str(address)))  # type: ignore[misc]
    yield lambda: hierarchy.lookup_many(ADDRESSES)
    yield lambda: hierarchy.lookup_many(np.tile(narrow, copies))
    yield lambda: hierarchy.lookup_many(np.tile(wide, (copies, 1)))
    for ask in (
        hierarchy.subnet,
        hierarchy.parent,
        hierarchy.children,
        hierarchy.siblings,
        hierarchy.descendants,
        hierarchy.lineage_rows,
        hierarchy.registered_range,
    ):
        for row in rows:
            yield lambda ask=ask, row=row: ask(row)  # type: ignore[misc]
    for number in range(-1, len(hierarchy.organisations) + 2):
        yield lambda number=number: hierarchy.organisations[number]  # type: ignore[misc]
        yield lambda number=number: hierarchy.subnets_of(number)  # type: ignore[misc]
    for query in ("a", "org-", "GRÖSSE", "größe"):
        yield lambda query=query: hierarchy.search(query)  # type: ignore[misc]
        yield lambda query=query: hierarchy.subnets_of(query)  # type: ignore[misc]
    yield lambda: hierarchy.parent_many(np.arange(len(hierarchy)))
    yield lambda: hierarchy.organisation_many(np.arange(len(hierarchy)))
    yield lambda: list(list_changes(Hierarchy(SOUND), hierarchy))
    yield lambda: list(list_changes(hierarchy, Hierarchy(SOUND)))


def assert_sane(content: bytes, *, is_compiled: bool = False) -> None:
    """Open a file and ask it everything: it answers or raises an error of ipmicra."""
    with loops_broken():
        try:
            hierarchy = Hierarchy(content)
        except CorruptHierarchyError:
            return
        for ask in questions(hierarchy, is_compiled=is_compiled):
            with suppress(IpmicraError):
                ask()


def is_found(content: bytes) -> bool:
    """Return whether opening and verifying a file shows that it is damaged."""
    try:
        Hierarchy(content).verify()
    except CorruptHierarchyError:
        return True
    return False


def flipped(at: int, value: int) -> bytes:
    return SOUND[:at] + bytes([value]) + SOUND[at + 1 :]


def places(section: str, most: int) -> list[int]:
    """Return places in a section: all of a small one, a sample of a large one."""
    found = LAYOUT.sections[section]
    inside = range(found.offset, found.offset + found.size)
    return list(inside) if len(inside) <= most else sorted(random.Random(1).sample(inside, most))


def table_end() -> int:
    return HEADER.size + ENTRY.size * len(LAYOUT.sections)


def test_sound_file_answers_every_question() -> None:
    hierarchy = Hierarchy(SOUND)
    hierarchy.verify()
    asked = 0
    for ask in questions(hierarchy, is_compiled=True):
        with suppress(IpmicraError):
            ask()
            asked += 1
    assert asked > 100


@pytest.mark.parametrize("bit", range(8))
def test_every_flip_in_header_or_table_is_refused_at_open(bit: int) -> None:
    for at in range(table_end()):
        with pytest.raises(CorruptHierarchyError):
            Hierarchy(flipped(at, SOUND[at] ^ 1 << bit))


@pytest.mark.parametrize("section", names.REQUIRED)
def test_flips_in_a_section_are_survived_and_found(section: str) -> None:
    chance = random.Random(section)
    for at in places(section, 24):
        for value in (SOUND[at] ^ 1 << chance.randrange(8), chance.choice([0, 255, 0x22, 0x65])):
            content = flipped(at, value)
            assert_sane(content)
            assert value == SOUND[at] or is_found(content)


@pytest.mark.parametrize("section", sorted(COMPILED_SECTIONS))
def test_compiled_look_ups_survive_flips(section: str) -> None:
    for at in places(section, 12):
        for value in (SOUND[at] ^ 0x80, SOUND[at] ^ 0x01, 255):
            assert_sane(flipped(at, value), is_compiled=True)


@given(data=st.data())
def test_several_flips_at_once_are_survived_and_found(data: st.DataObject) -> None:
    content = bytearray(SOUND)
    for section in data.draw(st.lists(st.sampled_from(sorted(names.REQUIRED)), min_size=1, max_size=4)):
        found = LAYOUT.sections[section]
        if found.size:
            at = found.offset + data.draw(st.integers(0, found.size - 1))
            content[at] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]) | st.integers(0, 255))
    assert_sane(bytes(content))
    assert content == SOUND or is_found(bytes(content))


def test_every_truncation_is_refused_at_open() -> None:
    for size in range(len(SOUND)):
        with pytest.raises(CorruptHierarchyError):
            Hierarchy(SOUND[:size])


def test_what_follows_the_end_is_refused_at_open() -> None:
    with pytest.raises(CorruptHierarchyError):
        Hierarchy(SOUND + b"\0")


@given(content=st.binary(max_size=300))
def test_foreign_files_are_refused_at_open(content: bytes) -> None:
    with pytest.raises(CorruptHierarchyError):
        Hierarchy(content)
    with pytest.raises(CorruptHierarchyError):
        Hierarchy(SOUND[: HEADER.size] + content)


def test_flips_between_sections_change_no_answer_and_are_found() -> None:
    covered = set(range(table_end()))
    for section in LAYOUT.sections.values():
        covered |= set(range(section.offset, section.offset + section.size))
    gaps = sorted(set(range(len(SOUND))) - covered)
    assert gaps
    for at in random.Random(2).sample(gaps, 40):
        content = flipped(at, 1)
        assert Hierarchy(content).subnets(range(len(Hierarchy(SOUND)))) == Hierarchy(SOUND).subnets(
            range(len(Hierarchy(SOUND)))
        )
        assert is_found(content)


def test_a_non_finite_number_in_a_dump_record_is_reported() -> None:
    at = SOUND.index(b"18334") + 1
    with pytest.raises(CorruptHierarchyError):
        _ = Hierarchy(flipped(at, ord("e"))).edition


def test_the_path_of_a_damaged_file_is_reported(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("damaged") / "cut.ipm"
    path.write_bytes(SOUND[:100])
    with pytest.raises(CorruptHierarchyError) as caught:
        Hierarchy.open(path)
    assert str(path) in "".join(caught.value.__notes__)
