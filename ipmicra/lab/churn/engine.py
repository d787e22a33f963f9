"""Runs one scheme of the churn experiment, event by event.

How it works
------------
Time is counted in steps and advances from event to event; between two events nothing changes. Events are in
one heap, ordered by time and, at the same moment, by kind: a download that ends exactly when its crawler
leaves counts as done, a crawler that leaves is gone before another joins, and work is submitted to those that
are there after both. All joins, leaves, snapshots and first submissions are known ahead; ends of downloads
and repeated submissions are pushed while it runs.

A piece of work is idle, queued at one crawler, or executing on one connection of one crawler (`crawling.py`
keeps that state). What becomes of a piece that is due again depends on its state and is a table shared with
the product (`assign.balance.recrawl.NEXT_STEP`): an idle one is submitted, a queued one is cancelled and
submitted again, an executing one is submitted when it ends.

The engine asks the scheme's policy only three questions: who takes a piece, who inherits it when its crawler
leaves, and what a free connection starts next. The policy must not see the true round trips; it learns them
through `measured`, when a download ends, as a real crawler would.

Two details keep it right and fast:

1. An end cannot be taken out of the heap when its crawler leaves. Each start gets a number instead, and an
   end whose number is not the piece's latest is ignored.
2. A leaver's downloads start again from the first page at the heir. What was downloaded is counted as lost,
   so that goodput (pages kept) and gross throughput (all pages) differ by exactly that.

Everything random is drawn from generators seeded by the run's seed, one stream for submissions and one for
the scheme: every scheme sees the same history of crawlers and the same submissions.
"""

from __future__ import annotations

from enum import IntEnum
from heapq import heapify, heappop, heappush

import numpy as np

from ipmicra.assign.balance.recrawl import NEXT_STEP, Step, TaskState
from ipmicra.lab.churn.config import ChurnConfig
from ipmicra.lab.churn.counts import CrawlCounts
from ipmicra.lab.churn.crawling import EXECUTING, Crawling
from ipmicra.lab.churn.lives import Life
from ipmicra.lab.churn.population import ChurnWorld
from ipmicra.lab.churn.scheme import Scheme, SchemePolicy, SchemeView

STEPS = tuple(NEXT_STEP[state] for state in (TaskState.IDLE, TaskState.QUEUED, TaskState.EXECUTING))
"""What becomes of a piece that is due, by the number of its state."""


class Event(IntEnum):
    """What happens; of events at the same moment the lower number comes first."""

    DONE = 0
    LEAVE = 1
    JOIN = 2
    SUBMIT = 3
    SNAPSHOT = 4


