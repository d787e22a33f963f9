"""Rules of a home: read, checked against the hierarchy, and asked about sites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ipmicra.assign.rules.rules import Choice, Rules, SiteFacts, choices_of
from ipmicra.edge.files.lines import read_text
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.errors import InputError
from ipmicra.model.crawler import Crawler
from ipmicra.model.site import Site


def load_rules(path: Path) -> Rules:
    """Read and check a file of rules.

    Raises:
        InputError: It cannot be read, a line makes no sense, or two contradict each other.
    """
    return Rules.read(read_text(path), str(path))


class SiteRules:
    """Rules, with the hierarchy that tells countries and organisations of sites."""

    def __init__(self, rules: Rules, hierarchy: Hierarchy | None) -> None:
        """Refuse rules that nothing could ever match for want of a hierarchy.

        Raises:
            InputError: A rule names a country or an organisation, and there is no hierarchy.
        """
        self.rules, self._hierarchy = rules, hierarchy
        needy = [rule for rule in rules.rules if rule.when.countries or rule.when.organisations]
        if needy and hierarchy is None:
            raise InputError(
                f"{rules.name}, {needy[0]}: needs a hierarchy to tell who holds a site: run `ipmicra build`, "
                "or name one with --hierarchy"
            )

    def facts(self, site: Site) -> SiteFacts:
        """Return what the rules ask about a site; a registration that says nothing has what is above it."""
        if self._hierarchy is None:
            return SiteFacts(host=site.host, address=site.address)
        lineage = self._hierarchy.lineage(site.address)
        country = next((one.country for one in reversed(lineage) if one.country), None)
        holder = next((one.organisation for one in reversed(lineage) if one.organisation is not None), None)
        names = () if holder is None else (holder.name, holder.handle)
        folded = frozenset(name.casefold() for name in names if name)
        return SiteFacts(host=site.host, address=site.address, country=country, organisation=folded)

    def choices(self, sites: Iterable[Site], crawlers: Sequence[Crawler]) -> dict[str, tuple[Choice, ...]]:
        """Return who may own each site, by host; a site that no rule matches is left out."""
        found = {}
        for site in sites:
            matching = self.rules.matching(self.facts(site))
            if matching:
                found[site.host] = choices_of(matching, crawlers)
        return found
