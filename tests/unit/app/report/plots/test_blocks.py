"""Blocks of IPv4 in use: they hold every address once, and are not mostly empty."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.app.report.plots.blocks import BITS, FILLED, NARROWEST, Block, blocks_in_use

ADDRESSES = st.lists(
    st.one_of(st.integers(0, 2**32 - 1), st.integers(0x0A000000, 0x0A00FFFF)), min_size=1, max_size=60
)


def span(block: Block) -> range:
    return range(block.first, block.first + 2 ** (BITS - block.length))


@given(ADDRESSES, st.integers(4, 20))
def test_every_address_is_in_exactly_one_block_and_blocks_rise(addresses: list[int], most: int) -> None:
    blocks = blocks_in_use(np.array(addresses, np.int64), most)
    assert 1 <= len(blocks) <= most
    for address in addresses:
        assert sum(address in span(block) for block in blocks) == 1
    assert all(span(a).stop <= span(b).start for a, b in itertools.pairwise(blocks))


@given(ADDRESSES, st.integers(4, 20))
def test_block_is_a_square_of_which_a_quarter_is_filled(addresses: list[int], most: int) -> None:
    for block in blocks_in_use(np.array(addresses, np.int64), most):
        assert block.length % 2 == 0
        assert block.first % 2 ** (BITS - block.length) == 0
        assert block.length <= NARROWEST
        inside = {address >> BITS - block.bits for address in addresses if address in span(block)}
        assert len(inside) * FILLED >= 4**block.order


def test_widest_block_is_split_first() -> None:
    near = [0x0A000001, 0x0A000101]
    far = [0x50000001, 0xA0000001, 0xF0000001]
    blocks = blocks_in_use(np.array(near + far, np.int64), 4)
    assert [block.length for block in blocks] == [22, 24, 24, 24]


def test_without_addresses_there_are_no_blocks() -> None:
    assert blocks_in_use(np.array([], np.int64), 36) == []
