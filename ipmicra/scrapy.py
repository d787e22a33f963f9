"""Make a Scrapy spider a node of a distributed crawl: `ADDONS = {"ipmicra.scrapy.Addon": 100}`."""

from __future__ import annotations

from ipmicra.app.crawl.addon import Addon

__all__ = ["Addon"]
