"""A spider as people write them: it follows every link, and knows nothing of ipmicra."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.http import Response


class LinkSpider(scrapy.Spider):
    """Follows all links from the start URLs that it is given."""

    name = "links"

    def __init__(self, starts: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = starts.split()

    def parse(self, response: Response, **_kwargs: Any) -> Iterator[Any]:
        yield {"url": response.url, "depth": response.meta["depth"]}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse)


SETTINGS: dict[str, Any] = {
    "ADDONS": {"ipmicra.scrapy.Addon": 100},
    "LOG_LEVEL": "INFO",
    "TELNETCONSOLE_ENABLED": False,
    "RETRY_TIMES": 1,
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_TIMEOUT": 20,
}


def main() -> None:
    """Run a node with the settings and start URLs that the environment has."""
    from scrapy.crawler import AsyncCrawlerProcess
    from scrapy.settings import default_settings as defaults

    given = json.loads(os.environ["NODE"])
    # Delays as they are set, not varied by half; the setting has another name in older versions.
    jitter = (
        "DOWNLOAD_DELAY_JITTER" if hasattr(defaults, "DOWNLOAD_DELAY_JITTER") else "RANDOMIZE_DOWNLOAD_DELAY"
    )
    SETTINGS[jitter] = 0
    process = AsyncCrawlerProcess(SETTINGS | given["settings"])
    process.crawl(LinkSpider, starts=" ".join(given["starts"]))
    process.start()


if __name__ == "__main__":
    main()
