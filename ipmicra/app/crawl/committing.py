"""A node that says what is finished only after its files have it.

The coordinator never delivers a page again that was reported as finished. So records, rows and lengths of
files must be committed before the report: a kill in between repeats a page, the other order would lose it.
"""

from __future__ import annotations

from collections.abc import Callable

from scrapy import Request
from scrapy.settings import BaseSettings

from ipmicra.app.crawl.addon import Addon
from ipmicra.edge.crawl_node.parts import parts_of
from ipmicra.edge.scrapy.attached import attach, node_of
from ipmicra.edge.scrapy.ports import Node, Queue


class CommittingNode:
    """Another node, with a commit before everything that reports."""

    def __init__(self, node: Node, commit: Callable[[], None]) -> None:
        """Wrap a node."""
        self._node, self._commit = node, commit

    def open(self, queue: Queue) -> None:
        """Start with a queue."""
        self._node.open(queue)

    def take(self, request: Request) -> bool:
        """Take a request from the spider."""
        return self._node.take(request)

    def must_wait(self, request: Request) -> bool:
        """Return whether it is too early for a request to leave the queue."""
        return self._node.must_wait(request)

    def may_start(self, request: Request) -> bool:
        """Return whether a request that leaves the queue may be downloaded."""
        return self._node.may_start(request)

    def has_room(self) -> bool:
        """Return whether downloads may start at all."""
        return self._node.has_room()

    def admits(self, request: Request) -> bool:
        """Return whether a request that reached the downloader may be sent."""
        return self._node.admits(request)

    def failed(self, request: Request) -> None:
        """Take note of a request that got no answer."""
        self._node.failed(request)

    def tick(self) -> None:
        """Commit, then do what is due."""
        self._commit()
        self._node.tick()

    def is_waiting(self) -> bool:
        """Return whether anything may still arrive."""
        return self._node.is_waiting()

    def close(self) -> None:
        """Commit, then report the rest."""
        self._commit()
        self._node.close()


class CommittingAddon(Addon):
    """The add-on of a node that writes files of its own."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Put the parts of the node in place, with commits before its reports."""
        super().update_settings(settings)
        attach(self._crawler, CommittingNode(node_of(self._crawler), parts_of(self._crawler).commit))
