"""Seeds, page counts and URLs that a user hands to `ipmicra assign`."""

from __future__ import annotations

import asyncio
import csv
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ipmicra.assign.balance.pieces import urls_of_sitemap
from ipmicra.edge.dns.bulk import BulkResolver, Seed, read_seed
from ipmicra.edge.dns.client import DnsClient, DnsConfig
from ipmicra.edge.dns.one_by_one import REASONS
from ipmicra.edge.files.targets import host_of
from ipmicra.edge.store.ports import StorePort
from ipmicra.errors import InputError
from ipmicra.model.site import Site

Unresolved = list[tuple[str, str]]
"""Seeds without an address, and why."""


def sites_of(store: StorePort, texts: Sequence[str], dns: DnsConfig) -> tuple[list[Site], Unresolved]:
    """Return the sites of seeds: pinned ones from the store, addresses as they are, others by the DNS."""
    sites: dict[str, Site] = {}
    ask: list[str] = []
    for text in texts:
        seed = read_seed(text)
        pinned = store.sites.get(seed.host) if isinstance(seed, Seed) else None
        if pinned is not None:
            sites[text] = pinned
        elif isinstance(seed, Seed) and seed.address is not None:
            sites[text] = Site(seed.host, seed.address, seed.scheme, seed.port)
        else:
            ask.append(text)
    resolved, unresolved = asyncio.run(_resolved(store, ask, dns)) if ask else ({}, [])
    store.sites.put_many(resolved.values(), time.time())
    sites |= resolved
    return [sites[text] for text in texts if text in sites], unresolved


async def _resolved(
    store: StorePort, texts: Sequence[str], dns: DnsConfig
) -> tuple[dict[str, Site], Unresolved]:
    found: dict[str, Site] = {}
    unresolved: Unresolved = []
    async with DnsClient(dns) as client:
        names = iter(texts)
        async for answer in BulkResolver(client, store.names).resolve(texts):
            text = next(names)
            if isinstance(answer, Site):
                pinned = store.sites.get(answer.host)
                found[text] = answer if pinned is None else replace(answer, address=pinned.address)
            else:
                unresolved.append((answer.text, REASONS[answer.status.value]))
    return found, unresolved


def read_pages(path: Path) -> dict[str, float]:
    """Read page counts: lines of `host,pages`; a number that cannot be read is kept as NaN and estimated."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.reader(file) if row and not row[0].startswith("#")]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: give a CSV with lines of host,pages") from error
    if rows and rows[0][0].strip().lower() == "host":
        rows = rows[1:]
    return {row[0].strip().lower().rstrip("."): _count(row[1]) for row in rows if len(row) > 1}


def _count(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def read_urls(paths: Sequence[Path]) -> Mapping[str, list[str]]:
    """Read lists of URLs and sitemaps; return the URLs of each host."""
    found: dict[str, list[str]] = {}
    for path in paths:
        try:
            urls = urls_of_sitemap(path.read_text(encoding="utf-8", errors="replace"))
        except OSError as error:
            raise InputError(f"{path}: cannot be read: give a list of URLs or a sitemap") from error
        for url in urls:
            found.setdefault(host_of(url).lower().rstrip("."), []).append(url)
    return found
