"""Announced networks: which prefix covers an address, and which autonomous system announces it."""

from __future__ import annotations

import re
from pathlib import Path

from ipmicra.edge.files.fields import Fields
from ipmicra.edge.files.lines import Note
from ipmicra.edge.files.prefixes import PrefixSet
from ipmicra.edge.files.tables import read_records
from ipmicra.errors import AddressError, InputError
from ipmicra.model.address import Address

_AS = re.compile(r"(?:AS)?(\d{1,10})", re.IGNORECASE)
_LARGEST = 2**32 - 1


class Networks:
    """Prefixes with the autonomous systems that announce them."""

    def __init__(self) -> None:
        """Start without any."""
        self._prefixes = PrefixSet()
        self._systems: dict[str, int] = {}

    def add(self, prefix: str, system: int) -> None:
        """Add a prefix; of several systems for one prefix the first counts."""
        if prefix not in self._systems:
            self._prefixes.add(prefix)
            self._systems[prefix] = system

    def __len__(self) -> int:
        """Count the prefixes."""
        return len(self._systems)

    def covering(self, address: Address) -> tuple[str, int] | None:
        """Return the narrowest prefix that covers an address, and its system; None if none does."""
        prefix = self._prefixes.find(address)
        return None if prefix is None else (prefix, self._systems[prefix])


def read_system(text: str) -> int:
    """Read the number of an autonomous system: 64500 or AS64500."""
    match = _AS.fullmatch(text.strip())
    if match is None or int(match[1]) > _LARGEST:
        raise InputError(f"{text!r} is no number of an autonomous system")
    return int(match[1])


def read_networks(path: Path, note: Note) -> Networks:
    """Read `prefix,as`, with or without a header; bad rows become findings.

    Raises:
        InputError: It cannot be read, or has no network at all.
    """
    networks = Networks()
    for where, record in read_records(path, ("prefix", "as"), note, order=("prefix", "as")):
        fields = Fields(record, where, note)
        prefix, system = fields.text("prefix"), fields.attempt(read_system, "as")
        if prefix is None or system is None:
            continue
        try:
            networks.add(prefix, system)
        except AddressError as error:
            fields.note(str(error))
    if not len(networks):
        raise InputError(f"{path}: there is no network in it; a line is PREFIX,AS as in 192.0.2.0/24,64500")
    return networks
