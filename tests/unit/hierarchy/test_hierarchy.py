"""The hierarchy as a library: what it takes, what it refuses, how it shows itself."""

from __future__ import annotations

import re
import threading
from ipaddress import IPv4Address, IPv6Address
from operator import attrgetter, methodcaller
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ipmicra import (
    AddressError,
    CorruptHierarchyError,
    Hierarchy,
    InputError,
    MissingHierarchyError,
)
from ipmicra.errors import HierarchyError
from tests.reference.fast_building import built, file_bytes

TEXT = b"inetnum: 10.0.0.0/8\nnetname: TEN\n\ninetnum: 10.1.0.0/16\nnetname: ONE\n\ninet6num: 2001:db8::/32\n"
HIERARCHY = built(TEXT)


@pytest.mark.parametrize(
    "address",
    [
        "10.1.2.3",
        " 10.1.2.3 ",
        0x0A010203,
        IPv4Address("10.1.2.3"),
        "::ffff:10.1.2.3",
        IPv6Address("::ffff:a01:203"),
    ],
)
def test_an_address_can_be_given_in_many_forms(address: str | int | IPv4Address | IPv6Address) -> None:
    assert HIERARCHY.lookup(address).netname == "ONE"
    assert HIERARCHY.lookup_many([address]).tolist() == [HIERARCHY.lookup(address).row]


@pytest.mark.parametrize(
    "address", ["", "10.1.2", "10.1.2.256", "example.org", "010.1.2.3", "1.2.3.4\0", "::g", "\udcff"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    for ask in (HIERARCHY.lookup, HIERARCHY.row_of, HIERARCHY.lineage):
        with pytest.raises(AddressError):
            ask(address)
    with pytest.raises(AddressError):
        HIERARCHY.lookup_many([address])


@pytest.mark.parametrize("number", [-1, 2**32])
def test_numbers_outside_ipv4_are_refused(number: int) -> None:
    with pytest.raises(AddressError):
        HIERARCHY.lookup(number)
    with pytest.raises(AddressError):
        HIERARCHY.lookup_many([number])
    with pytest.raises(AddressError):
        HIERARCHY.lookup_many(np.array([number], np.int64))


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 3), np.uint64),
        np.zeros((2, 2), np.int64),
        np.zeros((1, 2, 2), np.uint64),
        np.zeros(2),
        np.array([True]),
    ],
)
def test_arrays_of_other_shapes_and_types_are_refused(array: NDArray[np.generic]) -> None:
    with pytest.raises(AddressError):
        HIERARCHY.lookup_many(array)


def test_nothing_asked_is_nothing_answered() -> None:
    assert HIERARCHY.lookup_many([]).tolist() == []
    assert HIERARCHY.lookup_many(np.empty(0, np.uint32)).tolist() == []
    assert HIERARCHY.lookup_many(np.empty((0, 2), np.uint64)).tolist() == []


@pytest.mark.parametrize("row", [-1, 5, 10**12])
def test_rows_that_do_not_exist_are_refused(row: int) -> None:
    for ask in (
        HIERARCHY.subnet,
        HIERARCHY.parent,
        HIERARCHY.children,
        HIERARCHY.siblings,
        HIERARCHY.descendants,
    ):
        with pytest.raises(InputError):
            ask(row)


def test_it_shows_its_edition_and_size() -> None:
    assert re.fullmatch(r"<Hierarchy [0-9a-f]{12}: 5 subnets>", repr(HIERARCHY))
    assert len(HIERARCHY) == 5
    assert HIERARCHY.edition.label == f"{HIERARCHY.content_hash[:12]} 2020-01-01"


def test_subnets_show_what_they_are() -> None:
    subnet = HIERARCHY.lookup("10.1.2.3")
    assert (subnet.prefix, subnet.label, subnet.depth) == ("10.1.0.0/16", "10.1.0.0/16", 2)
    assert IPv4Address("10.1.255.255") in subnet
    assert IPv4Address("10.2.0.0") not in subnet
    assert IPv6Address("::a01:0") not in subnet


def test_missing_file_and_folder_are_no_hierarchies(tmp_path: Path) -> None:
    for path in (tmp_path / "none.ipm", tmp_path):
        with pytest.raises(MissingHierarchyError, match="ipmicra build"):
            Hierarchy.open(path)


def test_empty_file_is_no_hierarchy(tmp_path: Path) -> None:
    path = tmp_path / "empty.ipm"
    path.touch()
    with pytest.raises(CorruptHierarchyError):
        Hierarchy.open(path)


def test_closed_hierarchy_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.ipm"
    path.write_bytes(file_bytes(TEXT))
    with Hierarchy.open(path) as hierarchy:
        assert hierarchy.lookup("10.1.2.3").netname == "ONE"
        kept = hierarchy.bounds_array(4)
    for ask in (methodcaller("lookup", "10.1.2.3"), attrgetter("row_of"), attrgetter("meta"), len):
        with pytest.raises(HierarchyError, match="closed; open it again"):
            ask(hierarchy)
    hierarchy.close()
    assert kept[0].tolist() == [0, 2**32 - 1]


def test_threads_may_share_one(tmp_path: Path) -> None:
    path = tmp_path / "a.ipm"
    path.write_bytes(file_bytes(TEXT))
    hierarchy = Hierarchy.open(path)
    asked = np.random.default_rng(3).integers(2**32, size=40_000).astype(np.uint32)
    answers: list[tuple[list[int], str | None]] = []

    def ask() -> None:
        rows = hierarchy.lookup_many(asked).tolist()
        answers.append((rows, hierarchy.lookup("10.1.2.3").netname))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 6
    assert all(answer == answers[0] for answer in answers)
    assert answers[0][0][:50] == [hierarchy.lookup(int(each)).row for each in asked[:50]]


def test_rows_that_do_not_exist_are_refused_in_arrays_too() -> None:
    for rows in (np.array([-1]), np.array([0, len(HIERARCHY)])):
        with pytest.raises(InputError):
            HIERARCHY.parent_many(rows)
        with pytest.raises(InputError):
            HIERARCHY.organisation_many(rows)


def test_limit_below_zero_is_refused() -> None:
    with pytest.raises(InputError):
        HIERARCHY.search("one", -1)
