"""Lists of those who do not want to be probed."""

from __future__ import annotations

import os
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.edge.agent.opt_out import OptOutList
from ipmicra.edge.files.prefixes import PrefixSet, read_prefix
from ipmicra.errors import AddressError, InputError


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 10
        return self.now


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    os.utime(path, ns=(0, hash(text) & 0xFFFFFFFF))
    return path


def test_list_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path = written(tmp_path / "list", "192.0.2.0/24\n# a comment\n\n2001:db8::/32 # another\n")
    listed = OptOutList(path, Clock())
    assert listed.find(ip_address("192.0.2.7")) == "192.0.2.0/24"
    assert listed.find(ip_address("2001:db8::7")) is not None
    written(path, "198.51.100.7\n")
    assert listed.find(ip_address("192.0.2.7")) is None
    assert listed.find(ip_address("198.51.100.7")) == "198.51.100.7"
    assert len(listed) == 1


def test_bad_line_is_an_error_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2"):
        OptOutList(written(tmp_path / "list", "192.0.2.0/24\n192.0.2.0/33\n"))


def test_list_that_breaks_or_vanishes_takes_no_wish_away(tmp_path: Path) -> None:
    path = written(tmp_path / "list", "192.0.2.0/24\n")
    listed = OptOutList(path, Clock())
    written(path, "198.51.100.0/24\nnonsense\n")
    assert listed.find(ip_address("192.0.2.7")) is not None
    assert listed.find(ip_address("198.51.100.7")) is not None
    path.unlink()
    assert listed.find(ip_address("192.0.2.7")) is not None


@pytest.mark.parametrize("text", ["192.0.2.0/33", "2001:db8::/129", "nonsense", "", "192.0.2.0/-1"])
def test_what_is_no_prefix_does_not_get_in(text: str) -> None:
    with pytest.raises(AddressError):
        PrefixSet([text])


def test_mapped_prefix_counts_for_ipv4() -> None:
    assert str(read_prefix("::ffff:10.0.0.0/104")) == "10.0.0.0/8"
    assert ip_address("10.1.2.3") in PrefixSet(["::ffff:10.0.0.0/104"])


prefixes = st.tuples(st.ip_addresses(), st.integers(0, 128)).map(
    lambda pair: f"{pair[0]}/{pair[1] % (pair[0].max_prefixlen + 1)}"
)


@given(st.lists(prefixes, max_size=12), st.ip_addresses())
def test_membership_equals_trying_every_prefix(texts: list[str], address: IPv4Address | IPv6Address) -> None:
    networks = [read_prefix(text) for text in texts]
    expected = any(net.version == address.version and address in net for net in networks)
    assert (address in PrefixSet(texts)) == expected
