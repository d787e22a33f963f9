"""What a node has to say to its coordinator: links and finished links, in order, kept on disk until heard.

Links that somebody may wait for go out after `urgent_s`. What the node claimed or finished is news for
nobody, so it waits longer, for more of it to come: a message costs as much as many links. The disk has all of
it at the next tick in any case.
"""

from __future__ import annotations

from collections.abc import Sequence

from ipmicra.edge.scrapy.config import NodeConfig
from ipmicra.edge.scrapy.journal import Journal
from ipmicra.model.link import Link
from ipmicra.partition.exchange.exchange import (
    Action,
    Delivered,
    Entry,
    Failed,
    Fetched,
    Finished,
    Found,
    Keep,
    Restored,
    Send,
    Tick,
    UrlExchange,
)

LEDGER = "ledger"
"""The one receiver of the exchange."""


class Outbox:
    """The exchange with the coordinator as its one receiver, and the journal of what waits."""

    def __init__(self, name: str, journal: Journal, config: NodeConfig) -> None:
        """Start empty."""
        self._exchange = UrlExchange(name, lambda _host: LEDGER, config.exchange)
        self._journal, self._config = journal, config
        self._unwritten: list[Entry] = []
        self._urgent_since_s: float | None = None
        self._unsaid = self.queued = self.said = 0
        self.batch: Send | None = None
        """To be sent as soon as the line is free."""
        self._under_way: Send | None = None

    def restore(self, now_s: float) -> None:
        """Take up what an earlier process could not say."""
        entries = self._journal.entries()
        self._unsaid = self.queued = len(entries)
        self._exchange.handle(Restored(receiver=LEDGER, entries=entries), now_s)

    @property
    def is_full(self) -> bool:
        """Whether so much waits that nothing more should be fetched."""
        return self._exchange.is_full

    @property
    def pending(self) -> int:
        """Entries that have not been heard of."""
        return self._exchange.pending

    @property
    def has_said_all_of_before(self) -> bool:
        """Whether the coordinator knows all that an earlier process had to say."""
        return self._unsaid <= 0

    def knows(self, key: int) -> bool:
        """Return whether a link was found or noted before."""
        return self._exchange.knows(key)

    def note(self, key: int) -> None:
        """Note a link that the coordinator knows: to find it is no news."""
        self._exchange.note(key)

    # --- what there is to say

    def report(self, link: Link, now_s: float, *, is_urgent: bool) -> None:
        """Report a link that is new."""
        if is_urgent and self._urgent_since_s is None:
            self._urgent_since_s = now_s
        self._act(self._exchange.handle(Found(links=(link,)), now_s))

    def finish(self, entries: Sequence[int | Fetched], now_s: float) -> None:
        """Report that links are finished."""
        if entries:
            self._act(self._exchange.handle(Finished(receiver=LEDGER, entries=entries), now_s))

    def tick(self, now_s: float, *, is_idle: bool = False, may_hurry: bool = True) -> None:
        """Make a batch of what waits, if it is time to, and write down what is new."""
        urgent_s = self._urgent_since_s
        is_due = urgent_s is not None and may_hurry and now_s - urgent_s >= self._config.urgent_s
        early_s = self._config.exchange.flush_after_s if is_idle or is_due else 0.0
        self._act(self._exchange.handle(Tick(), now_s + early_s))
        self.write()

    def _act(self, actions: list[Action]) -> None:
        for action in actions:
            if isinstance(action, Keep):
                self._unwritten += action.entries
                self.queued += len(action.entries)
            elif isinstance(action, Send):
                self.batch = action
                self._urgent_since_s = None

    def write(self) -> None:
        """Keep what is to be said, before any of it is."""
        if self._unwritten:
            self._journal.append(self._unwritten)
            self._unwritten = []

    # --- what becomes of it

    def send(self) -> None:
        """Note that the batch goes out."""
        self.batch, self._under_way = None, self.batch

    def heard(self, now_s: float) -> Send | None:
        """Note that the message under way was understood; return its batch, if it had one."""
        batch, self._under_way = self._under_way, None
        if batch is not None:
            self._journal.drop(len(batch))
            self._unsaid -= len(batch)
            self.said += len(batch)
            self._act(self._exchange.handle(Delivered(receiver=LEDGER), now_s))
        return batch

    def failed(self, now_s: float) -> None:
        """Note that the message under way may not have arrived; its batch is sent again after a pause."""
        batch, self._under_way = self._under_way, None
        if batch is not None:
            self._act(self._exchange.handle(Failed(receiver=LEDGER), now_s))
