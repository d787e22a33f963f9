"""Exports for programs that read lists: start URLs, and hosts with their addresses."""

from __future__ import annotations

from collections.abc import Sequence

from ipmicra.app.export.rows import SiteRows
from ipmicra.app.export.scope import NO_NAME, ExportScope, rows_of, starts_of

OTHER_ADDRESS = "another vantage sees it at another address; the file has the first"


def seed_lines(sites: Sequence[SiteRows], scope: ExportScope) -> str:
    """Write start URLs, one per line."""
    return "".join(f"{url}\n" for _, url in starts_of(sites, scope))


def hosts_lines(sites: Sequence[SiteRows], scope: ExportScope) -> str:
    """Write the address that each host was assigned by, as /etc/hosts has it."""
    lines = []
    for rows in rows_of(sites, scope.crawler):
        first = rows[0]
        if first.host == str(first.address):
            scope.left_out.leave(first.host, NO_NAME)
            continue
        if any(one.address != first.address for one in rows):
            scope.left_out.remark(first.host, OTHER_ADDRESS)
        lines.append(f"{first.address} {first.host}\n")
    return "".join(lines)
