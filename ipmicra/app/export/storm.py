"""Exports for URLFrontier and StormCrawler.

Both put URLs into queues and fetch from one queue at a time. A queue of URLFrontier is named by `crawlID` and
`key`: the crawler, and the block whose hosts share polite delays. StormCrawler makes the key of its own
(`partition.url.mode: byIP`) from the metadata `ip`, which it takes as it is: so the block goes there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ipmicra.app.export.rows import ExportRow, SiteRows
from ipmicra.app.export.scope import ExportScope, starts_of


def metadata_of(one: ExportRow) -> dict[str, str]:
    """Return what a crawler may want to know of a URL besides its queue."""
    known = {"crawler": one.crawler, "subnet": one.subnet or one.block, "vantage": one.vantage}
    return {name: value for name, value in known.items() if value}


def frontier_lines(sites: Sequence[SiteRows], scope: ExportScope) -> str:
    """Write URLs as messages of URLFrontier in JSON, one per line."""
    return "".join(
        json.dumps(_discovered(one, url), separators=(",", ":")) + "\n"
        for one, url in starts_of(sites, scope)
    )


def _discovered(one: ExportRow, url: str) -> dict[str, Any]:
    metadata = {name: {"values": [value]} for name, value in metadata_of(one).items()}
    info = {"url": url, "key": one.block, "crawlID": one.crawler, "metadata": metadata}
    return {"discovered": {"info": info}}


def seed_lines(sites: Sequence[SiteRows], scope: ExportScope) -> str:
    """Write URLs with metadata between tabs."""
    lines = []
    for one, url in starts_of(sites, scope):
        words = {"ip": one.block} | metadata_of(one)
        lines.append("\t".join([url, *(f"{name}={value}" for name, value in words.items())]) + "\n")
    return "".join(lines)


def settings(scope: ExportScope) -> str:
    """Write the settings that go with the seeds of a crawler."""
    crawler = json.dumps(scope.crawler or "")
    return (
        "# Beside your own settings: one queue per address block, and only this crawler's URLs.\n"
        "config:\n"
        '  partition.url.mode: "byIP"\n'
        f"  urlfrontier.crawlid: {crawler}\n"
        "  metadata.persist:\n"
        '   - "ip"\n'
        '   - "subnet"\n'
        '   - "crawler"\n'
        '   - "vantage"\n'
    )
