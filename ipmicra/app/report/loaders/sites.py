"""Records to crawlers and sites."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from ipmicra.app.describe.texts import range_text
from ipmicra.app.report.data import Flag, ReportCrawler, ReportSite, ReportSubnet
from ipmicra.app.report.loaders.records import Problems, Record, number_of, read_records, text_of
from ipmicra.errors import InputError
from ipmicra.model.address import Address, read_address, read_range
from ipmicra.model.crawler import Capacity
from ipmicra.model.delegation import Evidence
from ipmicra.model.location import Location

Value = TypeVar("Value")
_CITY_KM = 25.0


class Fields:
    """Reads the fields of one record; a bad one is counted and taken as missing."""

    def __init__(self, record: Record, where: str, problems: Problems) -> None:
        """Keep the record and its place in words."""
        self._record = record
        self._where = where
        self._problems = problems

    def text(self, *keys: str) -> str | None:
        """Give the first of several fields that is filled."""
        return next((text for key in keys if (text := text_of(self._record, key))), None)

    def attempt(self, read: Callable[[], Value]) -> Value | None:
        """Read something; what goes wrong is counted."""
        try:
            return read()
        except InputError as error:
            self._problems.add(f"{self._where}: {error}")
            return None

    def number(self, key: str, low: float = 0.0, high: float = 1e15) -> float | None:
        """Give a number."""
        return self.attempt(lambda: number_of(self._record, key, low, high))

    def whole(self, key: str) -> int | None:
        """Give a whole number."""
        number = self.number(key)
        return None if number is None else int(number)

    def address(self) -> Address | None:
        """Give the address."""
        text = self.text("address")
        return None if text is None else self.attempt(lambda: read_address(text))

    def subnet(self) -> ReportSubnet | None:
        """Give the subnet, from a prefix or a range."""
        text = self.text("subnet")
        if text is None:
            return None
        found = self.attempt(lambda: read_range(text))
        if found is None:
            return None
        first, last = found
        return ReportSubnet(first=first, last=last, label=range_text(first, last))

    def place(self) -> Location | None:
        """Give the place, if latitude and longitude are both there."""
        latitude, longitude = self.number("latitude", -90, 90), self.number("longitude", -180, 180)
        if latitude is None or longitude is None:
            return None
        radius_km = self.number("radius_km") or _CITY_KM
        return Location(
            latitude=latitude,
            longitude=longitude,
            radius_km=radius_km,
            city=self.text("city"),
            country=self.text("country"),
        )

    def word(self, kind: type[Any], *keys: str) -> Any:  # noqa: ANN401 - a member of the enum
        """Give a word of an enum; None if it is another."""
        text = self.text(*keys)
        try:
            return None if text is None else kind(text.lower())
        except ValueError:
            return None


def crawler_of(fields: Fields) -> ReportCrawler | None:
    """Make a crawler; None if it has no name."""
    name = fields.text("name", "crawler")
    if name is None:
        return None
    return ReportCrawler(
        name=name,
        address=fields.address(),
        place=fields.place(),
        capacity=Capacity(
            bandwidth_mbps=fields.number("bandwidth_mbps"),
            memory_gb=fields.number("memory_gb"),
            max_pieces=fields.whole("max_pieces"),
            connections=fields.whole("connections"),
        ),
        load=fields.number("load"),
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
        subnet=fields.subnet(),
        organisation=fields.text("organisation", "organisation_name"),
        country=fields.text("country"),
        place=fields.place(),
        crawler=crawler,
        rtt_ms=rtt_ms,
        is_expected=(fields.text("is_expected") or "").lower() in {"true", "1", "yes"},
        evidence=fields.word(Evidence, "evidence"),
        probes=probes,
        pages=fields.whole("pages"),
        flag=Flag.UNPROBEABLE if is_lost else flag,
    )


def read_crawlers(path: Path, problems: Problems) -> list[ReportCrawler]:
    """Read a file of crawlers: `name,address[,latitude,longitude,country,…]`."""
    return crawlers_of(read_records(path, problems), path, problems)


def crawlers_of(records: Iterable[tuple[str, Record]], path: Path, problems: Problems) -> list[ReportCrawler]:
    """Make crawlers of the records of a file."""
    crawlers: dict[str, ReportCrawler] = {}
    for where, record in records:
        crawler = crawler_of(Fields(record, where, problems))
        if crawler is None:
            problems.add(f"{where}: a crawler without a name")
        elif crawler.name in crawlers:
            problems.add(f"{where}: crawler {crawler.name!r} is there twice; the first counts")
        else:
            crawlers[crawler.name] = crawler
    if not crawlers:
        raise InputError(
            f"{path}: there are no crawlers in it; expected a header `name,address,…` and a line each"
        )
    return list(crawlers.values())


class Fleet:
    """Crawlers by name; names that no file told of are added as they come."""

    def __init__(self, crawlers: list[ReportCrawler], problems: Problems, *, is_closed: bool) -> None:
        """Keep the crawlers; of a closed fleet an unknown name is a problem, though it is still added."""
        self.crawlers = list(crawlers)
        self._numbers = {crawler.name: i for i, crawler in enumerate(crawlers)}
        self._problems = problems
        self._is_closed = is_closed

    def number(self, name: str | None) -> int | None:
        """Give a crawler's number."""
        if name is None:
            return None
        if name not in self._numbers:
            if self._is_closed:
                self._problems.add(f"crawler {name!r} is not in the file of crawlers")
            self._numbers[name] = len(self.crawlers)
            self.crawlers.append(ReportCrawler(name=name))
        return self._numbers[name]
