"""The churn experiment, slow and obviously right: no heap, no counters, all is looked at every time.

Serves first come, first served; a submitted piece goes to the crawler that holds fewest, the lowest number
first.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ipmicra.lab.churn.config import ChurnConfig
from ipmicra.lab.churn.lives import Life


@dataclass
class SlowTask:
    crawler: int | None = None
    order: int = 0
    start: float | None = None
    end: float = 0.0
    is_due_again: bool = False


@dataclass
class SlowChurn:
    steps: list[list[float]]
    """What each crawler needs for each piece."""
    pages: list[int]
    first: list[float]
    lives: list[Life]
    config: ChurnConfig
    done_pages: int = 0
    lost_pages: float = 0.0
    part_pages: float = 0.0
    cancelled: int = 0
    migrated: int = 0
    crawls: list[int] = field(default_factory=list)

    def run(self) -> None:
        self.tasks = [SlowTask() for _ in self.pages]
        self.there: set[int] = set()
        self.crawls = [0] * len(self.pages)
        self.turn = 0
        due = list(self.first)
        joins = [(life.start, life.crawler) for life in self.lives]
        leaves = [(life.end, life.crawler) for life in self.lives]
        while True:
            running = [(task.end, 0, p) for p, task in enumerate(self.tasks) if task.start is not None]
            coming = [*running, *((t, 1, c) for t, c in leaves), *((t, 2, c) for t, c in joins)]
            coming += [(t, 3, p) for p, t in enumerate(due)]
            now, kind, subject = min(coming)
            if now >= self.config.steps:
                break
            if kind == 0:
                self.finish(subject, now)
            elif kind == 1:
                leaves.remove((now, subject))
                self.leave(subject, now)
            elif kind == 2:
                joins.remove((now, subject))
                self.there.add(subject)
                self.serve(subject, now)
            else:
                due[subject] = now + self.config.recrawl_steps
                self.submit(subject, now)
        end = float(self.config.steps)
        for piece, task in enumerate(self.tasks):
            if task.start is not None:
                self.part_pages += self.share(piece, end) * self.pages[piece]

    def share(self, piece: int, now: float) -> float:
        task = self.tasks[piece]
        assert task.start is not None
        assert task.crawler is not None
        return (now - task.start) / self.steps[task.crawler][piece]

    def submit(self, piece: int, now: float) -> None:
        task = self.tasks[piece]
        if task.start is not None:
            task.is_due_again = True
            return
        if task.crawler is not None:
            self.cancelled += 1
            task.crawler = None
        self.give(piece, now)

    def give(self, piece: int, now: float) -> None:
        if not self.there:
            return
        held = {c: sum(task.crawler == c for task in self.tasks) for c in self.there}
        crawler = min(sorted(self.there), key=lambda c: held[c])
        self.turn += 1
        self.tasks[piece].crawler, self.tasks[piece].order = crawler, self.turn
        self.serve(crawler, now)

    def serve(self, crawler: int, now: float) -> None:
        own = [(task.order, p) for p, task in enumerate(self.tasks) if task.crawler == crawler]
        waiting = sorted((order, p) for order, p in own if self.tasks[p].start is None)
        free = self.config.connections - (len(own) - len(waiting))
        for _, piece in waiting[:free]:
            self.tasks[piece].start = now
            self.tasks[piece].end = now + self.steps[crawler][piece]

    def finish(self, piece: int, now: float) -> None:
        task = self.tasks[piece]
        crawler = task.crawler
        assert crawler is not None
        self.done_pages += self.pages[piece]
        self.crawls[piece] += 1
        is_due, self.tasks[piece] = task.is_due_again, SlowTask()
        if is_due:
            self.submit(piece, now)
        self.serve(crawler, now)

    def leave(self, crawler: int, now: float) -> None:
        self.there.remove(crawler)
        own = [p for p, task in enumerate(self.tasks) if task.crawler == crawler]
        runs = sorted((p for p in own if self.tasks[p].start is not None), key=lambda p: self.tasks[p].order)
        waits = sorted((p for p in own if self.tasks[p].start is None), key=lambda p: self.tasks[p].order)
        for piece in runs:
            self.lost_pages += self.share(piece, now) * self.pages[piece]
        for piece in own:
            self.tasks[piece] = SlowTask()
        self.migrated += len(own)
        for piece in [*runs, *waits]:
            self.give(piece, now)
