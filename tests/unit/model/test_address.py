"""Addresses as text."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.errors import AddressError
from ipmicra.model.address import read_address


@given(st.one_of(st.ip_addresses().map(str), st.text("0123456789.: af\0٣", max_size=20)))
def test_an_address_is_read_where_the_standard_library_reads_one(text: str) -> None:
    try:
        expected = ip_address(text.strip())
    except ValueError:
        with pytest.raises(AddressError):
            read_address(text)
    else:
        mapped = expected.ipv4_mapped if isinstance(expected, IPv6Address) else None
        assert read_address(text) == (mapped or expected)


@pytest.mark.parametrize("text", ["1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.256", "0x7f.1", "", "1.2.3.4\n5"])
def test_loose_spellings_of_ipv4_are_no_addresses(text: str) -> None:
    with pytest.raises(AddressError):
        read_address(text)


def test_an_ipv4_mapped_address_is_read_as_ipv4() -> None:
    assert read_address("::ffff:192.0.2.7") == IPv4Address("192.0.2.7")