class Engine:
    """One run of one scheme."""

    def __init__(
        self, world: ChurnWorld, lives: list[Life], scheme: Scheme, config: ChurnConfig, seed: int
    ) -> None:
        """Queue all events that are known in advance; only the scheme draws more random numbers."""
        self.world, self.config = world, config
        self.work = world.pieces if scheme.is_split else world.whole
        self.crawling = Crawling(world, self.work, config)
        self._pages: list[int] = self.work.pages.tolist()
        self.counts = CrawlCounts(len(self.work))
        rng = np.random.default_rng([seed, 2])
        self.policy: SchemePolicy = scheme.make(
            SchemeView(world=world, crawling=self.crawling, config=config, rng=rng)
        )
        self._is_due = [False] * len(self.work)  # to be submitted once its execution ends
        self._started = [0] * len(self.work)  # distinguishes an old end from a current one
        self._now = 0.0
        self._events = self._known_ahead(lives, np.random.default_rng([seed, 1]))
        heapify(self._events)

    def run(self) -> CrawlCounts:
        """Run to the end."""
        acts = (self._done, self._leave, self._join, self._submit_and_plan, self._snapshot)
        events, end = self._events, self.config.steps
        while events and events[0][0] < end:
            self._now, kind, subject, number = heappop(events)
            acts[kind](subject, number)
        self._close()
        return self.counts

    def _known_ahead(self, lives: list[Life], rng: np.random.Generator) -> list[tuple[float, int, int, int]]:
        """List joins, leaves, snapshots and the first submission of every piece."""
        config, site = self.config, self.work.site
        events = [(life.start, int(Event.JOIN), life.crawler, 0) for life in lives]
        events += [(life.end, int(Event.LEAVE), life.crawler, 0) for life in lives]
        snapshots = range(config.sampled_steps, config.steps, config.sampled_steps)
        events += [(float(step), int(Event.SNAPSHOT), 0, 0) for step in snapshots]
        first = rng.uniform(0, config.submission_steps, self.world.sites)[site]
        if config.are_pieces_spread:
            counts = np.bincount(site, minlength=self.world.sites)
            number = np.arange(len(site)) - (np.cumsum(counts) - counts)[site]
            first = first + number * config.recrawl_steps / counts[site]
        return events + [(step, int(Event.SUBMIT), piece, 0) for piece, step in enumerate(first.tolist())]

    # --- events

    def _join(self, crawler: int, _: int) -> None:
        self.crawling.join(crawler)
        self.policy.joined(crawler, self._now)
        self._serve(crawler)

    def _leave(self, crawler: int, _: int) -> None:
        """Let the heirs execute again what the leaver held, from the first page on."""
        crawling, counts = self.crawling, self.counts
        crawling.leave(crawler)
        inherited = [*crawling.running[crawler], *crawling.queues[crawler]]
        for piece in inherited:
            pages = self._pages[piece]
            if crawling.state[piece] == EXECUTING:
                counts.lost_pages += crawling.done_share(piece, self._now) * pages
                self._started[piece] += 1
            crawling.drop(piece)
            self._is_due[piece] = False
            counts.migrated_pages += pages
        counts.migrated_tasks += len(inherited)
        self.policy.left(crawler, self._now)
        for piece in inherited:
            if self._is_anybody_there():
                self._give(piece, self.policy.heir(piece, crawler, self._now))

    def _submit_and_plan(self, piece: int, _: int) -> None:
        heappush(self._events, (self._now + self.config.recrawl_steps, int(Event.SUBMIT), piece, 0))
        self._submit(piece)

    def _submit(self, piece: int) -> None:
        """Submit a piece; one still queued is cancelled, one still executing is submitted when it ends."""
        step = STEPS[self.crawling.state[piece]]
        self.counts.submitted += 1
        if step is Step.WAIT:
            self._is_due[piece] = True
            return
        if step is Step.CANCEL_AND_SUBMIT:
            self.crawling.drop(piece)
            self.counts.cancelled += 1
        if self._is_anybody_there():
            self._give(piece, self.policy.choose(piece, self._now))

    def _done(self, piece: int, number: int) -> None:
        crawling, counts = self.crawling, self.counts
        if self._started[piece] != number:
            return  # it was lost with its crawler
        crawler = int(crawling.holder[piece])
        rtt_ms = float(self.world.rtt_ms[crawler, self.work.site[piece]])
        counts.complete(piece, crawling.running[crawler][piece], self._now)
        counts.done_pages += self._pages[piece]
        counts.rtt_pages += rtt_ms * self._pages[piece]
        crawling.drop(piece)
        self.policy.measured(piece, crawler, rtt_ms)
        if self._is_due[piece]:
            self._is_due[piece] = False
            self._submit(piece)
        self._serve(crawler)

    def _snapshot(self, _subject: int, _number: int) -> None:
        self.counts.take_snapshot(self.crawling, self.world.rtt_ms, self._now)

    # --- what events have in common

    def _is_anybody_there(self) -> bool:
        """Return whether any crawler can take work; otherwise it waits for its next submission."""
        if self.crawling.is_there.any():
            return True
        self.counts.unplaced += 1
        return False

    def _give(self, piece: int, crawler: int) -> None:
        self.crawling.queue(piece, crawler)
        self._serve(crawler)

    def _serve(self, crawler: int) -> None:
        """Let free connections start what the policy names."""
        crawling = self.crawling
        while crawling.has_free_connection(crawler):
            piece = self.policy.next_for(crawler, self._now)
            if piece is None:
                return
            self._count_start(piece, crawler)
            self._started[piece] += 1
            done = crawling.start(piece, crawler, self._now)
            heappush(self._events, (done, int(Event.DONE), piece, self._started[piece]))

    def _count_start(self, piece: int, crawler: int) -> None:
        before, pages = int(self.crawling.last_crawler[piece]), self._pages[piece]
        if before >= 0:
            self.counts.started_again_pages += pages
            self.counts.elsewhere_pages += pages * (before != crawler)

    def _close(self) -> None:
        """Count the downloaded part of pieces that are not done at the end."""
        end, crawling = float(self.config.steps), self.crawling
        for piece in np.flatnonzero(crawling.state == EXECUTING).tolist():
            self.counts.part_pages += crawling.done_share(piece, end) * self._pages[piece]
