"""Reports from results of `ipmicra delegate` and a file of crawlers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ipmicra.app.report.data import ReportCrawler, ReportData, ReportSite
from ipmicra.app.report.loaders.problems import Problems
from ipmicra.app.report.loaders.sites import Fleet, crawler_of, site_of
from ipmicra.edge.files.crawlers import read_crawlers
from ipmicra.edge.files.fields import Fields
from ipmicra.edge.files.tables import read_records
from ipmicra.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFiles:
    """Files with a record a site: `host, address, subnet, crawler, rtt_ms, evidence, probes`, or more."""

    results: tuple[Path, ...]
    crawlers: Path | None = None
    """`name,address[,latitude,longitude,country,…]`; without it crawlers have names only."""
    known: tuple[ReportCrawler, ...] = ()
    """Crawlers that were read already, instead of a file of them."""
    problems: Problems

    def load(self) -> ReportData:
        """Read everything."""
        known = list(self.known)
        if self.crawlers:
            known = [crawler_of(row) for row in read_crawlers(self.crawlers, self.problems.add)]
        fleet = Fleet(known, self.problems, is_closed=bool(known))
        sites = [site for path in self.results for site in _sites(path, fleet, self.problems)]
        if not sites:
            names = ", ".join(str(path) for path in self.results)
            reasons = "".join(f" ({note})" for note in self.problems.notes)
            raise InputError(f"no sites in {names}: expected records with host, address, crawler, …{reasons}")
        return ReportData(crawlers=tuple(fleet.crawlers), sites=tuple(sites), notes=self.problems.notes)


def _sites(path: Path, fleet: Fleet, problems: Problems) -> list[ReportSite]:
    sites = []
    for where, record in read_records(path, (), problems.add):
        fields = Fields(record, where, problems.add)
        site = site_of(fields, fleet.number(fields.text("crawler")))
        if site is None:
            problems.add(f"{where}: a site with neither host nor address")
        else:
            sites.append(site)
    return sites
