"""Reports from a world with known round trips, and an assignment of its sites."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from ipmicra.app.report.data import ORACLE, Flag, Milliseconds, ReportCrawler, ReportData, ReportSite
from ipmicra.app.report.loaders.problems import Problems
from ipmicra.app.report.loaders.results import ResultFiles
from ipmicra.app.report.loaders.sites import crawler_of, site_of
from ipmicra.edge.files.fields import Fields
from ipmicra.edge.files.worlds.load import read_world
from ipmicra.edge.files.worlds.records import WorldFiles, WorldRecords
from ipmicra.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldFolder:
    """A folder with crawlers.csv, sites.csv and rtt.csv, or a file of measurements."""

    world: Path
    assignment: Path | None = None
    """Results of `ipmicra delegate` on the world's sites; without it each site has its nearest crawler."""
    problems: Problems

    def load(self) -> ReportData:
        """Read everything; sites that the assignment does not name are left out, with a note."""
        records = read_world(WorldFiles(world=self.world))
        crawlers = [crawler_of(row) for row in records.crawlers]
        sites = self._sites(records)
        for finding in records.findings:
            self.problems.add(finding)
        true_ms, _ = records.matrix([one.name for one in crawlers], [site.address for site in sites])
        answers = np.isfinite(true_ms).sum(axis=0)
        sites = [
            replace(site, flag=site.flag or Flag.UNPROBEABLE) if not count else site
            for site, count in zip(sites, answers, strict=True)
        ]
        if self.assignment is None:
            return self._nearest(crawlers, sites, true_ms, records.notes)
        return self._assigned(crawlers, sites, true_ms, self.assignment)

    def _sites(self, records: WorldRecords) -> list[ReportSite]:
        sites = []
        for where, record in records.sites:
            site = site_of(Fields(record, where, self.problems.add), None)
            if site is None or site.address is None:
                self.problems.add(f"{where}: a site without an address")
            else:
                sites.append(site)
        if not sites:
            raise InputError(f"{self.world}: there are no sites in it")
        return sites

    def _nearest(
        self, crawlers: list[ReportCrawler], sites: list[ReportSite], true_ms: Milliseconds, notes: list[str]
    ) -> ReportData:
        best = np.where(np.isnan(true_ms), np.inf, true_ms)
        given = [
            replace(site, crawler=int(best[:, i].argmin()), rtt_ms=float(best[:, i].min()))
            if np.isfinite(best[:, i]).any()
            else site
            for i, site in enumerate(sites)
        ]
        note = "No assignment was given: each site has the nearest crawler by the world's round trips."
        return ReportData(
            crawlers=tuple(crawlers),
            sites=tuple(given),
            policy=ORACLE,
            true_rtt_ms=true_ms,
            notes=(note, *notes, *self.problems.notes),
        )

    def _assigned(
        self, crawlers: list[ReportCrawler], sites: list[ReportSite], true_ms: Milliseconds, assignment: Path
    ) -> ReportData:
        results = ResultFiles(results=(assignment,), known=tuple(crawlers), problems=Problems())
        found = results.load()
        self.problems.count += results.problems.count
        self.problems.shown += results.problems.shown
        by_host = {site.host: site for site in found.sites}
        by_address = {site.address: site for site in found.sites if site.address}
        kept, joined = [], []
        for i, site in enumerate(sites):
            result = by_host.get(site.host) or (by_address.get(site.address) if site.address else None)
            if result:
                kept.append(i)
                joined.append(merged(site, result))
        if not joined:
            raise InputError(f"{assignment} names no site of {self.world}; are they from the same world?")
        left_out = len(sites) - len(joined)
        notes = (
            (f"{left_out:,} sites of the world are not in the assignment and left out.",) if left_out else ()
        )
        extra = len(found.crawlers) - len(crawlers)
        true_ms = np.vstack([true_ms[:, kept], np.full((extra, len(kept)), np.nan)])
        return ReportData(
            crawlers=found.crawlers,
            sites=tuple(joined),
            true_rtt_ms=true_ms,
            notes=(*notes, *self.problems.notes),
        )


def merged(site: ReportSite, result: ReportSite) -> ReportSite:
    """Join what the world and what the result say of a site; the result counts where both do."""
    known = {
        one.name: value
        for one in fields(result)
        if one.name not in {"host", "address", "is_expected"}
        and (value := getattr(result, one.name)) is not None
    }
    return replace(site, is_expected=result.is_expected, **known)
