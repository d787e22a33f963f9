"""Hashes of host names: one by one, many at once, the same everywhere."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.errors import InputError
from ipmicra.partition.hashing import hash_many, hash_one
from ipmicra.partition.names import PackedNames

names = st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=40))


@given(names)
def test_many_at_once_give_the_values_of_one_by_one(hosts: list[str]) -> None:
    assert hash_many(PackedNames.pack(hosts)).tolist() == [hash_one(host) for host in hosts]


@given(names)
def test_packed_names_unpack_to_lower_case(hosts: list[str]) -> None:
    assert PackedNames.pack(hosts).texts() == [host.lower() for host in hosts]


@given(names)
def test_first_label_ends_before_the_first_dot(hosts: list[str]) -> None:
    labels = PackedNames.pack(hosts).first_labels().texts()
    assert labels == [host.lower().split(".")[0] for host in hosts]


def test_values_never_change() -> None:
    """Stored assignments of crawlers depend on them."""
    assert hash_one("") == 0
    assert hash_one("www.example.org") == 0x5E4DB10FF5A02EC6
    assert hash_one("WWW.Example.ORG") == hash_one("www.example.org")


def test_another_process_hashes_alike() -> None:
    code = "from ipmicra.partition.hashing import hash_one; print(hash_one('www.example.org'))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert int(told.stdout) == hash_one("www.example.org")


def test_names_that_differ_in_padding_only_hash_apart() -> None:
    assert len({hash_one("a" + "\0" * count) for count in range(20)}) == 20


def test_similar_names_spread_evenly() -> None:
    hashes = hash_many(PackedNames.pack([f"www{number}.example" for number in range(20_000)]))
    counts = np.bincount((hashes % np.uint64(20)).astype(int), minlength=20)
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(1000)


def test_line_break_in_a_name_is_refused() -> None:
    with pytest.raises(InputError, match="line break"):
        PackedNames.pack(["a.example", "b\n.example"])
