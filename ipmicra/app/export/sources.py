"""Where the sites of an export come from: a store, or a running coordinator; all of them, or those of a list.

A list names hosts or URLs. A URL with a path is exported itself, in place of the main page of its site, and
goes to the crawler that has its directory if the site is cut into pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol
from urllib.parse import urlsplit

from ipmicra.app.connect.commands import Connection, list_crawlers
from ipmicra.app.export.rows import PART, ExportRow, SiteReader, SiteRows, read_sites, url_of
from ipmicra.app.export.scope import LeftOut
from ipmicra.edge.files.seeds import UnresolvedSeed, parse_seed, read_seeds
from ipmicra.edge.store.ports import StorePort
from ipmicra.errors import AddressError, MessageError
from ipmicra.model.address import read_address
from ipmicra.model.crawler import CrawlerState
from ipmicra.model.link import Share
from ipmicra.model.owner import OwnerSource

NOT_KNOWN = "not known here: run `ipmicra delegate` or `ipmicra assign` for it"
IS_RANGE = "a range of addresses is no site"
PROXY = "proxy"
"""Label of crawlers that names the proxy beside them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetMember:
    """What an export needs to know of a crawler."""

    name: str
    has_left: bool
    proxy: str | None = None


class Source(Protocol):
    """Sites with their owners, and the fleet."""

    def fleet(self) -> list[FleetMember]:
        """Return all crawlers, by name."""
        ...

    def sites(self) -> Iterator[list[SiteRows]]:
        """Return all sites in parts, by host."""
        ...

    def named(self, hosts: Sequence[str], left_out: LeftOut) -> dict[str, SiteRows]:
        """Return some sites; those without an answer are left out, with the reason if it is known."""
        ...


class StoreSource:
    """Reads a store."""

    def __init__(self, store: StorePort) -> None:
        """Use an open store."""
        self._store = store

    def fleet(self) -> list[FleetMember]:
        """Return all crawlers, by name."""
        return [
            FleetMember(
                name=one.crawler.name,
                has_left=one.crawler.state is CrawlerState.LEFT,
                proxy=one.crawler.labels.get(PROXY),
            )
            for one in self._store.crawlers.all()
        ]

    def sites(self) -> Iterator[list[SiteRows]]:
        """Return all sites in parts, by host."""
        return read_sites(self._store)

    def named(self, hosts: Sequence[str], left_out: LeftOut) -> dict[str, SiteRows]:  # noqa: ARG002 - a port
        """Return some sites."""
        return SiteReader(self._store).of(hosts)


class CoordinatorSource:
    """Asks a coordinator."""

    def __init__(self, connection: Connection) -> None:
        """Name the coordinator."""
        self._connection = connection

    def fleet(self) -> list[FleetMember]:
        """Return all crawlers, by name."""
        return [
            FleetMember(
                name=str(one["name"]),
                has_left=one["state"] == CrawlerState.LEFT.value,
                proxy=(one.get("labels") or {}).get(PROXY),
            )
            for one in list_crawlers(self._connection, with_left=True)
        ]

    def sites(self) -> Iterator[list[SiteRows]]:
        """Return all sites in parts, by host."""
        found = self._all(lambda _: True)
        yield from (found[start : start + PART] for start in range(0, len(found), PART))

    def named(self, hosts: Sequence[str], left_out: LeftOut) -> dict[str, SiteRows]:
        """Return some sites; hosts that the coordinator never saw are decided first."""
        reasons: dict[str, str] = {}

        def note(one: dict[str, Any]) -> None:
            if "problem" in one:
                reasons[one["host"]] = str(one["problem"]["detail"])

        self._connection.each_line("/v1/owners", hosts, note)
        wanted = frozenset(hosts)
        found = {rows[0].host: rows for rows in self._all(wanted.__contains__)}
        for host in hosts:
            if host not in found and host in reasons:
                left_out.leave(host, reasons[host].removeprefix(f"{host}: "))
        return found

    def _all(self, is_wanted: Callable[[str], bool]) -> list[SiteRows]:
        sites: list[SiteRows] = []
        for record in self._connection.lines("/v1/export", {"format": "jsonl"}):
            row = row_of(record)
            if not is_wanted(row.host):
                continue
            if sites and sites[-1][0].host == row.host:
                sites[-1] = (*sites[-1], row)
            else:
                sites.append((row,))
        return sites


def row_of(record: dict[str, Any]) -> ExportRow:
    """Read a row of the export `jsonl`."""
    try:
        piece, of = map(int, str(record["piece"]).split("/"))
        return ExportRow(
            host=str(record["host"]),
            url=str(record["url"]),
            address=read_address(record["address"]),
            crawler=record["crawler"],
            reason=str(record["reason"]),
            vantage=record["vantage"] or "",
            piece=piece,
            of=of,
            filters=tuple(map(str, record["filters"])),
            subnet=record["subnet"],
            source=OwnerSource(record["source"]) if record["source"] else None,
            expected_ms=record["expected_ms"],
            pages=record["pages"],
            backend=record["backend"] or "",
            rule=record["rule"] or "",
        )
    except (KeyError, TypeError, ValueError, AddressError) as error:
        raise MessageError(f"the coordinator sent a row that makes no sense: {error}") from error


def sites_of(source: Source, words: Sequence[str], left_out: LeftOut) -> Iterator[list[SiteRows]]:
    """Return the sites that a user names, or all if none are named."""
    if not words:
        yield from source.sites()
        return
    urls = _named_urls(words, left_out)
    found = source.named(list(urls), left_out)
    part: list[SiteRows] = []
    for host, named in urls.items():
        if host in found:
            part.append(_starting_at(found[host], named))
        elif not any(host in tally.seen for tally in left_out.sites.values()):
            left_out.leave(host, NOT_KNOWN)
    yield from (part[start : start + PART] for start in range(0, len(part), PART))


def _named_urls(words: Sequence[str], left_out: LeftOut) -> dict[str, list[str]]:
    """Return the hosts that texts name, each with the URLs that have a path."""
    hosts: dict[str, list[str]] = {}
    for text in read_seeds(words):
        seed = parse_seed(text)
        if isinstance(seed, UnresolvedSeed):
            left_out.leave(seed.text[:100], seed.reason)
            continue
        if seed.is_range:
            left_out.leave(seed.text, IS_RANGE)
            continue
        named = hosts.setdefault(seed.host, [])
        rest = seed.text.partition("://")[2].partition("/")[2].partition("#")[0] if seed.scheme else ""
        if seed.scheme:
            url = f"{url_of(seed.host, seed.scheme, seed.port)}/{rest}"
            if url not in named:
                named.append(url)
    return hosts


def _starting_at(rows: SiteRows, urls: list[str]) -> SiteRows:
    """Sort URLs into the pieces that have their directories."""
    if not urls:
        return rows
    found = []
    for one in rows:
        share = Share(crawler=one.crawler or "", slot="", filters=one.filters)
        found.append(replace(one, named=tuple(url for url in urls if share.admits(_directory(url)))))
    return tuple(found)


def _directory(url: str) -> str:
    """Return the first-level directory of a URL, as `/news/`; `/` for pages at the top."""
    first, slash, _ = urlsplit(url).path.lstrip("/").partition("/")
    return f"/{first}/" if slash else "/"
