"""Who owns hosts, as the mailboxes of crawls want to know it: per site, vantage and piece."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from ipmicra.app.assign.recrawl import note_crawled
from ipmicra.app.crawl.feedback import Feedback
from ipmicra.app.crawl.owners import block_of
from ipmicra.app.serve.deciding import Deciding
from ipmicra.app.serve.owners import Owners
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.app.serve.rendered import Asked
from ipmicra.edge.log import EventLog
from ipmicra.model.address import read_address
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import CrawlerState
from ipmicra.model.link import Share
from ipmicra.model.recrawl import Crawled
from ipmicra.wire.observed import Observed

events = EventLog("crawl")
_FINAL = frozenset({"bad-input", "unresolved"})
"""Refusals that asking again does not change."""

CHANGES, MOST_CHANGES = 10_000, 100_000
"""Changes that are read at a time, and in all."""


class OwnerShares:
    """Asks the coordinator's owners."""

    def __init__(self, owners: Owners, deciding: Deciding) -> None:
        """Ask owners, and the store that they decide in."""
        self._owners, self._deciding = owners, deciding
        self._seen = 0
        """The last change of an assignment that was looked at."""
        self._fleet: tuple[str, ...] = ()
        self._feedback = Feedback(deciding.store, deciding.recheck, deciding.clock)

    def crawlers(self) -> list[str]:
        """Return the crawlers that may have nodes."""
        members = self._deciding.store.crawlers.all()
        return [one.crawler.name for one in members if one.crawler.state is not CrawlerState.LEFT]

    def changed(self) -> Collection[str] | None:
        """Return the hosts that were assigned, or lost by a crawler, since the last call.

        None if all hosts may have other owners: somebody joined or left, or the last call was long ago.
        """
        store = self._deciding.store
        last, fleet, since = store.assignments.last_change(), tuple(self.crawlers()), self._seen
        self._seen = last
        if fleet != self._fleet or last - since > MOST_CHANGES:
            self._fleet = fleet
            return None
        found: dict[str, None] = {}
        while since < last:
            part = store.assignments.changes(since, CHANGES)
            if not part:
                break
            found |= dict.fromkeys(one.host for one in part)
            since = part[-1].seq
        return found

    def crawled(self, pages: Sequence[tuple[str, str, int]]) -> None:
        """Note how many pages sites have: what is assigned next takes it into account."""
        now_s = self._deciding.clock()
        reports = [
            Crawled(host=host, vantage=vantage, pages=count, crawled_s=now_s)
            for host, vantage, count in pages
        ]
        _, findings = note_crawled(self._deciding.store, reports)
        for finding in findings[:10]:
            events.info("pages_not_noted", "{finding}", finding=finding)

    def observed(self, crawler: str, sights: Sequence[Observed]) -> None:
        """Keep what nodes observed, and have sites measured again that have drifted."""
        self._feedback.take(crawler, sights)

    async def shares_of_many(self, hosts: Sequence[str]) -> dict[str, tuple[Share, ...] | str]:
        """Return the shares of hosts; what nobody can tell now is left out."""
        found: dict[str, tuple[Share, ...] | str] = {}
        at = 0
        async for answers in self._owners.many([Asked(host) for host in hosts]):
            for answer in answers:
                share = self._shares(hosts[at], answer)
                if share is not None:
                    found[hosts[at]] = share
                at += 1
        return found

    def _shares(self, host: str, answer: bytes | RefusedError) -> tuple[Share, ...] | str | None:
        if isinstance(answer, RefusedError) and answer.kind.name != "vantage-needed":
            return answer.detail if answer.kind.name in _FINAL else None
        content = {} if isinstance(answer, RefusedError) else json.loads(answer)
        subnet = content.get("subnet") or ""
        held = [one for one in self._deciding.store.assignments.of(host) if one.crawler is not None]
        if held:
            return tuple(_share(one, subnet) for one in held)
        slot = block_of(read_address(content["address"]), subnet)
        return (Share(crawler=content["crawler"], slot=slot),)


def _share(one: Assignment, subnet: str) -> Share:
    return Share(
        crawler=one.crawler or "",
        slot=block_of(one.address, subnet),
        vantage=one.vantage,
        filters=one.filters if one.of > 1 else (),
    )
