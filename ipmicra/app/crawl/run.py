"""Run one crawl node: Scrapy in this process, with the frontier, outputs and status of a folder.

Theory of operation
-------------------
A node's folder holds everything: `crawl.db` (the frontier), the growing WARC files and tables, `status.json`.
A *turn* is one crawl of the sites. It ends when nothing is left to fetch; the next call starts another turn,
which asks for known pages only if they have changed. A call that finds a turn unfinished, because of Ctrl-C,
a kill or a limit, resumes it: URLs in flight wait again, files are cut to what was committed.

Scrapy runs its own event loop and signal handlers: the first Ctrl-C lets downloads in flight finish, a second
one ends at once, which is the same as a kill.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.crawler import Crawler as ScrapyCrawler
from scrapy.utils.asyncio import create_looping_call

from ipmicra.app.crawl.committing import CommittingAddon
from ipmicra.app.crawl.owners import read_owners
from ipmicra.app.crawl.request import CrawlRequest, NodeFolder
from ipmicra.app.crawl.spider import SiteSpider
from ipmicra.edge.crawl_node import middlewares as own
from ipmicra.edge.crawl_node.frontier import Frontier
from ipmicra.edge.crawl_node.journal import Journal
from ipmicra.edge.crawl_node.names import HOSTS, Blocks, HostsResolver, read_hosts
from ipmicra.edge.crawl_node.outputs import Outputs
from ipmicra.edge.crawl_node.parts import Parts, attach_parts
from ipmicra.edge.crawl_node.scheduler import COMMIT_S, DurableScheduler, scheduler_of
from ipmicra.edge.crawl_node.status import NodeStatus
from ipmicra.edge.crawl_node.tables import Change, TableOutput, to_parquet
from ipmicra.edge.crawl_node.warc import WarcOutput
from ipmicra.edge.hierarchy_file import write_atomically
from ipmicra.edge.scrapy.address_fence import ADDRESSES_ORDER, AddressFence, attach_guard
from ipmicra.edge.scrapy.address_guard import AddressGuard
from ipmicra.errors import IpmicraError, StoreError
from ipmicra.model.foreign_text import csv_text

STATUS_S, RECENT = 1.0, 10
"""How often the status is written, and over how many of these the recent rate is taken."""
_LEFT_OUT_DOWNLOADER = (
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware",
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware",
    "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware",
    "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware",
    "scrapy.downloadermiddlewares.stats.DownloaderStats",
)
_LEFT_OUT_SPIDER = (
    "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware",
    "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware",
    "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware",
)
_LEFT_OUT_EXTENSIONS = (
    "scrapy.extensions.corestats.CoreStats",
    "scrapy.extensions.logcount.LogCount",
    "scrapy.extensions.logstats.LogStats",
    "scrapy.extensions.memusage.MemoryUsage",
    "scrapy.extensions.remote_control.RemoteControl",
    "scrapy.extensions.telnet.TelnetConsole",
)
"""Parts of Scrapy that a node replaces or has no use for; each costs time for every page."""
CRAWLED_COLUMNS = ("host", "pages", "crawled", "started")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlReport:
    """How a run ended."""

    status: NodeStatus
    folder: Path
    files: tuple[Path, ...]
    """Complete files of this turn."""


def crawl(
    asked: CrawlRequest,
    folder: NodeFolder,
    on_status: Callable[[NodeStatus], object] = lambda _: None,
    on_ready: Callable[[], object] = lambda: None,
) -> CrawlReport:
    """Crawl until nothing is left, a limit is reached or somebody interrupts.

    `on_ready` is called before the first request; nodes that are compared wait there for each other.
    """
    with ExitStack() as stack:
        stack.enter_context(folder.locked())
        frontier = stack.enter_context(Frontier.open(folder.database))
        node = _Node(asked, folder, frontier, on_status)
        node.run(on_ready)
        return node.finish()


def _node_settings(asked: CrawlRequest, folder: NodeFolder) -> dict[str, Any]:
    """Return the settings that make it a node of a distributed crawl; none if it works alone."""
    common = {"ADDONS": {CommittingAddon: 100}, "IPMICRA_CRAWLER": asked.crawler, "IPMICRA_NODE": asked.node}
    if asked.assignments is not None:
        return common | {"IPMICRA_ASSIGNMENTS": str(asked.assignments), "IPMICRA_MODE": asked.mode}
    if asked.coordinator is None:
        return {}
    access = asked.coordinator
    files = {"IPMICRA_TOKEN_FILE": access.token, "IPMICRA_CA": access.authority}
    return common | {
        "IPMICRA_COORDINATOR": access.url,
        "IPMICRA_CRAWL": access.crawl,
        "JOBDIR": str(folder.job),
        **{name: str(path) for name, path in files.items() if path is not None},
    }


def _quiet_process(settings: dict[str, Any]) -> AsyncCrawlerProcess:
    """Make Scrapy's process; it would log everything, whatever level was asked for."""
    level = logging.getLogger().getEffectiveLevel()
    before = logging.root.manager.disable
    logging.disable(max(before, level - 1))
    try:
        process = AsyncCrawlerProcess(settings)
    finally:
        logging.disable(before)
    logging.getLogger("scrapy").setLevel(logging.NOTSET)
    return process


