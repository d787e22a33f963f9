"""What the store knows of hosts whose names are resolved at agents: who must be asked again, who need not.

Three things spare questions, and the dry run counts with the same rules:

- an answer for a site that crawlers see apart holds for the life of a delegation, until its crawler leaves or
  another one joins;
- a host that all saw alike, and that is pinned to what they saw, stays so for as long;
- any other view holds until it expires, and in a batch that asked for it until the batch ends.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ipmicra.delegate.views import Same, compare
from ipmicra.edge.store.ports import SiteAnswer, StorePort
from ipmicra.model.crawler import Crawler
from ipmicra.model.name import FAILURES, View

Views = dict[str, dict[str, View]]
"""By host and crawler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownViews:
    """What is known at a moment, for the crawlers that can be asked then."""

    store: StorePort
    usable: Sequence[Crawler]
    present: Collection[str]
    """Names of the crawlers that may hold sites, silent ones included."""
    now_s: float
    batch_s: float
    """When the batch began."""
    lifetime_s: float
    """Life of a delegation."""
    is_again: bool = False
    """Whether nothing counts that was known before the batch."""

    @property
    def since_s(self) -> float:
        """From when on something counts."""
        return self.batch_s if self.is_again else self.now_s - self.lifetime_s

    def answer(self, host: str) -> SiteAnswer | None:
        """Return an earlier answer for a site that crawlers see apart, if it holds."""
        found = self.store.site_answers.get(host)
        if found is None or found.delegation.expires_s <= self.now_s:
            return None
        if found.delegation.crawler not in self.present or found.delegation.created_s < self.since_s:
            return None
        is_outdated = any(one.joined_s > found.delegation.created_s for one in self.usable)
        return None if is_outdated else found

    def views(self, hosts: Sequence[str]) -> tuple[Views, dict[str, list[str]]]:
        """Return what crawlers saw of hosts, and which hosts each crawler is to be asked for again."""
        views = self.store.views.of(hosts)
        wanted: dict[str, list[str]] = {one.name: [] for one in self.usable}
        for host in hosts:
            known = views.get(host, {})
            if not self._is_settled(host, known):
                for name, asked in wanted.items():
                    if name not in known or not self._holds(known[name]):
                        asked.append(host)
        return views, wanted

    def _holds(self, view: View) -> bool:
        if view.answer.status in FAILURES or view.asked_s < self.since_s:
            return False
        return view.answer.expires_s > self.now_s or view.asked_s >= self.batch_s

    def _is_settled(self, host: str, known: Mapping[str, View]) -> bool:
        """Return whether all saw the same not long ago, and the host is pinned to that."""
        pin = self.store.sites.get(host)
        seen = [known.get(one.name) for one in self.usable]
        answers = {
            view.crawler: view.answer for view in seen if view is not None and view.asked_s >= self.since_s
        }
        if pin is None or len(answers) < len(self.usable):
            return False
        if any(one.status in FAILURES for one in answers.values()):
            return False
        return compare(answers, len(self.usable), pin.address) == Same(pin.address)
