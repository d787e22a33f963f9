"""Texts of many rows at once are those of single subnets."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from ipmicra.errors import CorruptHierarchyError
from ipmicra.hierarchy import row_texts
from ipmicra.hierarchy.row_texts import Texts
from ipmicra.model.address import range_text
from ipmicra.native import kernels
from tests.examples import at_most
from tests.reference.fast_building import built, dump_of
from tests.reference.slow_parser import SlowRegistration
from tests.strategies import many_registrations

ODD = """
inetnum: 10.0.0.0 - 10.0.0.9
netname: Κάτι

inetnum: 11.0.0.0/8
netname: {long}

inet6num: ::ffff:0:0/96

inet6num: 2001:db8::/32
"""
"""A name that is not ASCII, a long one, and addresses that versions of Python print differently."""


def listed(texts: Texts) -> list[str]:
    edges, data = texts
    return [bytes(data[a:b]).decode() for a, b in pairwise(edges)]


@at_most(30)
@given(registrations=many_registrations())
def test_labels_and_names_are_those_of_single_subnets(registrations: list[SlowRegistration]) -> None:
    hierarchy = built(dump_of(registrations))
    rows = np.arange(len(hierarchy), dtype=np.uint32)[::-1].copy()
    texts = hierarchy.row_texts
    assert listed(texts.labels(rows)) == [range_text(*hierarchy.bounds(row)) for row in rows.tolist()]
    names = [hierarchy.subnet(row).netname or "" for row in rows.tolist()]
    assert listed(texts.names(texts.numbers("netname", rows))) == names


def test_odd_texts_are_written_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_texts, "LABEL_BYTES", 0)
    monkeypatch.setattr(row_texts, "NAME_BYTES", 0)
    hierarchy = built(ODD.format(long="L" * 900))
    rows = np.tile(np.arange(len(hierarchy), dtype=np.uint32), 40)
    texts = hierarchy.row_texts
    labels = listed(texts.labels(rows))
    assert labels == [range_text(*hierarchy.bounds(row)) for row in rows.tolist()]
    assert {"10.0.0.0 - 10.0.0.9", "2001:db8::/32"} <= set(labels)
    assert {"Κάτι", "L" * 900, ""} == set(listed(texts.names(texts.numbers("netname", rows))))


def test_names_outside_of_the_file_are_an_error() -> None:
    texts = built("inetnum: 10.0.0.0/8\nnetname: A\n").row_texts
    with pytest.raises(CorruptHierarchyError):
        texts.names(np.array([0, 1 << 30], np.uint32))


def test_short_arrays_find_the_same_before_and_after_tables_are_made() -> None:
    hierarchy = built("inetnum: 10.0.0.0/8\n\ninetnum: 10.1.2.0/25\n\ninet6num: 2001:db8::/32\n")
    mapped = [(0, 0xFFFF << 32 | address) for address in (0x0A000001, 0x0A010203, 0x0B000000)]
    short = np.array([*mapped, (0x20010DB8 << 32, 1), (0, 1)] * 2000, np.uint64)
    first = hierarchy.lookup_many(short).tolist()
    assert len(short) < kernels.WORTH_TABLE
    for _ in range((1 << 20) // len(short)):
        hierarchy.lookup_many(short)
    assert hierarchy.lookup_many(short).tolist() == first
