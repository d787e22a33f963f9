"""Rules of a home: read, checked against the hierarchy, and asked about sites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ipmicra.app.home import Home
from ipmicra.assign.rules.grammar import Rule
from ipmicra.assign.rules.rules import Choice, Rules, SiteFacts, choices_of
from ipmicra.edge.dns.bulk import find_sites
from ipmicra.edge.dns.client import DnsConfig
from ipmicra.edge.files.lines import read_text
from ipmicra.edge.files.seeds import UnresolvedSeed
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.errors import InputError
from ipmicra.model.crawler import Crawler, CrawlerState
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

    def describe(self, site: Site, crawlers: Sequence[Crawler]) -> list[dict[str, Any]]:
        """Describe what rules mean for a site: a record per vantage, none if no rule matches."""
        return [
            {
                "host": site.host,
                "vantage": choice.vantage or None,
                "crawlers": [crawlers[one].name for one in choice.crawlers],
                "rules": [str(rule) for rule in choice.rules],
            }
            for choice in self.choices([site], crawlers).get(site.host, ())
        ]

    def choices(self, sites: Iterable[Site], crawlers: Sequence[Crawler]) -> dict[str, tuple[Choice, ...]]:
        """Return who may own each site, by host; a site that no rule matches is left out."""
        found = {}
        for site in sites:
            matching = self.rules.matching(self.facts(site))
            if matching:
                found[site.host] = choices_of(matching, crawlers)
        return found


@dataclass(slots=True)
class RuleReport:
    """Rules or sites as records, and what else a user should know."""

    records: list[dict[str, Any]]
    unmatched: list[str] = field(default_factory=list)
    """Hosts that no rule matches."""
    unresolved: list[UnresolvedSeed] = field(default_factory=list)


def describe_rules(home: Home, texts: Sequence[str]) -> RuleReport:
    """Describe the rules of a home and whom they leave; of some sites, if any are named.

    Raises:
        InputError: There are no rules, or they cannot be used.
    """
    rules = home.load_rules_if_any()
    if rules is None:
        raise InputError(f"there are no rules: write {home.rules}, or name a file with --rules")
    with home.open_store() as store, home.open_hierarchy_if_any() or nullcontext() as hierarchy:
        crawlers = [member.crawler for member in store.crawlers.all((CrawlerState.JOINED,))]
        if not texts:
            return RuleReport([_describe_rule(rule, crawlers) for rule in rules.rules])
        ruled = SiteRules(rules, hierarchy)
        sites, unresolved = find_sites(texts, store, DnsConfig(), is_pinning=False)
        report = RuleReport([], unresolved=unresolved)
        for site in sites:
            found = ruled.describe(site, crawlers)
            report.records += found
            report.unmatched += [] if found else [site.host]
    return report


def _describe_rule(rule: Rule, crawlers: Sequence[Crawler]) -> dict[str, Any]:
    leaves = []
    for choice in choices_of([rule], crawlers):
        names = ", ".join(crawlers[one].name for one in choice.crawlers) or "nobody"
        leaves.append(f"{choice.vantage}: {names}" if choice.vantage else names)
    return {"line": rule.line, "rule": rule.text, "leaves": leaves}
