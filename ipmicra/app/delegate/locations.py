"""Where sites are: by the heuristics of `locate`, with the DNS or without, by a file, or unknown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from ipmicra.app.delegate.options import DNS, LOCATE, NOWHERE, DelegateOptions
from ipmicra.app.delegate.place_queue import HintSource
from ipmicra.app.locate.sites import LocatedSites
from ipmicra.delegate.ports import LocationSource
from ipmicra.delegate.replay.world import WorldLocations
from ipmicra.edge.dns.location import LocationDns
from ipmicra.edge.files.locations import read_places
from ipmicra.edge.files.prefixes import PrefixSet, read_prefixes
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.errors import InputError
from ipmicra.model.address import Address, read_address
from ipmicra.model.location import Heuristic, Hint, Location
from ipmicra.model.site import Site

FINDINGS_KEPT = 20


class SitePlaces(LocationSource, HintSource, Protocol):
    """Places of sites: at once for all of them, with evidence for those that cannot be probed."""


class ListedSites(WorldLocations):
    """Places by a file of the user."""

    def __init__(self, places: dict[Address, Location], name: str) -> None:
        """Take places by address, and what the file is called."""
        super().__init__(places)
        self._name = name

    async def hints_of(self, sites: Sequence[Site]) -> list[Hint | str]:
        """Return what the file says."""
        return [self._hint(self.location_of(site, 0)) for site in sites]

    def _hint(self, place: Location | None) -> Hint | str:
        if place is None:
            return f"{self._name} does not list its address"
        return Hint(heuristic=Heuristic.KNOWN, location=place, evidence=self._name)


def make_locations(options: DelegateOptions, hierarchy: Hierarchy, notes: list[str]) -> SitePlaces | None:
    """Return what `--location` names."""
    word = options.location
    # Who asks nobody needs no places; they are noted if they cost nothing.
    if word == NOWHERE or (word in {LOCATE, DNS} and not options.needs_agents):
        return None
    if word in {LOCATE, DNS}:
        dns = LocationDns(servers=options.dns.servers) if word == DNS else None
        located = LocatedSites(hierarchy, tables=options.tables, geofeeds=options.geofeeds, dns=dns)
        _note(located.findings, notes)
        return located
    path = Path(word)
    if not path.exists() or path.is_dir():
        raise InputError(f"--location {word}: neither {LOCATE}, {DNS} nor {NOWHERE}, nor a file")
    findings: list[str] = []
    places = read_places(path, findings)
    _note(findings, notes)
    return ListedSites(places, path.name)


def _note(findings: list[str], notes: list[str]) -> None:
    notes += findings[:FINDINGS_KEPT]
    if len(findings) > FINDINGS_KEPT:
        notes.append(f"… and {len(findings) - FINDINGS_KEPT} more lines without a place")


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
