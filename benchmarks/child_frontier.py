"""A URLFrontier service that only acknowledges, or a proxy: `python -m benchmarks.child_frontier [PORT]`.

With the port of a service it is a proxy of it, which knows the owners of 10,000 hosts. Prints its own port.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from ipmicra.edge.frontier.delivering import Delivery
from ipmicra.edge.frontier.holding import Holding
from ipmicra.edge.frontier.messages import PUT_URLS, AckMessage, BatchAck, DiscoveredBatch, URLItem
from ipmicra.edge.frontier.proxy import FrontierProxy, serve
from ipmicra.edge.frontier.routes import OwnedPart, Routes, Verdict


class Acknowledging(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Acknowledges everything."""

    def service(self, details: Any) -> Any:  # noqa: ANN401 - grpc has no types
        is_single = details.method == PUT_URLS
        return grpc.stream_stream_rpc_method_handler(self._single if is_single else self._batches)

    async def _single(self, requests: AsyncIterator[bytes], context: Any) -> None:  # noqa: ANN401 - as above
        async for data in requests:
            await context.write(AckMessage(ID=URLItem.FromString(data).ID).SerializeToString())

    async def _batches(self, requests: AsyncIterator[bytes], context: Any) -> None:  # noqa: ANN401 - as above
        async for data in requests:
            batch = DiscoveredBatch.FromString(data)
            await context.write(BatchAck(ID=batch.ID, statuses=[0] * len(batch.items)).SerializeToString())


class Known:
    """Knows an owner of every host."""

    async def ask(self, hosts: Sequence[str]) -> AsyncIterator[Verdict]:
        for host in hosts:
            key = f"10.0.{len(host) % 256}.0/24"
            yield Verdict(host=host, parts=(OwnedPart(crawler="fra", key=key, subnet=key),))


def show(port: int) -> None:
    print(port, flush=True)


async def acknowledge() -> None:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((Acknowledging(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    show(port)
    await server.wait_for_termination()


async def proxy(upstream: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{upstream}") as channel:
            routes, holding = (
                Routes(Known(), asyncio.get_running_loop().time),
                Holding(Path(folder) / "held.db"),
            )
            delivery = Delivery(channel, routes, holding)

            async def beside() -> None:
                async with asyncio.TaskGroup() as group:
                    group.create_task(routes.run())
                    group.create_task(delivery.run())
                    group.create_task(holding.run(0.1))

            await serve(FrontierProxy(channel, routes, delivery), "127.0.0.1:0", beside, show)


if __name__ == "__main__":
    asyncio.run(proxy(sys.argv[1]) if len(sys.argv) > 1 else acknowledge())
