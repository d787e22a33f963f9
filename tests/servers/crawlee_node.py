"""A node of crawlee that asks a coordinator: URL, token, crawler, start URL; prints what it fetched."""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import timedelta

from crawlee import ConcurrencySettings, Request, service_locator
from crawlee.crawlers import HttpCrawler, HttpCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

from ipmicra import Delegator
from ipmicra.crawlee import OwnedRequests


async def main(url: str, token: str, name: str, start: str) -> None:
    service_locator.set_storage_client(MemoryStorageClient())
    fetched: list[str] = []
    foreign: list[tuple[str, str]] = []

    def on_foreign(request: Request, owner: str) -> None:
        foreign.append((request.url, owner))

    async with Delegator.connect(url, token) as delegator:
        requests = await OwnedRequests.open(delegator, name, on_foreign=on_foreign)
        crawler = HttpCrawler(
            request_manager=requests,
            concurrency_settings=ConcurrencySettings(desired_concurrency=2, max_concurrency=2),
            request_handler_timeout=timedelta(seconds=30),
            configure_logging=False,
            max_request_retries=1,
        )

        @crawler.router.default_handler
        async def handle(context: HttpCrawlingContext) -> None:
            fetched.append(context.request.url)
            page = (await context.http_response.read()).decode()
            await context.add_requests(page.split())

        await crawler.run([start])
    counts = {"own": requests.tally.own, "refused": requests.tally.refused}
    sys.stdout.write(json.dumps({"fetched": sorted(fetched), "foreign": sorted(foreign), **counts}) + "\n")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
