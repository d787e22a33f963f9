"""Formats of exports, by name: sites with their owners in, bytes out.

Theory of operation
-------------------
A format renders a part of the sites at a time, so that an export of any length streams: `begin`, then `part`
as often as there are parts, then `end`. Formats that are tables show every site, also those that nobody owns.
All others are given owned sites only, and note in the scope what they cannot hold. Those with a file for each
crawler (`is_per_crawler`) are rendered for one crawler at a time.

A kit is what one program needs: the files, each with its format. `ipmicra export --for` takes the name of
a kit or of a single format; the coordinator's `/v1/export` serves single formats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ipmicra.app.export import heritrix, nutch, storm, tables
from ipmicra.app.export.browsertrix import ProxyConfig
from ipmicra.app.export.plain import hosts_lines, seed_lines
from ipmicra.app.export.rows import SiteRows
from ipmicra.app.export.scope import ExportScope
from ipmicra.errors import InputError


class Rendering(Protocol):
    """An export that is being written."""

    def begin(self) -> bytes:
        """Return what comes before the first site."""
        ...

    def part(self, sites: Sequence[SiteRows]) -> bytes:
        """Return some sites."""
        ...

    def end(self) -> bytes:
        """Return what comes after the last site."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """A way to write sites and their owners."""

    about: str
    media_type: str
    ending: str
    """Of file names."""
    open: Callable[[ExportScope], Rendering]
    is_table: bool = False
    """Whether it shows sites that nobody owns as well."""
    is_per_crawler: bool = False
    """Whether each crawler has a file of its own."""


class Lines:
    """A format whose sites do not depend on each other."""

    def __init__(
        self,
        render: Callable[[Sequence[SiteRows], ExportScope], str],
        scope: ExportScope,
        first: str = "",
        last: str = "",
    ) -> None:
        """Name what writes the sites, and what stands before and after them."""
        self._render, self._scope, self._first, self._last = render, scope, first, last

    def begin(self) -> bytes:
        """Return the head."""
        return self._first.encode()

    def part(self, sites: Sequence[SiteRows]) -> bytes:
        """Return the lines of some sites."""
        return self._render(sites, self._scope).encode()

    def end(self) -> bytes:
        """Return the foot."""
        return self._last.encode()


def _text(
    about: str,
    render: Callable[[Sequence[SiteRows], ExportScope], str],
    *,
    is_per_crawler: bool = False,
    last: str = "",
) -> ExportFormat:
    return ExportFormat(
        about=about,
        media_type="text/plain",
        ending=".txt",
        open=lambda scope: Lines(render, scope, last=last),
        is_per_crawler=is_per_crawler,
    )


def _settings(about: str, media_type: str, ending: str, text: Callable[[ExportScope], str]) -> ExportFormat:
    return ExportFormat(
        about=about,
        media_type=media_type,
        ending=ending,
        open=lambda scope: Lines(lambda *_: "", scope, first=text(scope)),
        is_per_crawler=True,
    )


FORMATS: dict[str, ExportFormat] = {
    "csv": ExportFormat(
        about="all assignments as a table",
        media_type="text/csv",
        ending=".csv",
        open=lambda scope: Lines(tables.csv_lines, scope, first=tables.CSV_HEAD),
        is_table=True,
    ),
    "jsonl": ExportFormat(
        about="all assignments, an object on each line",
        media_type="application/x-ndjson",
        ending=".jsonl",
        open=lambda scope: Lines(tables.json_lines, scope),
        is_table=True,
    ),
    "parquet": ExportFormat(
        about="all assignments as Parquet",
        media_type="application/vnd.apache.parquet",
        ending=".parquet",
        open=tables.ParquetTable,
        is_table=True,
    ),
    "hosts": _text("addresses and hosts, as /etc/hosts has them", hosts_lines),
    "seeds": _text("start URLs of a crawler, one per line", seed_lines, is_per_crawler=True),
    "urlfrontier": ExportFormat(
        about="URLs for the client of URLFrontier: PutURLs -f",
        media_type="application/x-ndjson",
        ending=".jsonl",
        open=lambda scope: Lines(storm.frontier_lines, scope),
    ),
    "stormcrawler-seeds": _text(
        "URLs of a crawler with their metadata", storm.seed_lines, is_per_crawler=True
    ),
    "stormcrawler-settings": _settings(
        "settings of a crawler's topology", "application/yaml", ".yaml", storm.settings
    ),
    "heritrix-map": _text("map of LexicalCrawlMapper", heritrix.map_lines, last=heritrix.LAST_LINE),
    "heritrix-seeds": _text("start URLs of a crawler", heritrix.seed_lines, is_per_crawler=True),
    "nutch-hosts": _text("host-urlnormalizer.txt for the scope `partition`", nutch.host_lines),
    "nutch-domains": _text("domain-urlfilter.txt of a crawler", nutch.domain_lines, is_per_crawler=True),
    "nutch-seeds": _text("URLs of a crawler with their metadata", nutch.seed_lines, is_per_crawler=True),
    "nutch-settings": _settings("nutch-site.xml of a crawler", "application/xml", ".xml", nutch.settings),
    "browsertrix": ExportFormat(
        about="proxies by host, for --proxyServerConfig",
        media_type="application/yaml",
        ending=".yaml",
        open=ProxyConfig,
    ),
}

Kit = Mapping[str, str]
"""Formats by the names of files; `{crawler}` stands for the name of a crawler."""
KITS: dict[str, Kit] = {
    "urlfrontier": {"urls.jsonl": "urlfrontier"},
    "stormcrawler": {
        "seeds-{crawler}.txt": "stormcrawler-seeds",
        "settings-{crawler}.yaml": "stormcrawler-settings",
    },
    "heritrix": {"crawlers.map": "heritrix-map", "seeds-{crawler}.txt": "heritrix-seeds"},
    "nutch": {
        "host-urlnormalizer.txt": "nutch-hosts",
        "domain-urlfilter-{crawler}.txt": "nutch-domains",
        "seeds-{crawler}.txt": "nutch-seeds",
        "nutch-site-{crawler}.xml": "nutch-settings",
    },
    "browsertrix": {"proxies.yaml": "browsertrix"},
    "plain": {"assignments.csv": "csv", "hosts.txt": "hosts", "seeds-{crawler}.txt": "seeds"},
}


def format_named(name: str) -> ExportFormat:
    """Return a format; `InputError` names those that there are."""
    if name not in FORMATS:
        raise InputError(f"no export format {name[:64]!r}: there are {', '.join(FORMATS)}")
    return FORMATS[name]


def kit_named(name: str) -> Kit:
    """Return the files of a program, or the one file of a format; `InputError` names those that there are."""
    if name in KITS:
        return KITS[name]
    if name == "crawlee":
        raise InputError("crawlee needs no files: `ipmicra.crawlee` asks the coordinator while it crawls")
    if name not in FORMATS:
        raise InputError(f"no export for {name[:64]!r}: there are {', '.join({**KITS, **FORMATS})}")
    chosen = FORMATS[name]
    return {f"{name}-{{crawler}}{chosen.ending}" if chosen.is_per_crawler else name + chosen.ending: name}
