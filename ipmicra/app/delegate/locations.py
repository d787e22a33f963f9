"""Where sites are: by the heuristics of `locate`, by a file, or unknown."""

from __future__ import annotations

from pathlib import Path

from ipmicra.app.delegate.options import LOCATE, NOWHERE
from ipmicra.app.locate import LocatedSites
from ipmicra.delegate.ports import LocationSource
from ipmicra.delegate.replay.world import WorldLocations
from ipmicra.edge.files.locations import read_places
from ipmicra.edge.files.prefixes import PrefixSet, read_prefixes
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.errors import InputError
from ipmicra.model.address import read_address

FINDINGS_KEPT = 20


def make_locations(word: str, hierarchy: Hierarchy, notes: list[str]) -> LocationSource | None:
    """Return what `--location` names."""
    if word == NOWHERE:
        return None
    if word == LOCATE:
        return LocatedSites(hierarchy)
    path = Path(word)
    if not path.exists() or path.is_dir():
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
        """Return whether one of them holds an address."""
        return read_address(address) in self._prefixes


def read_anycast(path: Path, notes: list[str]) -> AnycastPrefixes:
    """Read a list of prefixes, one per line; lines that are none become notes."""
    return AnycastPrefixes(read_prefixes(path, notes.append))
