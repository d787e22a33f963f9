"""One Scrapy process per crawler, all of them starting at the same moment."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from ipmicra.app.crawl.request import CrawlRequest, NodeFolder
from ipmicra.edge.crawl_node.status import NodeStatus, read_status
from ipmicra.errors import IpmicraError

READY_S, STOP_S = 120.0, 10.0
"""How long nodes may take to start, and to end when they are told to."""
PRELOADED = [
    "ipmicra.app.crawl.run",
    # What Scrapy loads when it starts; none of these makes an event loop.
    "scrapy.core.engine",
    "scrapy.core.scraper",
    "scrapy.core.downloader.contextfactory",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.downloadermiddlewares.cookies",
    "scrapy.downloadermiddlewares.httpcache",
    "scrapy.downloadermiddlewares.httpcompression",
    "scrapy.downloadermiddlewares.redirect",
    "scrapy.extensions.feedexport",
    "scrapy.extensions.memdebug",
    "scrapy.extensions.remote_control",
    "scrapy.extensions.telnet",
]
"""Loaded once; nodes are forked from there: a dozen starts of Scrapy would take longer than a crawl."""


@dataclass(frozen=True, slots=True)
class NodesDone:
    """The nodes at the end, by name, and the processor time that they took."""

    statuses: dict[str, NodeStatus]
    cpu_s: float


def run_nodes(asked: Mapping[str, CrawlRequest], folder: Path, timeout_s: float) -> NodesDone:
    """Run nodes until all have ended; none outlives this call, or this process."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    gate = context.Barrier(len(asked) + 1)
    spent = context.Array("d", len(asked))
    children = [
        context.Process(target=_node, args=(one, folder / name, gate, spent, number), name=name)
        for number, (name, one) in enumerate(asked.items())
    ]
    try:
        _start(children, gate)
        _await(children, time.monotonic() + timeout_s)
    finally:
        _end(children)
    statuses = {name: read_status(folder / name) for name in asked}
    missing = [name for name, status in statuses.items() if status is None or status.state != "finished"]
    if missing:
        raise IpmicraError(f"the nodes {', '.join(missing)} did not finish their crawl")
    return NodesDone({name: one for name, one in statuses.items() if one is not None}, sum(spent[:]))


def stop_forkserver() -> None:
    """End the process that nodes are forked from, if there is one."""
    from multiprocessing import forkserver

    stop = getattr(forkserver._forkserver, "_stop", None)  # noqa: SLF001 - it would end with us, but not before
    if stop is not None:
        stop()


def _start(children: list[ForkServerProcess], gate: Any) -> None:  # noqa: ANN401 - of a context
    for child in children:
        child.start()
    gate.wait(READY_S)


def _await(children: list[ForkServerProcess], deadline_s: float) -> None:
    for child in children:
        child.join(max(0.0, deadline_s - time.monotonic()))
        if child.exitcode is None:
            raise IpmicraError(f"the crawl of {child.name} took too long")
        if child.exitcode:
            raise IpmicraError(f"the node of {child.name} ended with {child.exitcode}")


def _end(children: list[ForkServerProcess]) -> None:
    for child in children:
        if child.is_alive():
            child.terminate()
    for child in children:
        if child.pid is not None:
            child.join(STOP_S)
            if child.is_alive():
                child.kill()
                child.join()


def _end_with(parent: Any) -> None:  # noqa: ANN401 - as above
    """End this process when the one that started it has ended, however it did."""
    if parent is not None:
        parent.join()
        os._exit(1)


def leave_stdout_alone() -> None:
    """Send to stderr what this process and its children print: stdout is the command's, and may be JSON."""
    os.dup2(2, 1)


def _node(asked: CrawlRequest, folder: Path, gate: Any, spent: Any, number: int) -> None:  # noqa: ANN401 - as above
    """Run one node, in a process of its own."""
    from ipmicra.app.crawl.run import crawl

    leave_stdout_alone()
    parent = multiprocessing.parent_process()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    logging.disable(logging.WARNING)  # that links of others are left to them is what is measured
    began_s = time.process_time()
    crawl(asked, NodeFolder(folder), on_ready=lambda: gate.wait(READY_S))
    spent[number] = time.process_time() - began_s
