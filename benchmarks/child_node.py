"""Crawl the web of `benchmarks.node` with Scrapy, plain or as a node; print pages and times as JSON.

The environment has what to do: `NODE` is JSON with settings and start URLs, `http_proxy` names the web.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess

from tests.servers.spider import LinkSpider

QUIET = {"LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False, "DOWNLOAD_DELAY": 0}


def main() -> None:
    given = json.loads(os.environ["NODE"])
    process = AsyncCrawlerProcess(QUIET | given["settings"])
    crawler = process.create_crawler(LinkSpider)
    began: dict[str, float] = {}

    def opened() -> None:
        began.update(wall=time.perf_counter(), cpu=time.process_time())

    def closed() -> None:
        stats: dict[str, Any] = crawler.stats.get_stats() if crawler.stats else {}
        told = {
            "pages": stats.get("response_received_count", 0),
            "exchange_s": stats.get("ipmicra/exchange_s", 0.0),
            "wall_s": time.perf_counter() - began["wall"],
            "cpu_s": time.process_time() - began["cpu"],
        }
        print(json.dumps(told), flush=True)

    crawler.signals.connect(opened, signals.spider_opened)
    crawler.signals.connect(closed, signals.spider_closed)
    process.crawl(crawler, starts=" ".join(given["starts"]))
    process.start()


if __name__ == "__main__":
    main()
