"""Reports from a world with known round trips, and an assignment of its sites."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from ipmicra.app.report.data import ORACLE, Flag, Milliseconds, ReportCrawler, ReportData, ReportSite
from ipmicra.app.report.loaders.records import Problems, number_of, read_records, text_of
from ipmicra.app.report.loaders.results import ResultFiles
from ipmicra.app.report.loaders.sites import Fields, read_crawlers, site_of
from ipmicra.errors import InputError
from ipmicra.model.address import read_address

FILES = ("crawlers.csv", "sites.csv", "rtt.csv")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldFolder:
    """A folder with crawlers.csv, sites.csv and rtt.csv."""

    world: Path
    assignment: Path | None = None
    """Results of `ipmicra delegate` on the world's sites; without it each site has its nearest crawler."""
    problems: Problems

    def load(self) -> ReportData:
        """Read everything; sites that the assignment does not name are left out, and told."""
        missing = [name for name in FILES if not (self.world / name).is_file()]
        if missing:
            raise InputError(f"{self.world} is no world: there is no {', '.join(missing)} in it")
        crawlers = read_crawlers(self.world / FILES[0], self.problems)
        sites = self._sites()
        true_ms = self._round_trips(crawlers, sites)
        answers = np.isfinite(true_ms).sum(axis=0)
        sites = [
            replace(site, flag=site.flag or Flag.UNPROBEABLE) if not count else site
            for site, count in zip(sites, answers, strict=True)
        ]
        if self.assignment is None:
            return self._nearest(crawlers, sites, true_ms)
        return self._assigned(crawlers, sites, true_ms, self.assignment)

    def _sites(self) -> list[ReportSite]:
        sites = []
        for where, record in read_records(self.world / FILES[1], self.problems):
            site = site_of(Fields(record, where, self.problems), None)
            if site is None or site.address is None:
                self.problems.add(f"{where}: a site without an address")
            else:
                sites.append(site)
        if not sites:
            raise InputError(f"{self.world / FILES[1]}: there are no sites in it")
        return sites

    def _round_trips(self, crawlers: list[ReportCrawler], sites: list[ReportSite]) -> Milliseconds:
        """Read the matrix; a pair that is missing stays not-a-number."""
        numbers = {crawler.name: i for i, crawler in enumerate(crawlers)}
        columns: dict[object, list[int]] = {}
        for i, site in enumerate(sites):
            columns.setdefault(site.address, []).append(i)
        by_text = {str(address): at for address, at in columns.items()}
        true_ms = np.full((len(crawlers), len(sites)), np.nan)
        for where, record in read_records(self.world / FILES[2], self.problems):
            try:
                crawler, address = (
                    numbers.get(text_of(record, "crawler") or ""),
                    text_of(record, "address") or "",
                )
                at = by_text.get(address) or columns.get(read_address(address))
                rtt_ms = number_of(record, "rtt_ms")
            except InputError as error:
                self.problems.add(f"{where}: {error}")
                continue
            if crawler is None or at is None:
                self.problems.add(f"{where}: unknown {'crawler' if crawler is None else 'address'}")
            elif rtt_ms is not None:
                true_ms[crawler, at] = rtt_ms
        return true_ms

    def _nearest(
        self, crawlers: list[ReportCrawler], sites: list[ReportSite], true_ms: Milliseconds
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
            notes=(note, *self.problems.notes),
        )

    def _assigned(
        self, crawlers: list[ReportCrawler], sites: list[ReportSite], true_ms: Milliseconds, assignment: Path
    ) -> ReportData:
        results = ResultFiles(results=(assignment,), crawlers=self.world / FILES[0], problems=Problems())
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
        told = (
            (f"{left_out:,} sites of the world are not in the assignment and left out.",) if left_out else ()
        )
        extra = len(found.crawlers) - len(crawlers)
        true_ms = np.vstack([true_ms[:, kept], np.full((extra, len(kept)), np.nan)])
        return ReportData(
            crawlers=found.crawlers,
            sites=tuple(joined),
            true_rtt_ms=true_ms,
            notes=(*told, *self.problems.notes),
        )


def merged(site: ReportSite, result: ReportSite) -> ReportSite:
    """Join what the world and what the result say of a site; the result counts where both do."""
    told = {
        one.name: value
        for one in fields(result)
        if one.name not in {"host", "address", "is_expected"}
        and (value := getattr(result, one.name)) is not None
    }
    return replace(site, is_expected=result.is_expected, **told)
