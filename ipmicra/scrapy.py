"""Make a Scrapy spider a node of a distributed crawl: `ADDONS = {"ipmicra.scrapy.Addon": 100}`."""

from __future__ import annotations

from ipmicra.errors import EXTRA_OF, MissingExtraError

try:
    from ipmicra.app.crawl.addon import Addon
except ModuleNotFoundError as error:
    package = (error.name or "").partition(".")[0]
    if package not in EXTRA_OF:
        raise
    raise MissingExtraError("a crawl", package) from error

__all__ = ["Addon"]
