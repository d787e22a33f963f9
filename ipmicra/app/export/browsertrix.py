"""Exports for browsertrix-crawler: which proxy is nearest to which hosts.

Its `--proxyServerConfig` is YAML: `matchHosts` has patterns of URLs with the name of a proxy each, `proxies`
the URLs of the proxies. It tries every pattern on every request, so hosts share a pattern.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from ipmicra.app.export.rows import SiteRows
from ipmicra.app.export.scope import ExportScope, whole_hosts

HOSTS = 100
"""Hosts in one pattern."""


def no_proxy(crawler: str) -> str:
    """Say that the proxy of a crawler is missing."""
    return f"no proxy of {crawler} is known: use --proxy {crawler}=URL, or its label proxy=URL"


class ProxyConfig:
    """The file, as it is written."""

    def __init__(self, scope: ExportScope) -> None:
        """Know the proxies."""
        self._scope = scope
        self._used: dict[str, str] = {}

    def begin(self) -> bytes:
        """Return the first line."""
        return b"matchHosts:\n"

    def part(self, sites: Sequence[SiteRows]) -> bytes:
        """Return patterns of hosts."""
        hosts: dict[str, list[str]] = {}
        for one in whole_hosts(sites, self._scope):
            crawler = one.crawler or ""
            if crawler in self._scope.proxies:
                name = f"[{one.host}]" if ":" in one.host else one.host
                hosts.setdefault(crawler, []).append(re.escape(name).replace(r"\-", "-"))
            else:
                self._scope.left_out.leave(one.host, no_proxy(crawler))
        lines = []
        for crawler, names in hosts.items():
            self._used[crawler] = self._scope.proxies[crawler]
            for start in range(0, len(names), HOSTS):
                pattern = f"^https?://({'|'.join(names[start : start + HOSTS])})[:/]"
                lines.append(f"  {json.dumps(pattern)}: {json.dumps(crawler)}\n")
        return "".join(lines).encode()

    def end(self) -> bytes:
        """Return the proxies that patterns name."""
        lines = (f"  {json.dumps(name)}: {json.dumps(url)}\n" for name, url in self._used.items())
        return f"proxies:\n{''.join(lines)}".encode()
