"""Sets of URLs that were seen, small in memory.

Two kinds, because they err differently. `Fingerprints` keeps 64 bits of each URL: two of n URLs are confused
with a probability of n² ÷ 2^65, three in a million for ten million URLs. `BloomVisited` keeps a few bits of
each, and takes a new URL for a seen one with the probability it was made for. In both cases such a URL is
never crawled; none is ever crawled twice.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b
from typing import Protocol

from ipmicra.errors import MissingExtraError

_WORD = 8
_MASK = (1 << 8 * _WORD) - 1
_FULL = 0.6
"""Share of slots in use above which the table is doubled."""
_FIRST_SLOTS = 1024


class VisitedSet(Protocol):
    """What the exchange needs of a set."""

    def add(self, url: str) -> bool:
        """Add a URL; return whether it is new."""

    def __contains__(self, url: str) -> bool:
        """Return whether a URL was added."""

    def add_key(self, key: int) -> bool:
        """Add a URL by 64 bits that stand for it; return whether it is new."""

    def has_key(self, key: int) -> bool:
        """Return whether a URL was added by these 64 bits."""

    def __len__(self) -> int:
        """Count the URLs that were new."""


def fingerprint(url: str) -> int:
    """Return 64 bits of a URL, the same on every machine; never 0, which marks an empty slot."""
    return int.from_bytes(blake2b(url.encode(errors="surrogatepass"), digest_size=_WORD).digest()) or 1


class Fingerprints:
    """A table of 64-bit numbers with open addressing: 13 to 27 bytes per URL."""

    def __init__(self) -> None:
        """Start empty."""
        self._slots = array("Q", bytes(_WORD * _FIRST_SLOTS))
        self._count = 0

    def add(self, url: str) -> bool:
        """Add a URL; return whether it is new."""
        return self._add(fingerprint(url))

    def add_key(self, key: int) -> bool:
        """Add a URL by 64 bits that stand for it; return whether it is new."""
        return self._add(key & _MASK or 1)

    def has_key(self, key: int) -> bool:
        """Return whether a URL was added by these 64 bits."""
        return bool(self._slots[self._slot_of(key & _MASK or 1)])

    def _add(self, number: int) -> bool:
        slot = self._slot_of(number)
        if self._slots[slot]:
            return False
        self._slots[slot] = number
        self._count += 1
        if self._count > _FULL * len(self._slots):
            self._grow()
        return True

    def __contains__(self, url: str) -> bool:
        """Return whether a URL was added."""
        return bool(self._slots[self._slot_of(fingerprint(url))])

    def __len__(self) -> int:
        """Count the URLs that were new."""
        return self._count

    @property
    def memory_bytes(self) -> int:
        """Size of the table."""
        return self._slots.itemsize * len(self._slots)

    def _slot_of(self, number: int) -> int:
        """Find the slot that holds a number, or the empty one where it belongs."""
        slots = self._slots
        last = len(slots) - 1
        slot = number & last
        while slots[slot] and slots[slot] != number:
            slot = slot + 1 & last
        return slot

    def _grow(self) -> None:
        old = self._slots
        self._slots = array("Q", bytes(_WORD * 2 * len(old)))
        for number in old:
            if number:
                self._slots[self._slot_of(number)] = number


class BloomVisited:
    """A Bloom filter (rbloom): about 2.4 bytes per URL for one error in ten thousand, and a fixed size."""

    def __init__(self, expected: int, error: float = 1e-4) -> None:
        """Make room for a number of URLs; beyond that errors become more frequent."""
        try:
            from rbloom import Bloom
        except ImportError as missing:
            raise MissingExtraError("a Bloom filter", "rbloom") from missing
        self._bloom = Bloom(expected, error, hash_func=_signed)
        self._count = 0

    def add(self, url: str) -> bool:
        """Add a URL; return whether it is new. A share of new ones, as configured, is taken for known."""
        if url in self._bloom:
            return False
        self._bloom.add(url)
        self._count += 1
        return True

    def __contains__(self, url: str) -> bool:
        """Return whether a URL was added. A share of other ones, as configured, is taken for added."""
        return url in self._bloom

    def add_key(self, key: int) -> bool:
        """Add a URL by 64 bits that stand for it, as `add` does."""
        return self.add(str(key))

    def has_key(self, key: int) -> bool:
        """Return whether a URL was added by these 64 bits, as `in` does."""
        return str(key) in self._bloom

    def __len__(self) -> int:
        """Count the URLs that were new."""
        return self._count

    @property
    def memory_bytes(self) -> int:
        """Size of the filter."""
        return int(self._bloom.size_in_bits) // 8


def _signed(url: object) -> int:
    """Return 128 bits as rbloom wants them; Python's own hash differs from run to run."""
    digest = blake2b(str(url).encode(errors="surrogatepass"), digest_size=2 * _WORD).digest()
    return int.from_bytes(digest, signed=True)
