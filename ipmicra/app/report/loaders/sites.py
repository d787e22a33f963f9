"""Records to crawlers and sites."""

from __future__ import annotations

from ipmicra.app.report.data import Flag, ReportCrawler, ReportSite, ReportSubnet
from ipmicra.app.report.loaders.problems import Problems
from ipmicra.edge.files.crawlers import CrawlerRow
from ipmicra.edge.files.fields import Fields
from ipmicra.model.address import range_text, read_range
from ipmicra.model.delegation import Evidence

CITY_KM = 25.0
"""How far a site may be from coordinates without a radius."""


def crawler_of(row: CrawlerRow) -> ReportCrawler:
    """Make a crawler of a row of a list."""
    return ReportCrawler(
        name=row.name, address=row.address, place=row.location, capacity=row.capacity, load=row.load
    )


def site_of(fields: Fields, crawler: int | None) -> ReportSite | None:
    """Make a site; None if it has neither host nor address."""
    address = fields.address()
    host = fields.text("host") or (str(address) if address else None)
    if host is None:
        return None
    rtt_ms, probes = fields.number("rtt_ms"), fields.whole("probes")
    flag = fields.word(Flag, "flag", "class")
    is_lost = bool(probes) and rtt_ms is None and flag is None
    return ReportSite(
        host=host,
        address=address,
        subnet=fields.attempt(_subnet, "subnet"),
        organisation=fields.text("organisation", "organisation_name"),
        country=fields.text("country"),
        place=fields.place(CITY_KM, fields.text("country")),
        crawler=crawler,
        rtt_ms=rtt_ms,
        is_expected=(fields.text("is_expected") or "").lower() in {"true", "1", "yes"},
        evidence=fields.word(Evidence, "evidence"),
        probes=probes,
        pages=fields.whole("pages"),
        flag=Flag.UNPROBEABLE if is_lost else flag,
    )


def _subnet(text: str) -> ReportSubnet:
    """Read a subnet, from a prefix or a range."""
    first, last = read_range(text)
    return ReportSubnet(first=first, last=last, label=range_text(first, last))


class Fleet:
    """Crawlers by name; names that no file lists are added as they come."""

    def __init__(self, crawlers: list[ReportCrawler], problems: Problems, *, is_closed: bool) -> None:
        """Keep the crawlers; of a closed fleet an unknown name is a problem, though it is still added."""
        self.crawlers = list(crawlers)
        self._numbers = {crawler.name: i for i, crawler in enumerate(crawlers)}
        self._problems = problems
        self._is_closed = is_closed

    def number(self, name: str | None) -> int | None:
        """Return a crawler's number."""
        if name is None:
            return None
        if name not in self._numbers:
            if self._is_closed:
                self._problems.add(f"crawler {name!r} is not in the file of crawlers")
            self._numbers[name] = len(self.crawlers)
            self.crawlers.append(ReportCrawler(name=name))
        return self._numbers[name]
