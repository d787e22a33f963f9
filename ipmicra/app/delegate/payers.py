"""Several batches that share one machine: who waits for a host, and who pays for its probes.

Theory of operation
-------------------
A coordinator answers questions about single hosts while batches run, all on one machine, so that no subnet
is decided twice. A batch still has a budget, a record and results of its own. One rule settles what that
means when two want the same thing: *the batch whose site opened an attempt pays for all its probes*; sites of
other batches that join the attempt get its answer for nothing, as sites of the same batch do.

A host may be awaited by several batches. Its decision is written as a result of each of them, in the one
transaction that also holds the delegation; only then are they taken off the list. A batch that gave a host up
is taken off as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ipmicra.edge.store.probes import budget_name
from ipmicra.model.delegation import Decision
from ipmicra.model.site import Site


@dataclass(slots=True)
class Payers:
    """Batches by the hosts that they wait for and by the attempts that they pay for."""

    own: int
    """The batch that pays if none was named."""
    _waiting: dict[str, list[int]] = field(default_factory=dict)
    _attempts: dict[int, int] = field(default_factory=dict)
    _shared: list[str] = field(default_factory=list)
    """Hosts whose results are in the transaction that is being written."""

    def wait(self, sites: Iterable[Site], batch: int | None) -> None:
        """Note that a batch waits for sites."""
        number = self.own if batch is None else batch
        for site in sites:
            waiting = self._waiting.setdefault(site.host, [])
            if number not in waiting:
                waiting.append(number)

    def budget_of(self, attempt: int, host: str | None) -> str:
        """Return the budget of an attempt; `host` is the site that has just opened it."""
        number = self._attempts.get(attempt)
        if number is None:
            number = next(iter(self._waiting.get(host or "", ())), self.own)
            self._attempts[attempt] = number
        return budget_name(number)

    def closed(self, attempt: int) -> None:
        """Forget an attempt that is over."""
        self._attempts.pop(attempt, None)

    def share(self, decisions: Iterable[Decision]) -> dict[int, list[Decision]]:
        """Return the results of each batch; `settle` takes their hosts off the list."""
        found: dict[int, list[Decision]] = {}
        for decision in decisions:
            self._shared.append(decision.host)
            for batch in self._waiting.get(decision.host, ()):
                found.setdefault(batch, []).append(decision)
        return found

    def settle(self) -> None:
        """Take the hosts off the list whose results are written."""
        for host in self._shared:
            self._waiting.pop(host, None)
        self._shared = []

    def drop(self, host: str) -> None:
        """Take a host off the list that has no answer."""
        self._waiting.pop(host, None)

    def leave(self, batch: int) -> None:
        """Take a batch off the list altogether: it was cancelled, and what it began is of no use to it."""
        for host in [host for host, batches in self._waiting.items() if batch in batches]:
            self._waiting[host].remove(batch)
            if not self._waiting[host]:
                del self._waiting[host]