class _Node:
    """A run of a node."""

    def __init__(
        self,
        asked: CrawlRequest,
        folder: NodeFolder,
        frontier: Frontier,
        on_status: Callable[[NodeStatus], object],
    ) -> None:
        self._asked, self._folder, self._frontier, self._on_status = asked, folder, frontier, on_status
        self._hosts = read_hosts(asked.hosts) if asked.hosts else {}
        self._started_s = time.time()
        self._began_s = self._told_s = time.monotonic()
        self._turn = self._begin_turn()
        prefix = f"{asked.node}-{self._turn:04}"
        self._outputs = Outputs(folder.path, frontier)
        warc = WarcOutput(self._outputs, prefix, asked.warc_bytes) if asked.has_warc else None
        self._journal = Journal(frontier, TableOutput(self._outputs, prefix), warc)
        self._process = _quiet_process(self._settings())
        self._crawler: ScrapyCrawler = self._process.create_crawler(SiteSpider)
        attach_parts(self._crawler, self._parts())
        attach_guard(self._crawler, self._guard())
        self._recent: deque[tuple[float, int]] = deque(maxlen=RECENT)
        self._reason = "shutdown"
        self._load = 0, 0, 0
        """Bytes, queued requests and duplicates when the scheduler was last seen."""
        self._last: NodeStatus | None = None
        self._trouble: StoreError | OSError | None = None
        """Why nothing can be written any more."""
        self._stopping: asyncio.Future[None] | None = None
        self._loop = create_looping_call(self._tick)
        self._crawler.signals.connect(self._opened, signals.spider_opened)
        self._crawler.signals.connect(self._closed, signals.spider_closed)

    def _begin_turn(self) -> int:
        frontier = self._frontier
        turn = int(frontier.fact("turn") or 0)
        if turn == 0 or frontier.fact("turn_ended") or self._asked.is_again:
            turn += 1
            frontier.start_turn()
            frontier.keep_fact("turn", str(turn))
            frontier.keep_fact("turn_ended", "")
            frontier.keep_fact("turn_started_s", repr(self._started_s))
        elif self._asked.coordinator is not None:
            frontier.start_turn()  # the coordinator keeps the queue, and delivers what is not finished again
        frontier.commit()
        return turn

    def run(self, on_ready: Callable[[], object]) -> None:
        """Let Scrapy run until it ends."""
        self._on_ready = on_ready
        owners = read_owners(self._asked.assignments) if self._asked.assignments else None
        self._process.crawl(self._crawler, self._asked, self._frontier, self._journal, owners)
        self._process.start()

    def finish(self) -> CrawlReport:
        """Close the files; at the end of a turn say what was crawled."""
        if self._trouble is not None:
            raise self._trouble
        scheduler_left = self._last.queued if self._last else 0
        is_done = self._reason == "finished" and not scheduler_left
        files: list[Path] = []
        if is_done:
            self._frontier.keep_fact("turn_ended", repr(time.time()))
            write_atomically(self._folder.crawled, [self._crawled().encode()])
        self._outputs.close(is_done=is_done)
        if is_done:
            files = sorted(self._folder.path.glob(f"{self._asked.node}-{self._turn:04}-*"))
            if self._asked.is_parquet:
                files += [to_parquet(path) for path in files if path.suffix == ".csv"]
        state = "interrupted"
        if self._reason == "finished":
            state = "limit" if scheduler_left else "finished"
        status = self._status(state)
        status.write(self._folder.path)
        return CrawlReport(status=status, folder=self._folder.path, files=tuple(files))

    def _settings(self) -> dict[str, Any]:
        asked, limits = self._asked, self._asked.limits
        return {
            "LOG_INSTALL_ROOT_HANDLER": False,
            **_node_settings(asked, self._folder),
            HOSTS: self._hosts,
            "SCHEDULER": DurableScheduler,
            "TWISTED_DNS_RESOLVER": HostsResolver,
            "DOWNLOADER_MIDDLEWARES": {
                **dict.fromkeys(_LEFT_OUT_DOWNLOADER),
                own.BlockSlots: own.BLOCKS_ORDER,
                own.Conditions: own.CONDITIONS_ORDER,
                own.Robots: own.ROBOTS_ORDER,
                own.Recorder: own.RECORDER_ORDER,
                AddressFence: ADDRESSES_ORDER,
            },
            "SPIDER_MIDDLEWARES": dict.fromkeys(_LEFT_OUT_SPIDER),
            "EXTENSIONS": dict.fromkeys(_LEFT_OUT_EXTENSIONS),
            "REFERRER_POLICY": "no-referrer",
            "ROBOTSTXT_OBEY": True,
            "USER_AGENT": asked.user_agent,
            "COOKIES_ENABLED": False,
            "DOWNLOAD_DELAY": limits.delay_s,
            "DOWNLOAD_DELAY_JITTER": 0.0,
            "CONCURRENT_REQUESTS_PER_DOMAIN": limits.per_slot,
            # The scheduler hands out no more than the connections; each may wait for a robots.txt.
            "CONCURRENT_REQUESTS": 2 * limits.connections + 1,
            "DOWNLOAD_MAXSIZE": asked.page_bytes,
            "DOWNLOAD_WARNSIZE": 0,
            "DOWNLOAD_TIMEOUT": asked.timeout_s,
            "DEPTH_LIMIT": asked.depth or 0,
            # Scrapy would start a hundred tasks for the links of each page.
            "CONCURRENT_ITEMS": 1,
            "WARN_ON_GENERATOR_RETURN_VALUE": False,
        }

    def _guard(self) -> AddressGuard:
        asked = self._asked
        hint = "--allow PREFIX permits it"
        return AddressGuard(asked.allowed, hosts=self._hosts, seeds=asked.own_places, hint=hint)

    def _parts(self) -> Parts:
        return Parts(
            frontier=self._frontier,
            limits=self._asked.limits,
            blocks=Blocks(self._hosts),
            source=self._asked.source,
            journal=self._journal,
            commit=self._commit,
            is_delivered=self._asked.coordinator is not None,
        )

    def _opened(self) -> None:
        self._on_ready()
        self._loop.start(COMMIT_S, now=True)

    def _closed(self, reason: str) -> None:
        self._reason = reason
        self._last = self._status("crawling")
        if self._loop.running:
            self._loop.stop()

    def _commit(self) -> None:
        """Settle what is finished, and commit it with the files."""
        scheduler = scheduler_of(self._crawler)
        if scheduler is not None:
            scheduler.settle()
        self._outputs.commit()

    def _tick(self) -> None:
        try:
            self._commit()
            self._tell()
        except (StoreError, OSError) as error:  # what is not committed yet is fetched again by the next run
            self._trouble = error
            self._loop.stop()
            self._stopping = asyncio.ensure_future(self._process.stop())

    def _tell(self) -> None:
        now_s = time.monotonic()
        if self._last is None or now_s - self._told_s >= STATUS_S:
            self._told_s = now_s
            self._last = self._status("crawling")
            self._recent.append((now_s, self._last.pages))
            self._last.write(self._folder.path)
            self._on_status(self._last)

    def _status(self, state: str) -> NodeStatus:
        spider = self._crawler.spider
        if not isinstance(spider, SiteSpider):
            raise IpmicraError("Scrapy did not start: `ipmicra --log-level debug crawl …` shows why")
        counts, now_s = spider.counts, time.time()
        scheduler = scheduler_of(self._crawler)
        if scheduler is not None:
            self._load = scheduler.load.received, len(scheduler), scheduler.load.duplicates
        received, queued, duplicates = self._load
        tick_s = time.monotonic()
        before_s, before = self._recent[0] if self._recent else (self._began_s, 0)
        return NodeStatus(
            node=self._asked.node,
            crawler=self._asked.crawler,
            state=state,
            turn=self._turn,
            pid=os.getpid(),
            started_s=self._started_s,
            updated_s=now_s,
            pages=counts.pages,
            bytes=received,
            pages_per_s=round(counts.pages / max(1e-3, tick_s - self._began_s), 2),
            recent_pages_per_s=round((counts.pages - before) / max(1e-3, tick_s - before_s), 2),
            queued=queued,
            in_flight=scheduler.in_flight if scheduler is not None else 0,
            new=counts.changes[Change.NEW],
            changed=counts.changes[Change.CHANGED],
            unchanged=counts.changes[Change.UNCHANGED],
            problems=counts.problems,
            forbidden=counts.forbidden,
            refused=counts.refused,
            foreign=len(counts.foreign),
            sent=int(self._crawler.stats.get_value("ipmicra/sent", 0)),
            duplicates=counts.repeated + duplicates,
            first_byte_ms=round(counts.first_byte_s / counts.timed * 1e3, 1) if counts.timed else None,
        )

    def _crawled(self) -> str:
        """Return a table of the hosts of this turn, their pages and times."""
        since_s = float(self._frontier.fact("turn_started_s"))
        pages = self._frontier.pages_since(since_s)
        ended = datetime.now(UTC).isoformat(timespec="seconds")
        began = datetime.fromtimestamp(since_s, UTC).isoformat(timespec="seconds")
        counts: dict[str, int] = {}
        for url in pages:
            host = urlsplit(url).hostname or ""
            counts[host] = counts.get(host, 0) + 1
        return csv_text(
            CRAWLED_COLUMNS, ((host, count, ended, began) for host, count in sorted(counts.items()))
        )
