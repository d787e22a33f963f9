"""What is exported: every site that the store knows, with its owners.

The owner of a site is its assignment, one for each vantage and piece; else the crawler to which its subnet is
delegated. A site without either is exported without a crawler, so that a format can say what it left out.
Sites are read in the order of their names, in parts, so that an export of any length takes constant memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ipmicra.app.crawl.owners import block_of
from ipmicra.edge.store.ports import StorePort
from ipmicra.model.address import Address
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import CrawlerState
from ipmicra.model.delegation import Decision
from ipmicra.model.owner import OwnerSource
from ipmicra.model.site import Site

PART = 1_000
"""Sites that are read at a time."""
NOT_DELEGATED = "not delegated yet: run `ipmicra delegate` or `ipmicra assign`"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRow:
    """A site, or a piece of one, seen from one vantage."""

    host: str
    url: str
    """Where to start, without a path: `https://a.example:8443`."""
    address: Address
    crawler: str | None
    """None if nobody owns it; `reason` says why."""
    reason: str
    vantage: str = ""
    piece: int = 1
    of: int = 1
    filters: tuple[str, ...] = ()
    """First-level directories of the piece, as `/news/`; `-/news/` is not part of the rest."""
    subnet: str | None = None
    """The delegated subnet; None if it is not known."""
    source: OwnerSource | None = None
    expected_ms: float | None = None
    pages: int | None = None
    backend: str = ""
    rule: str = ""
    named: tuple[str, ...] | None = None
    """URLs of the site that a user named, at which to begin; None to begin at the main page."""

    @property
    def block(self) -> str:
        """The block whose sites share polite delays: the subnet, but no more than a /24 or /48."""
        return block_of(self.address, self.subnet or "")

    @property
    def is_rest(self) -> bool:
        """Whether it has the main page: the whole site, or what no other piece names."""
        return self.of == 1 or any(word.startswith("-") for word in self.filters)

    @property
    def starts(self) -> tuple[str, ...]:
        """The URLs at which a crawl of it begins."""
        if self.named is not None:
            return self.named
        if self.is_rest or not self.filters:
            return (f"{self.url}/",)
        return tuple(self.url + word for word in self.filters)


SiteRows = tuple[ExportRow, ...]
"""All rows of one site, by vantage and piece; at least one."""


def url_of(host: str, scheme: str | None, port: int | None) -> str:
    """Write where a site begins; one without a scheme begins at http, which leads on to https if need be."""
    bracketed = f"[{host}]" if ":" in host else host
    return f"{scheme or 'http'}://{bracketed}{f':{port}' if port else ''}"


def export_mark(store: StorePort) -> str:
    """Return a text that changes whenever what is exported does."""
    members = ((one.crawler.name, one.crawler.state.value) for one in store.crawlers.all())
    parts = (
        store.assignments.last_change(),
        *store.results.mark(),
        *((one.record.delegation.first, one.ended_s) for one in store.delegations.ended(1)),
        *(f"{name}:{state}" for name, state in members),
    )
    return " ".join(map(str, parts))


def read_sites(store: StorePort) -> Iterator[list[SiteRows]]:
    """Read all sites in parts, by host."""
    reader = SiteReader(store)
    after = ""
    while part := reader.after(after):
        after = part[-1][0].host
        yield part


class SiteReader:
    """Reads sites with their owners from a store."""

    def __init__(self, store: StorePort) -> None:
        """See which crawlers have left."""
        self._store = store
        members = store.crawlers.all()
        self._left = frozenset(one.crawler.name for one in members if one.crawler.state is CrawlerState.LEFT)
        self._holders: dict[tuple[Address, Address], str | None] = {}

    def after(self, host: str, most: int = PART) -> list[SiteRows]:
        """Return the sites that follow a host in the order of names; none after the last."""
        sites = {one.host: one for one in self._store.sites.after(host, most)}
        assigned: dict[str, list[Assignment]] = {}
        for one in self._store.assignments.after(host, most):
            assigned.setdefault(one.host, []).append(one)
        # Each of the two was read up to its own last host: what lies between is left to the next part.
        last = min((max(part) for part in (sites, assigned) if part), default="")
        hosts = sorted(one for one in {*sites, *assigned} if one <= last)
        return self._rows(hosts, sites, assigned)

    def of(self, hosts: Sequence[str]) -> dict[str, SiteRows]:
        """Return the rows of some hosts; those that the store does not know are left out."""
        sites, assigned = self._store.sites.of_many(hosts), self._store.assignments.of_many(hosts)
        known = [host for host in dict.fromkeys(hosts) if host in sites or host in assigned]
        return {rows[0].host: rows for rows in self._rows(known, sites, assigned)}

    def _rows(
        self, hosts: Sequence[str], sites: dict[str, Site], assigned: dict[str, list[Assignment]]
    ) -> list[SiteRows]:
        missing = [host for host in hosts if host not in sites]
        sites = sites | self._store.sites.of_many(missing) if missing else sites
        decisions = self._store.results.latest_many(hosts)
        return [
            tuple(self._site_rows(host, sites.get(host), assigned.get(host, ()), decisions.get(host)))
            for host in hosts
        ]

    def _site_rows(
        self, host: str, site: Site | None, held: Iterable[Assignment], decision: Decision | None
    ) -> Iterator[ExportRow]:
        url = url_of(host, site.scheme if site else None, site.port if site else None)
        is_assigned = False
        for one in held:
            is_assigned = True
            yield self._assigned(one, url, decision)
        if is_assigned:
            return
        if decision is not None:
            yield self._delegated(decision, url)
        elif site is not None:
            yield ExportRow(host=host, url=url, address=site.address, crawler=None, reason=NOT_DELEGATED)

    def _assigned(self, one: Assignment, url: str, decision: Decision | None) -> ExportRow:
        has_left = one.crawler in self._left
        return ExportRow(
            host=one.host,
            url=url,
            address=one.address,
            crawler=None if has_left else one.crawler,
            reason=_gone(one.crawler) if has_left else one.reason,
            vantage=one.vantage,
            piece=one.piece,
            of=one.of,
            filters=one.filters,
            subnet=_subnet_of(one.address, decision),
            source=OwnerSource.ASSIGNMENT,
            expected_ms=one.expected_ms,
            pages=one.pages,
            backend=one.backend,
            rule=one.rule,
        )

    def _delegated(self, decision: Decision, url: str) -> ExportRow:
        crawler = self._holder(decision)
        has_left = crawler in self._left
        return ExportRow(
            host=decision.host,
            url=url,
            address=decision.address,
            crawler=None if has_left else crawler,
            reason=_gone(crawler) if has_left else f"its subnet is delegated: {decision.evidence.value}",
            subnet=decision.subnet,
            source=OwnerSource.DELEGATION,
            expected_ms=decision.rtt_ms,
        )

    def _holder(self, decision: Decision) -> str:
        """Return who holds the subnet of a decision now: it may have changed hands since."""
        bounds = decision.first, decision.last
        if bounds not in self._holders:
            if len(self._holders) >= PART * 100:
                self._holders.clear()
            found = self._store.delegations.get(*bounds)
            self._holders[bounds] = found.delegation.crawler if found else None
        return self._holders[bounds] or decision.crawler


def _gone(crawler: str | None) -> str:
    return f"its crawler {crawler} has left: run `ipmicra assign` again"


def _subnet_of(address: Address, decision: Decision | None) -> str | None:
    """Return the subnet of a decision, if it holds the address at which the site is now."""
    if decision is None or decision.first.version != address.version:
        return None
    return decision.subnet if int(decision.first) <= int(address) <= int(decision.last) else None
