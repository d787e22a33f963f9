"""Sectors of the tree: what one coordinator decides for, where several work on one database.

Theory of operation
-------------------
Two coordinators must never decide for the same subnet. Whatever a decision can be for — a subnet, a slice of
it, a single address — lies within one subtree directly below the root. So subtrees are dealt out: the first
address of a subtree, hashed, names its sector, and whoever holds the lease on a sector decides for all its
subtrees.

There may be half a million subtrees (statistics files nest nothing), too many for a lease each; a few dozen
sectors are renewed in one statement, and are enough to be dealt out evenly. Addresses that nobody registered
go by their block of 2^24 addresses (2^112 for IPv6), wider than any slice.

All coordinators of a database must use the same edition: another one may have other subtrees.
"""

from __future__ import annotations

from zlib import crc32

from ipmicra.delegate.subnets import SubnetTree
from ipmicra.model.address import Address

SECTORS = 64
"""With sixty-four, three coordinators hold 22, 21 and 21."""
_BLOCK_BITS = {4: 24, 6: 112}
"""Bits below the block that stands for a subtree where an address is not registered."""


def sector_of(tree: SubnetTree, address: Address) -> int:
    """Return the number of the sector that an address belongs to."""
    row = tree.row_of(str(address))
    above = tree.parent(row)
    if above is None:
        block = int(address) >> _BLOCK_BITS[address.version]
        return crc32(f"{address.version} {block}".encode()) % SECTORS
    while (higher := tree.parent(above)) is not None:
        row, above = above, higher
    return crc32(tree.bounds(row)[0].packed) % SECTORS
