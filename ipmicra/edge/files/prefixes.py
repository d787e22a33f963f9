"""Sets of prefixes, and lists of them: one tree per family, everything checked before it goes in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

import pytricia

from ipmicra.edge.files.lines import Note, name_of, read_list
from ipmicra.errors import AddressError
from ipmicra.model.address import Address

_BITS = {4: 32, 6: 128}


class PrefixSet:
    """Prefixes of both families."""

    def __init__(self, prefixes: Iterable[str] = ()) -> None:
        """Take prefixes and single addresses; host bits are cleared."""
        self._trees = {version: pytricia.PyTricia(bits) for version, bits in _BITS.items()}
        self._texts: dict[str, None] = {}
        for prefix in prefixes:
            self.add(prefix)

    def add(self, prefix: str) -> None:
        """Add a prefix or address; raise `AddressError` if it is none."""
        network = read_prefix(prefix)
        self._trees[network.version].insert(str(network), prefix)
        self._texts[prefix] = None

    def find(self, address: Address) -> str | None:
        """Return the narrowest prefix that holds an address, as it was written; None if there is none."""
        found: str | None = self._trees[address.version].get(address)
        return found

    def __contains__(self, address: Address) -> bool:
        """Return whether a prefix holds an address."""
        return self.find(address) is not None

    def __iter__(self) -> Iterator[str]:
        """Return the prefixes as they were written."""
        return iter(self._texts)

    def __len__(self) -> int:
        """Count the prefixes."""
        return len(self._texts)


def read_prefixes(path: Path, note: Note) -> PrefixSet:
    """Read a list of prefixes, the first cell of each line; lines that are none become findings.

    Raises:
        InputError: It cannot be read.
    """
    prefixes = PrefixSet()
    for number, text in read_list(path, note):
        try:
            prefixes.add(text.partition(",")[0].strip())
        except AddressError as error:
            note(f"{name_of(path)}, line {number}: {error}")
    return prefixes


def read_prefix(text: str) -> IPv4Network | IPv6Network:
    """Read a prefix or a single address; IPv4-mapped ones are read as IPv4."""
    try:
        network = ip_network(text.strip(), strict=False)
    except ValueError as error:
        raise AddressError(text, "is no prefix") from error
    if isinstance(network, IPv6Network):
        mapped = network.network_address.ipv4_mapped
        if mapped is not None and network.prefixlen >= 96:  # noqa: PLR2004 - bits before a mapped address
            return IPv4Network((mapped, network.prefixlen - 96))
    return network
