"""The add-on that makes a spider a node: it puts scheduler, fence and extension into Scrapy's settings."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Self

from scrapy.crawler import Crawler as ScrapyCrawler
from scrapy.dupefilters import BaseDupeFilter
from scrapy.settings import BaseSettings

from ipmicra.app.crawl.owners import read_owners
from ipmicra.app.crawl.settings import NodeSettings, read_settings, read_token
from ipmicra.edge.scrapy.address_fence import ADDRESSES_ORDER, AddressFence, attach_guard, guard_of
from ipmicra.edge.scrapy.address_guard import AddressGuard
from ipmicra.edge.scrapy.assigned_node import AssignedNode
from ipmicra.edge.scrapy.attached import attach
from ipmicra.edge.scrapy.config import NodeConfig
from ipmicra.edge.scrapy.courier import Address, Line
from ipmicra.edge.scrapy.exchanging_node import ExchangingNode
from ipmicra.edge.scrapy.extension import NodeExtension
from ipmicra.edge.scrapy.fence import FENCE_ORDER, OwnSitesFence
from ipmicra.edge.scrapy.journal import Journal
from ipmicra.edge.scrapy.ports import Node
from ipmicra.edge.scrapy.scheduler import DeliveredScheduler, Scheduler
from ipmicra.errors import InputError, IpmicraError
from ipmicra.wire.links import JoinRequest, is_name

_PRIORITY = "addon"


class Addon:
    """Scrapy add-on: `ADDONS = {"ipmicra.scrapy.Addon": 100}`."""

    def __init__(self, crawler: ScrapyCrawler) -> None:
        """Serve one Scrapy crawler."""
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: ScrapyCrawler) -> Self:
        """Make the add-on of a Scrapy crawler."""
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        """Check the settings and put the parts of the node in place.

        Raises:
            SystemExit: A setting is wrong; the sentence says which, and nothing has been requested.
        """
        try:
            given = read_settings(_own_settings(settings))
            if guard_of(self._crawler) is None:
                attach_guard(self._crawler, AddressGuard(given.allowed))
            node = self._assigned(given) if given.assignments else self._exchanging(given, settings)
        except (IpmicraError, OSError) as error:
            raise SystemExit(f"ipmicra: {error}") from error
        attach(self._crawler, node)
        settings.set("SCHEDULER", Scheduler if given.assignments else DeliveredScheduler, _PRIORITY)
        if given.coordinator:
            settings.set("DUPEFILTER_CLASS", BaseDupeFilter, _PRIORITY)  # the ledger knows what was seen
        settings["DOWNLOADER_MIDDLEWARES"].set(OwnSitesFence, FENCE_ORDER, _PRIORITY)
        settings["DOWNLOADER_MIDDLEWARES"].set(AddressFence, ADDRESSES_ORDER, _PRIORITY)
        settings["EXTENSIONS"].set(NodeExtension, 0, _PRIORITY)

    def _assigned(self, given: NodeSettings) -> Node:
        """Make a node that knows its sites from a file."""
        assert given.assignments is not None  # noqa: S101 - the settings have been checked
        owners = read_owners(given.assignments)
        if given.crawler not in owners.crawlers:
            raise InputError(_no_such_crawler(given, owners.crawlers))
        return AssignedNode(self._crawler, given.crawler, owners, given.mode, given.unknown_hosts)

    def _exchanging(self, given: NodeSettings, settings: BaseSettings) -> Node:
        """Make a node that has joined a crawl."""
        assert given.coordinator is not None  # noqa: S101 - the settings have been checked
        crawl = given.crawl or self._crawler.spidercls.name
        if not is_name(crawl):
            raise InputError(
                f"{crawl!r} cannot name a crawl: set IPMICRA_CRAWL to letters, digits, `-` and `_`"
            )
        address = Address(
            url=given.coordinator,
            crawl=crawl,
            token=read_token(given, os.environ),
            ca=None if given.ca is None else str(given.ca),
        )
        folder = settings.get("JOBDIR")
        journal = Journal(Path(folder) if folder else None)
        me = JoinRequest(node=given.node, crawler=given.crawler, run=journal.run)
        return ExchangingNode(self._crawler, me, Line(address), journal, NodeConfig())


def _own_settings(settings: BaseSettings) -> dict[str, object]:
    return {str(name): settings[name] for name in settings if str(name).startswith("IPMICRA_")}


def _no_such_crawler(given: NodeSettings, known: list[str]) -> str:
    near = difflib.get_close_matches(given.crawler, known, 1)
    hint = f"did you mean {near[0]}" if near else f"there are {', '.join(known[:10])}"
    return f"IPMICRA_CRAWLER = {given.crawler!r} owns nothing in {given.assignments}: {hint}?"
