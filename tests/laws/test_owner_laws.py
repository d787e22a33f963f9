"""Laws of owners of many addresses: flattened ranges answer as a scan of all of them does."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.edge.columnar.owners import NOBODY, OwnedRanges, Range

MAPPED = 0xFFFF << 32
BASES = (MAPPED, 0x20010DB8 << 96, (1 << 128) - 64)
"""Where IPv4 is, some IPv6, and the end of all addresses."""


@st.composite
def nested(draw: st.DrawFn) -> list[Range]:
    """Return ranges of 1 to 64 addresses that are aligned, so that they are nested or apart."""
    found: dict[tuple[int, int], int] = {}
    for number in range(draw(st.integers(0, 8))):
        bits = draw(st.integers(0, 6))
        first = draw(st.sampled_from(BASES)) + (draw(st.integers(0, 63)) >> bits << bits)
        found[first, first + (1 << bits) - 1] = number
    return [(first, last, number) for (first, last), number in found.items()]


def narrowest(ranges: list[Range], address: int) -> int:
    """Slow and obviously right: try every range."""
    holding = [one for one in ranges if one[0] <= address <= one[1]]
    return min(holding, key=lambda one: one[1] - one[0])[2] if holding else NOBODY


@given(nested(), st.lists(st.tuples(st.sampled_from(BASES), st.integers(-3, 66)), max_size=20))
def test_owner_is_that_of_the_narrowest_range(ranges: list[Range], asked: list[tuple[int, int]]) -> None:
    addresses = [min(max(base + plus, 0), (1 << 128) - 1) for base, plus in asked]
    words = np.array([divmod(one, 1 << 64) for one in addresses], np.uint64).reshape(-1, 2)
    expected = [narrowest(ranges, one) for one in addresses]
    assert OwnedRanges.of_ranges(ranges).of(words).tolist() == expected
