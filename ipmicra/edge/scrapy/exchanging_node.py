"""A node that exchanges links with the others through its coordinator.

Theory of operation
-------------------
The coordinator's ledger is the truth: it knows every link, who owns its site, and whether it is fetched. The
node sends each new link there, whatever its site, and fetches what it is delivered. It keeps little itself:

- the links that were delivered or claimed and are not finished (`held_links.py`); what is finished is looked
  up at every tick.
- the outbox (`outbox.py`), journalled on disk: links and finished links in the order in which they came up.
  Links of a page are sent before, or together with, what says that the page is finished.

So the process may die at any point: what it did not report is delivered again, to it or to another.

*Claims.* Where the node has been alone with a host from its first link on (the coordinator says so), all that
was ever fetched there was found here. What it finds there is queued at once and reported as held; whether a
link is new is known without asking. Up to `most_claimed` links, for the rest may wait elsewhere.

*Leases.* Downloads start only within `lease_s` after the node sent the last message that was answered: later
the sites may be another node's. The time of the answer does not count, because packets that a network lost
are sent again much later. What Scrapy's downloader has, it starts whatever happens: it gets no more of a slot
than it can start within half of another `lease_s` (`must_wait`).

*Moving.* A slot that is to be given up is released once nothing of it is in progress. Its next holder waits
for one polite delay (`hand_over.py`).
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

from scrapy import Request
from scrapy.crawler import Crawler as ScrapyCrawler

from ipmicra.edge.log import EventLog
from ipmicra.edge.scrapy import engine
from ipmicra.edge.scrapy.config import NodeConfig
from ipmicra.edge.scrapy.courier import Courier, Line, Outcome, SessionEndedError
from ipmicra.edge.scrapy.hand_over import HandOver
from ipmicra.edge.scrapy.held_links import NUMBER, HeldLinks
from ipmicra.edge.scrapy.journal import Journal
from ipmicra.edge.scrapy.observing import Observer
from ipmicra.edge.scrapy.outbox import Outbox
from ipmicra.edge.scrapy.ports import Queue
from ipmicra.edge.scrapy.requests import SLOT, headers_of, host_of, link_of, request_of
from ipmicra.errors import InputError, IpmicraError
from ipmicra.partition.exchange.exchange import Send
from ipmicra.wire.links import (
    CrawlState,
    DeliveredLink,
    ExchangeAnswer,
    ExchangeRequest,
    JoinRequest,
)

events = EventLog("scrapy")


class ExchangingNode:
    """Fetches what the coordinator delivers, and reports every link."""

    def __init__(
        self, crawler: ScrapyCrawler, me: JoinRequest, line: Line, journal: Journal, config: NodeConfig
    ) -> None:
        """Take part in a crawl: joins at once, so that wrong settings show before the first request."""
        self._crawler, self._me, self._line, self._journal, self._config = crawler, me, line, journal, config
        self._outbox = Outbox(me.node, journal, config)
        self._observer = Observer()
        self.failed = self._observer.failed
        self._held = HeldLinks()
        self._hand_over = HandOver()
        self._counts: Counter[str] = Counter()  # for Scrapy's statistics, at the next tick
        self._spent_s = 0.0  # processor time of the exchange in this thread
        self._sent_at_s = 0.0  # processor time when the last message was sent
        self._delivery = self._repeated = 0
        self._free: dict[str, int] = {}  # lost slots without work, and the entries to be said before
        self._is_injecting = self._is_closing = False
        self._absent: tuple[str, ...] = ()
        self._join(me)
        self._courier = Courier(line).start()

    def _join(self, me: JoinRequest) -> None:
        """Start a session: what was delivered in another one is void."""
        self._leased_s = time.monotonic()
        answer = self._line.join(me)
        is_same_run = self._journal.run in {None, answer.run}
        if not is_same_run:
            self._journal.clear()
        self._journal.run = answer.run
        self._session, self._lease_s = answer.session, answer.lease_s
        self._is_ended = answer.state is CrawlState.ENDED
        self._held.void(is_same_run=is_same_run)
        self._hand_over.void()
        self._delivery = 0
        self._sent_s = 0.0

    # --- for the scheduler

    def open(self, queue: Queue) -> None:
        """Start with a queue, and with what the journal has."""
        self._queue = queue
        self._added = headers_of(self._crawler.settings)
        self._outbox.restore(time.monotonic())
        self._delay_s = 1.5 * self._crawler.settings.getfloat("DOWNLOAD_DELAY")  # Scrapy varies it by half
        self._observer.connect(self._crawler.signals)

    def take(self, request: Request) -> bool:
        """Report a request as a link, unless it was delivered or repeats one that was."""
        if self._is_injecting:
            return self._queue.push(request)
        key = engine.key_for(request, self._crawler)
        # Most links are known. To look closer at each would cost more than the page.
        if not request.dont_filter and NUMBER not in request.meta and self._outbox.knows(key):
            self._repeated += 1
            return False
        host = host_of(request)
        if host is None or self._is_held(request, host, key):
            return self._queue.push(request)
        if self._outbox.knows(key):
            self._repeated += 1
            return False
        began_s = time.thread_time()
        try:
            is_claimed = self._report(request, key, host)
        except InputError as error:
            return self._keep_here(request, host, error)
        finally:
            self._spent_s += time.thread_time() - began_s
        return self._queue.push(request) if is_claimed else True

    def _is_held(self, request: Request, host: str, key: int) -> bool:
        """Return whether a request is made again for a held link, or is to be made again and again."""
        if self._held.retries(request, key):
            return True
        slot = self._held.slot_of(host)
        if slot is None or not request.dont_filter or request.meta.get("is_start_request"):
            return False
        request.meta[SLOT] = slot
        return True

    def _report(self, request: Request, key: int, host: str) -> bool:
        """Report a new link; return whether it is claimed, and so to be queued."""
        link = link_of(request, key, engine.spider_of(self._crawler), self._added)
        is_claimed = self._held.can_claim(host) and self._held.claims < self._config.most_claimed
        self._outbox.report(link, time.monotonic(), is_urgent=not is_claimed)
        self._counts["claimed" if is_claimed else "links"] += 1
        if is_claimed:
            self._held.claim(host, key, request)
        return is_claimed

    def _keep_here(self, request: Request, host: str, error: InputError) -> bool:
        """Fetch what cannot travel, if its site is ours."""
        slot = self._held.slot_of(host)
        if slot is not None:
            request.meta[SLOT] = slot
            return self._queue.push(request)
        self._counts["unsendable"] += 1
        events.warning("link_unsendable", "{problem}", problem=str(error))
        return False

    def has_room(self) -> bool:
        """Return whether downloads may start: the lease holds, and not too much waits to be said."""
        return not self._outbox.is_full and time.monotonic() - self._leased_s < self._lease_s

    def must_wait(self, request: Request) -> bool:
        """Return whether a request would start so late that its site may be another node's by then."""
        taken = self._held.taken_of(request)
        return taken > 0 and engine.waits_at_downloader(self._crawler, request, taken + 1) > self._lease_s / 2

    def may_start(self, request: Request) -> bool:
        """Return whether a request is still ours; remember it until it is finished."""
        may = self._held.start(request)
        if not may:
            self._counts["discarded"] += 1
        return may

    # --- for the fence

    def admits(self, request: Request) -> bool:
        """Return whether a request goes to a site that was delivered here; set its slot."""
        host = host_of(request)
        if host is None:
            return True
        slot = self._held.slot_of(host)
        if slot is not None:
            request.meta[SLOT] = slot
        elif request.meta.get(NUMBER) not in self._held:
            self._counts["refused"] += 1
            return False
        return True

    # --- for the extension

    def tick(self) -> None:
        """Finish, release, send, receive."""
        began_s, now_s = time.thread_time(), time.monotonic()
        self._finish(now_s)
        for request in self._hand_over.due(now_s):
            self._inject(request)
        outcome = self._courier.collect()
        if outcome is not None:
            self._hear(outcome, now_s)
        # Without work a node does not wait for its batch to fill: what comes back is on it.
        may_hurry = self._has_little or time.process_time() - self._sent_at_s > self._config.least_work_s
        self._outbox.tick(now_s, is_idle=not len(self._held), may_hurry=may_hurry)
        if not self._courier.is_busy and not self._is_ended:
            self._speak(now_s)
        self._spent_s += time.thread_time() - began_s

    def is_waiting(self) -> bool:
        """Return whether the crawl goes on somewhere."""
        return not self._is_ended

    def close(self) -> None:
        """Say what is left and goodbye, if there is time; the journal has it otherwise."""
        now_s = time.monotonic()
        self._is_closing = True
        self._finish(now_s)
        if self._courier.is_busy:
            outcome = self._courier.collect(self._config.leave_s)
            if outcome is not None:
                self._hear(outcome, now_s)
        self._courier.stop()
        self._outbox.write()
        try:
            if not self._courier.is_busy and not self._is_ended:
                self._say_goodbye(now_s)
        except IpmicraError as error:
            events.warning("not_left", "the coordinator was not told of the end: {error}", error=str(error))
        self._line.close()
        self._journal.close()
        self._tell_counts()

    def _say_goodbye(self, now_s: float) -> None:
        # All that waits fits into few messages; each is the oldest of what is left.
        for _ in range(1 + self._outbox.pending // self._config.exchange.batch_urls):
            self._outbox.tick(now_s, is_idle=True)
            if self._outbox.batch is None:
                break
            request = self._message(self._outbox.batch)
            self._outbox.send()
            self._hear(self._line.exchange(request, self._config.leave_s), now_s)
        last = ExchangeRequest(session=self._session, received=self._delivery, is_leaving=True)
        self._line.exchange(last, self._config.leave_s)

    # --- what is finished

    def _finish(self, now_s: float) -> None:
        """Look which requests are no longer in progress, and report links that are finished by that."""
        finished = self._held.finish(engine.in_progress(self._crawler))
        if finished:
            self._counts["fetched"] += len(finished)
            self._outbox.finish(finished, now_s)
            engine.look_again(self._crawler)  # a request may have waited for these

    # --- what is said and heard

    def _speak(self, now_s: float) -> None:
        """Send the batch that waits; without one, ask for links when it is time to."""
        if self._outbox.batch is not None:
            self._send(self._message(self._outbox.batch))
            return
        is_idle = self._is_idle()
        pause_s = self._config.poll_s if self._has_little else self._config.busy_poll_s
        if is_idle or self._to_release() or now_s - self._sent_s >= pause_s:
            self._send(self._message(None, is_idle=is_idle))

    @property
    def _has_little(self) -> bool:
        return len(self._held) < self._config.few

    def _is_idle(self) -> bool:
        return not self._held.is_busy and self._outbox.pending == 0 and engine.is_idle(self._crawler)

    def _message(self, batch: Send | None, *, is_idle: bool = False) -> ExchangeRequest:
        released, has_claimed = self._to_release(), self._held.has_claimed
        return ExchangeRequest(
            session=self._session,
            received=self._delivery,
            links=batch.links if batch else (),
            claimed=tuple([one.key for one in batch.links if has_claimed(one.key)]) if batch else (),
            done=batch.finished if batch else (),
            fetched=batch.fetched if batch else (),
            released=released,
            room=self._room(),
            holding=len(self._held),
            repeated=self._repeated,
            is_idle=is_idle,
            wait_s=min(self._config.wait_s, self._lease_s / 2) if is_idle and not released else 0.0,
            observed=self._observer.due(is_last=is_idle or self._is_closing),
        )

    def _to_release(self) -> tuple[str, ...]:
        """Return the lost slots that can be released: what was fetched there has been said, too."""
        free = self._held.to_release()
        self._free = {slot: self._free.get(slot, self._outbox.queued) for slot in free}
        return tuple(slot for slot in free if self._outbox.said >= self._free[slot])

    def _room(self) -> int:
        """Count the links to ask for; none before all is said that an earlier process had finished."""
        if self._is_closing or not self._outbox.has_said_all_of_before:
            return 0
        return max(0, self._config.window - self._held.delivered)

    def _send(self, request: ExchangeRequest) -> None:
        self._sent_s, self._sent_at_s = time.monotonic(), time.process_time()
        self._outbox.send()
        self._counts["messages"] += 1
        self._courier.send(request)
        self._held.release(request.released)

    def _hear(self, outcome: Outcome, now_s: float) -> None:
        self._tell_counts()
        if isinstance(outcome, ExchangeAnswer):
            self._leased_s = self._sent_s  # not now: the answer may have been long under way
            if len(self._queue):
                engine.look_again(self._crawler)  # the lease may have run out before
            batch = self._outbox.heard(now_s)
            if batch is not None:
                self._counts["sent"] += len(batch.links)
                self._held.heard(batch.fetched)
            self._follow(outcome, now_s)
            return
        self._outbox.failed(now_s)
        if isinstance(outcome, SessionEndedError):
            self._join_again()
        elif isinstance(outcome, InputError):
            self._give_up(str(outcome))
        else:
            self._counts["unanswered"] += 1
            self._sent_s = now_s + 1.0  # a pause beyond the usual one
            events.debug("unanswered", "{error}", error=str(outcome))

    def _follow(self, answer: ExchangeAnswer, now_s: float) -> None:
        """Do what the coordinator says."""
        self._held.lose(answer.lost)
        self._delivery = max(self._delivery, answer.delivery)
        for one in answer.links:
            if self._held.has_claimed(one.link.key):
                self._held.see_host(one)
                self._outbox.finish([one.number] if self._held.adopt(one) else [], now_s)
            elif one.number not in self._held:
                self._outbox.note(one.link.key)
                self._receive(one, answer.delivery, now_s)
        if answer.absent != self._absent:
            self._absent = answer.absent
            if answer.absent:
                names = ", ".join(answer.absent[:10])
                events.warning("nodes_absent", "links wait for nodes of {crawlers}", crawlers=names)
        if answer.state is CrawlState.ENDED and not self._is_ended:
            self._is_ended = True
            self._close_spider("finished")

    def _receive(self, one: DeliveredLink, delivery: int, now_s: float) -> None:
        try:
            request = request_of(one.link, engine.spider_of(self._crawler))
        except InputError as error:
            self._counts["unusable"] += 1
            events.warning("link_unusable", "{problem}", problem=str(error))
            self._outbox.finish([one.number], now_s)
            return
        self._counts["received"] += 1
        self._held.receive(one, delivery, request)
        if one.is_moved and self._delay_s:
            self._hand_over.add(request, now_s + self._delay_s)
        else:
            self._inject(request)

    def _inject(self, request: Request) -> None:
        assert self._crawler.engine is not None  # noqa: S101 - the spider is open
        self._is_injecting = True
        try:
            self._crawler.engine.crawl(request)
        finally:
            self._is_injecting = False

    def _join_again(self) -> None:
        try:
            self._join(replace(self._me, run=self._journal.run))
        except IpmicraError as error:
            events.warning("not_joined", "{error}", error=str(error))
            return
        if self._is_ended:
            self._close_spider("finished")

    def _give_up(self, reason: str) -> None:
        events.warning("refused", "{reason}", reason=reason)
        self._is_ended = True
        self._close_spider("ipmicra: refused by the coordinator")

    def _close_spider(self, reason: str) -> None:
        if not self._is_closing:
            engine.close_spider(self._crawler, reason)

    def _tell_counts(self) -> None:
        values = {"repeated": self._repeated, "exchange_s": self._spent_s + self._courier.spent_s}
        engine.tell_counts(self._crawler, self._counts, values)
