"""Exports for Heritrix: the map of its LexicalCrawlMapper.

The map divides the sorted names of queues into ranges. Each line has the last name of a range and the crawler
that gets it; a name belongs to the first line that is not before it. A queue is named by the SURT form of its
host, `org,example,www,` for www.example.org, followed by `#8080` for a port or `+3` if a host has several.
Both signs sort before everything by which the name of another host may go on, so a host takes two
lines: what lies before it is nobody's, and what begins with its name and one of these signs is its own.

    org,example,www+~ DEFAULT
    org,example,www,+~ fra

Names that no line claims are those of hosts that nobody owns yet: they go to `DEFAULT`, which is no crawler.
"""

from __future__ import annotations

from collections.abc import Sequence

from ipmicra.app.export.rows import ExportRow, SiteRows
from ipmicra.app.export.scope import IPV6_HOST, ExportScope, whole_hosts

NOBODY = "DEFAULT"
HIGHEST = "~"
"""Sorts after everything that names of queues consist of."""
LAST_LINE = f"{HIGHEST} {NOBODY}\n"


def queue_of(host: str) -> str:
    """Return the name of the queue of a host: `org,example,www,`; addresses are as they are."""
    if host.replace(".", "").isdigit():
        return host
    return "".join(f"{label}," for label in reversed(host.split(".")))


def map_lines(sites: Sequence[SiteRows], scope: ExportScope) -> str:
    """Write the two lines of each host."""
    return "".join(_lines(one, scope) for one in whole_hosts(sites, scope))


def _lines(one: ExportRow, scope: ExportScope) -> str:
    if ":" in one.host:
        scope.left_out.leave(one.host, IPV6_HOST)
        return ""
    queue = queue_of(one.host)
    before = queue[:-1] + chr(ord(queue[-1]) - 1) + HIGHEST
    return f"{before} {NOBODY}\n{queue}+{HIGHEST} {one.crawler}\n"


def seed_lines(sites: Sequence[SiteRows], scope: ExportScope) -> str:
    """Write start URLs, one per line, of the hosts that the map gives to the crawler."""
    lines = []
    for rows in sites:
        for one in whole_hosts([rows], scope):
            if ":" in one.host:
                scope.left_out.leave(one.host, IPV6_HOST)
                continue
            named = dict.fromkeys(url for each in rows for url in each.named or ())
            lines += [f"{url}\n" for url in named or [f"{one.url}/"]]
    return "".join(lines)
