"""Exports for Nutch.

Nutch hands its fetcher tasks lists of URLs by the hash of their hosts. Its `urlnormalizer-host` may give URLs
other hosts; in the scope `partition` only the hash sees them. So hosts of one block get one name there, and
one task fetches them all. In every other scope that plugin must be off, or URLs are rewritten for good: the
settings name the plugins of every scope.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from ipmicra.app.export.rows import SiteRows
from ipmicra.app.export.scope import IPV6_HOST, ExportScope, rows_of, starts_of
from ipmicra.app.export.storm import metadata_of

SCHEME_PART = "its name is a part of `https://`, where Nutch would replace it"
WHOLE_DOMAIN = "a whole domain: the filter lets its subdomains pass as well"
_NORMALIZERS = "org.apache.nutch.net.urlnormalizer"
_SCOPES = ("default", "generate_host_count", "fetcher", "crawldb", "linkdb", "inject", "outlink", "indexer")


def block_host(block: str) -> str:
    """Return a host that stands for a block: `192-0-2-0-24.block.invalid`."""
    return re.sub(r"[^0-9a-f]+", "-", block) + ".block.invalid"


def host_lines(sites: Sequence[SiteRows], scope: ExportScope) -> str:
    """Write hosts with the host that stands for their block."""
    lines = []
    for rows in rows_of(sites, scope.crawler):
        host = rows[0].host
        if host in "https://":
            scope.left_out.leave(host, SCHEME_PART)
        else:
            lines.append(f"{_in_url(host)} {block_host(rows[0].block)}\n")
    return "".join(lines)


def domain_lines(sites: Sequence[SiteRows], scope: ExportScope) -> str:
    """Write the hosts that a crawler lets pass."""
    lines = []
    for rows in rows_of(sites, scope.crawler):
        host = rows[0].host
        if ":" in host:
            scope.left_out.leave(host, IPV6_HOST)
            continue
        if _suffixes().privatesuffix(host) == host:
            scope.left_out.remark(host, WHOLE_DOMAIN)
        lines.append(f"{host}\n")
    return "".join(lines)


def seed_lines(sites: Sequence[SiteRows], scope: ExportScope) -> str:
    """Write URLs with metadata between tabs."""
    return "".join(
        "\t".join([url, *(f"{name}={value}" for name, value in metadata_of(one).items())]) + "\n"
        for one, url in starts_of(sites, scope)
        if not _is_left_out(one.host, scope)
    )


def _is_left_out(host: str, scope: ExportScope) -> bool:
    if ":" in host:
        scope.left_out.leave(host, IPV6_HOST)
    return ":" in host


def settings(scope: ExportScope) -> str:
    """Write the settings that make the files count."""
    ordinary = f"{_NORMALIZERS}.basic.BasicURLNormalizer {_NORMALIZERS}.regex.RegexURLNormalizer"
    values = {
        "partition.url.mode": "byHost",
        "urlnormalizer.scope.partition": f"{_NORMALIZERS}.host.HostURLNormalizer",
        **{f"urlnormalizer.scope.{name}": ordinary for name in _SCOPES},
        "urlfilter.domain.file": f"domain-urlfilter-{scope.crawler}.txt",
    }
    properties = "".join(
        f"  <property><name>{name}</name><value>{value}</value></property>\n"
        for name, value in values.items()
    )
    return (
        '<?xml version="1.0"?>\n'
        "<!-- Beside your own; plugin.includes must name urlnormalizer-(host|basic|regex) and "
        "urlfilter-domain. -->\n"
        f"<configuration>\n{properties}</configuration>\n"
    )


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


@cache
def _suffixes() -> Any:  # noqa: ANN401 - imported where it is used
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()
