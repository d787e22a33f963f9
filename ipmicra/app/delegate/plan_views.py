"""What resolving names at agents would cost, by what the store knows; nobody is asked."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ipmicra.app.delegate.known_views import KnownViews
from ipmicra.delegate.config import DelegatorConfig
from ipmicra.delegate.views import Different, Same, compare
from ipmicra.edge.coordinator.names import NameDeskConfig
from ipmicra.edge.dns.bulk import NO_SITE, in_parts
from ipmicra.edge.dns.one_by_one import REASONS
from ipmicra.edge.files.seeds import Seed, UnresolvedSeed, parse_seed
from ipmicra.edge.store.ports import StorePort
from ipmicra.model.crawler import Crawler
from ipmicra.model.site import Site

AT_ONCE = 500


@dataclass(slots=True)
class NamePlan:
    """Counts what names cost; sites that go the plain way are handed on."""

    store: StorePort
    crawlers: Sequence[Crawler]
    """Those that can be asked."""
    unknown: int = 0
    """Hosts of which it must be asked what crawlers see."""
    apart: int = 0
    """Hosts that crawlers are known to see at different addresses, without an answer that holds."""
    answered: int = 0
    """Such hosts with an answer."""
    most_probes: int = 0
    """For all these."""
    questions: Counter[str] = field(default_factory=Counter)
    """Names that each crawler is to be asked for."""
    _seen: set[int] = field(default_factory=set)

    @property
    def hosts(self) -> int:
        """Count the hosts that are not handed on."""
        return self.unknown + self.apart + self.answered

    @property
    def requests(self) -> int:
        """Count the requests that carry the questions."""
        return sum(-(-count // NameDeskConfig().batch) for count in self.questions.values())

    async def sites(self, texts: Iterable[str]) -> AsyncIterator[Site | UnresolvedSeed]:
        """Return the sites that go the plain way, and the seeds that are none."""
        for part in in_parts(texts, AT_ONCE):
            names: dict[str, Seed] = {}
            for seed in map(parse_seed, part):
                if isinstance(seed, UnresolvedSeed):
                    yield seed
                elif seed.is_range:
                    yield UnresolvedSeed(text=seed.text, reason=NO_SITE)
                elif seed.first is not None:
                    yield Site(seed.host, seed.first)
                elif hash(seed.host) not in self._seen:
                    self._seen.add(hash(seed.host))
                    names[seed.host] = seed
            for found in self._plain(list(names)):
                yield found

    def _plain(self, hosts: list[str]) -> Iterator[Site | UnresolvedSeed]:
        """Count hosts; return those that all crawlers see alike, and those that none sees."""
        now_s = time.time()
        known = KnownViews(
            store=self.store,
            usable=self.crawlers,
            present={one.name for one in self.crawlers},
            now_s=now_s,
            batch_s=now_s,
            lifetime_s=DelegatorConfig().lifetime_s,
        )
        is_answered = {host: known.answer(host) is not None for host in hosts}
        self.answered += sum(is_answered.values())
        open_hosts = [host for host in hosts if not is_answered[host]]
        views, wanted = known.views(open_hosts)
        self.questions.update({name: len(some) for name, some in wanted.items()})
        asked = {host for some in wanted.values() for host in some}
        for host in open_hosts:
            answers = {name: view.answer for name, view in views.get(host, {}).items() if name in wanted}
            pin = self.store.sites.get(host)
            verdict = compare(answers, len(self.crawlers), pin.address if pin else None)
            if host in asked:
                self.unknown += 1
                self.most_probes += len(self.crawlers)
            elif isinstance(verdict, Same):
                yield Site(host, verdict.address)
            elif isinstance(verdict, Different):
                self.apart += 1
                self.most_probes += len(verdict.seen)
            else:
                yield UnresolvedSeed(text=host, reason=REASONS[verdict.status.value])
