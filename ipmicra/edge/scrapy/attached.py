"""Which node a Scrapy process has: Scrapy makes scheduler, fence and extension itself, by class."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler as ScrapyCrawler

from ipmicra.edge.scrapy.ports import Node
from ipmicra.errors import InputError

_nodes: WeakKeyDictionary[Any, Node] = WeakKeyDictionary()


def attach(crawler: ScrapyCrawler, node: Node) -> None:
    """Make a Scrapy crawler work for a node."""
    _nodes[crawler] = node


def node_of(crawler: ScrapyCrawler) -> Node:
    """Return the node that a Scrapy crawler works for."""
    try:
        return _nodes[crawler]
    except KeyError:
        raise InputError(
            "this part of ipmicra needs its add-on: ADDONS = {'ipmicra.scrapy.Addon': 100}"
        ) from None
