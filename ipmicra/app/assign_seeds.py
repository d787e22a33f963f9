"""`ipmicra assign` from seeds and files to assignments kept in the store."""

from __future__ import annotations

import asyncio
import csv
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ipmicra.app.assigning import BACKENDS, AssignOptions, AssignReport, assign, stamped
from ipmicra.app.expected_trips import StoredExpectations
from ipmicra.app.round_trips import Address, DelegatedRoundTrips, SampledRoundTrips
from ipmicra.app.targets import host_of
from ipmicra.assign.balance.piece_report import urls_of_sitemap
from ipmicra.assign.balance.pieces import PieceConfig
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.resolver.bulk import BulkResolver, Seed, read_seed
from ipmicra.edge.resolver.client import ClientConfig, NameClient
from ipmicra.edge.resolver.one_by_one import REASONS
from ipmicra.edge.store.ports import StorePort
from ipmicra.errors import InputError
from ipmicra.model.crawler import CrawlerState
from ipmicra.model.site import Site

Unresolved = list[tuple[str, str]]
"""Seeds without an address, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignRequest:
    """What a user asked for."""

    texts: Sequence[str]
    backend: str = "balance"
    pages: Path | None = None
    urls: tuple[Path, ...] = ()
    pieces: int = 4
    is_kept: bool = True
    dns: ClientConfig = field(default_factory=ClientConfig)


def assign_seeds(
    store: StorePort,
    request: AssignRequest,
    hierarchy: Hierarchy | None = None,
    clock: Callable[[], float] = time.time,
) -> tuple[AssignReport, Unresolved]:
    """Assign seeds by the samples and delegations in the store; keep the result unless told otherwise.

    With a hierarchy the delegator's model says what to expect where nothing was measured.
    """
    if request.backend not in BACKENDS:
        raise InputError(f"no backend named {request.backend!r}; there are {', '.join(BACKENDS)}")
    options = AssignOptions(
        backend=request.backend,
        pages=read_pages(request.pages) if request.pages else {},
        urls=read_urls(request.urls),
        pieces=PieceConfig(most=request.pieces),
    )
    members = store.crawlers.all((CrawlerState.JOINED,))
    sites, unresolved = _sites(store, request)
    report = assign(
        sites,
        [member.crawler for member in members],
        DelegatedRoundTrips(
            measured=SampledRoundTrips(samples=store.samples), delegated=_delegated(store, sites)
        ),
        options,
        store.assignments.all(),
        None if hierarchy is None else StoredExpectations(store=store, hierarchy=hierarchy, clock=clock),
    )
    if request.is_kept:
        store.assignments.put_many(stamped(report, clock()))
    return report, unresolved


def _delegated(store: StorePort, sites: list[Site]) -> dict[Address, tuple[str, float]]:
    """Give the crawler that each site was delegated to, and the round trip that this rests on."""
    found = {}
    for site in sites:
        result = store.results.latest(site.host)
        if result is not None and result.rtt_ms is not None:
            found[site.address] = result.crawler, result.rtt_ms
    return found


def _sites(store: StorePort, request: AssignRequest) -> tuple[list[Site], Unresolved]:
    """Give the sites of seeds: pinned ones from the store, addresses as they are, others by the DNS."""
    sites: dict[str, Site] = {}
    ask: list[str] = []
    for text in request.texts:
        seed = read_seed(text)
        pinned = store.sites.get(seed.host) if isinstance(seed, Seed) else None
        if pinned is not None:
            sites[text] = pinned
        elif isinstance(seed, Seed) and seed.address is not None:
            sites[text] = Site(seed.host, seed.address, seed.scheme, seed.port)
        else:
            ask.append(text)
    resolved, unresolved = asyncio.run(_resolved(store, ask, request.dns)) if ask else ({}, [])
    store.sites.put_many(resolved.values(), time.time())
    sites |= resolved
    return [sites[text] for text in request.texts if text in sites], unresolved


async def _resolved(
    store: StorePort, texts: Sequence[str], dns: ClientConfig
) -> tuple[dict[str, Site], Unresolved]:
    found: dict[str, Site] = {}
    unresolved: Unresolved = []
    async with NameClient(dns) as client:
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
    """Read lists of URLs and sitemaps; give the URLs of each host."""
    found: dict[str, list[str]] = {}
    for path in paths:
        try:
            urls = urls_of_sitemap(path.read_text(encoding="utf-8", errors="replace"))
        except OSError as error:
            raise InputError(f"{path}: cannot be read: give a list of URLs or a sitemap") from error
        for url in urls:
            found.setdefault(host_of(url).lower().rstrip("."), []).append(url)
    return found
