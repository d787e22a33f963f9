"""Where sites are: by the heuristics of `locate`, by a file, or unknown."""

from __future__ import annotations

from pathlib import Path

from ipmicra.app.delegate.options import LOCATE, NOWHERE
from ipmicra.app.locate import LocatedSites
from ipmicra.delegate.ports import LocationSource
from ipmicra.delegate.replay.world import WorldLocations
from ipmicra.edge.files.locations import open_text, read_places
from ipmicra.edge.files.prefix_set import PrefixSet
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.errors import AddressError, InputError
from ipmicra.model.address import read_address

FINDINGS_KEPT = 20


def make_locations(word: str, hierarchy: Hierarchy, notes: list[str]) -> LocationSource | None:
    """Give what `--location` names."""
    if word == NOWHERE:
        return None
    if word == LOCATE:
        return LocatedSites(hierarchy)
    path = Path(word)
    if not path.is_file():
        raise InputError(f"--location {word}: neither {LOCATE} nor {NOWHERE}, nor a file")
    findings: list[str] = []
    places = read_places(path, findings)
    notes += findings[:FINDINGS_KEPT]
    if len(findings) > FINDINGS_KEPT:
        notes.append(f"… and {len(findings) - FINDINGS_KEPT} more lines of {path} without a place")
    return WorldLocations(places)


class AnycastPrefixes:
    """A list of prefixes that are in many places, as the delegator asks for it."""

    def __init__(self, prefixes: PrefixSet) -> None:
        """Take the prefixes."""
        self._prefixes = prefixes

    def __contains__(self, address: str) -> bool:
        """Tell whether one of them holds an address."""
        return read_address(address) in self._prefixes


def read_anycast(path: Path, notes: list[str]) -> AnycastPrefixes:
    """Read a list of prefixes, one a line; lines that are none are told."""
    prefixes = PrefixSet()
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            text = line.split("#")[0].strip()
            if not text:
                continue
            try:
                prefixes.add(text.split(",")[0].strip())
            except AddressError as error:
                notes.append(f"{path}, line {number}: {error}")
    return AnycastPrefixes(prefixes)
