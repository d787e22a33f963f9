"""Places of sites for the delegator: host names, registrations and tables at once, the DNS on request.

How it works
------------
The delegator asks for the place of every site that arrives (`location_of`), so that answer waits for nobody:
it comes from the host name, the registration, shipped tables, and the tables and geofeeds of the user.

A site that cannot be probed is worth more effort, since its place decides alone. Its votes are gathered
again (`hints_of`), many sites at a time and, if the user wants that, with what the DNS knows: LOC records,
and places in the names of the reverse zone. The vote that counts is returned with its evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ipmicra.app.locate.locate import LocateOptions, LocateRun, site_name
from ipmicra.edge.dns.location import DnsClues, LocationDns
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.errors import InputError
from ipmicra.locate.locator import Located
from ipmicra.model.location import Hint, Location
from ipmicra.model.site import Site

NO_VOTE = "no heuristic has a vote"
RECENT = 16_384
"""Answers that are kept."""


class LocatedSites:
    """Places by the heuristics of `locate`; a `LocationSource`."""

    def __init__(
        self,
        hierarchy: Hierarchy | None,
        *,
        tables: Sequence[Path] = (),
        geofeeds: Sequence[Path] = (),
        dns: LocationDns | None = None,
    ) -> None:
        """Load the tables; without a hierarchy, host names and tables are the only clues.

        With `dns`, sites that cannot be probed are looked up there too.
        """
        options = LocateOptions(is_offline=True, tables=tuple(tables), geofeeds=tuple(geofeeds))
        self._run = LocateRun(options, hierarchy)
        self._dns = dns
        self._recent: dict[int | Site, Location | None] = {}
        """Answers of late: a site is asked for when it arrives and when it is assigned, and so are others."""

    @property
    def findings(self) -> list[str]:
        """Rows of tables that could not be used, and why."""
        return self._run.findings

    def location_of(self, site: Site, key: int) -> Location | None:  # noqa: ARG002 - the interface
        """Return a site's place, without asking anybody."""
        asked = self._asked(site)
        if asked not in self._recent:
            located = self._run.locate_site(site.host, site.address)
            place = located.location
            if len(self._recent) >= RECENT:
                self._recent.clear()
            self._recent[asked] = None if place is None else replace(place, source=located.heuristic)
        return self._recent[asked]

    def _asked(self, site: Site) -> int | Site:
        """Return what a place depends on: the subnet's row of an address of which nothing else is known."""
        hierarchy = self._run.deciding_hierarchy
        is_named = hierarchy is None or site.host != str(site.address)
        return site if is_named or hierarchy is None else hierarchy.row_of(str(site.address))

    async def hints_of(self, sites: Sequence[Site]) -> list[Hint | str]:
        """Return the vote that counts for each site, or why there is none."""
        return [
            _best(self._run.locate_site(site.host, site.address, one))
            for site, one in zip(sites, await self._clues_of(sites), strict=True)
        ]

    async def _clues_of(self, sites: Sequence[Site]) -> list[DnsClues]:
        """Ask the DNS, if it is wanted; where it cannot be asked, the other heuristics go on without it."""
        if self._dns is None:
            return [DnsClues()] * len(sites)
        try:
            return await self._dns.clues_of(
                [(site_name(site.host, site.address), site.address) for site in sites]
            )
        except (InputError, OSError) as error:
            return [DnsClues(findings=[f"the DNS cannot be asked: {error}"])] * len(sites)


def _best(located: Located) -> Hint | str:
    for vote in located.votes:
        if vote.heuristic is located.heuristic:
            return vote
    return "; ".join((NO_VOTE, *located.findings))
