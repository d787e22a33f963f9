"""A small server inside the event loop of a test, whose visits are over before the test is."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from tests.patience import PATIENCE_S

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def talking(talk: Talk, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Let visitors be talked to; return the port, and at the end wait until each has been hung up on."""
    visits: set[asyncio.Task[None]] = set()

    async def visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visits.add(asyncio.current_task())  # type: ignore[arg-type]
        try:
            await talk(reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    server = await asyncio.start_server(visit, "127.0.0.1", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(*visits)
