"""Sites that crawlers see at different addresses: how far each is from what it sees, as `delegate` found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ipmicra.edge.store.ports import SiteAnswer, StorePort
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.name import View
from ipmicra.model.site import Site
from ipmicra.model.types import Floats


@dataclass(frozen=True, slots=True)
class SeenSite:
    """A scattered site: what each crawler sees, and the round trip to there."""

    rtt_ms: Mapping[str, float]
    """Of the crawlers that measured it; the others do not see it, or lost the probe."""
    addresses: Mapping[str, Address]

    def row(self, crawlers: Sequence[Crawler]) -> Floats:
        """Return the round trips to crawlers; NaN for those that must not get the site."""
        return np.array([self.rtt_ms.get(one.name, np.nan) for one in crawlers])


@dataclass(frozen=True, slots=True)
class ScatteredTrips:
    """The scattered sites among those to assign, by host."""

    sites: Mapping[str, SeenSite] = field(default_factory=dict)

    def applied(self, hosts: Sequence[str], crawlers: Sequence[Crawler], expected_ms: Floats) -> Floats:
        """Return round trips (hosts × crawlers) with those of scattered sites in place of what was there."""
        rows = [row for row, host in enumerate(hosts) if host in self.sites]
        if not rows:
            return expected_ms
        applied = expected_ms.copy()
        for row in rows:
            applied[row] = self.sites[hosts[row]].row(crawlers)
        return applied

    def address(self, site: Site, crawler: str | None) -> Address:
        """Return the address at which a crawler finds a site."""
        seen = self.sites.get(site.host)
        return site.address if seen is None else seen.addresses.get(crawler or "", site.address)


def scattered_trips(store: StorePort, sites: Sequence[Site], now_s: float) -> ScatteredTrips:
    """Find the sites whose answers of `delegate --resolve-at agents` hold, with at least one round trip."""
    hosts = {site.host: site.address for site in sites}
    answers = {
        host: one
        for host, one in store.site_answers.of(list(hosts)).items()
        if one.delegation.expires_s > now_s and one.delegation.first == hosts[host]
    }
    views = store.views.of(list(answers))
    found = {host: _seen(one, views.get(host, {})) for host, one in answers.items()}
    return ScatteredTrips({host: seen for host, seen in found.items() if seen.rtt_ms})


def _seen(answer: SiteAnswer, views: Mapping[str, View]) -> SeenSite:
    one = answer.delegation
    addresses = {name: view.answer.addresses[0] for name, view in views.items() if view.answer.addresses}
    return SeenSite(
        rtt_ms={each.crawler: each.rtt_ms for each in answer.account if each.rtt_ms is not None},
        addresses={**addresses, one.crawler: one.first},
    )
