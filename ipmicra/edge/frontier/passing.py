"""Pass a call on as it is: any method, streams or not, with its metadata, errors, deadline and cancellation.

On the wire a call with one message is a stream of one, so all methods are passed on as streams of bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio

HOP = ("grpc-", ":", "user-agent", "content-type", "te")
"""Beginnings of the metadata that belong to one connection."""


def metadata_of(context: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - grpc has no types
    """Return the metadata of a call that go on with it."""
    return [(name, value) for name, value in context.invocation_metadata() or () if not name.startswith(HOP)]


def open_call(channel: Any, method: str, context: Any) -> Any:  # noqa: ANN401 - grpc has no types
    """Begin the same call at the service, with what is left of its deadline."""
    left_s = context.time_remaining()
    # Without a deadline grpc answers with a time of some hundred years.
    timeout = left_s if left_s is not None and left_s < 1e7 else None  # noqa: PLR2004 - four months
    return channel.stream_stream(method)(metadata=metadata_of(context), timeout=timeout)


async def pass_error(context: Any, error: Any) -> None:  # noqa: ANN401 - grpc has no types
    """End a call as the service ended it."""
    trailing = tuple((name, value) for name, value in error.trailing_metadata() or ())
    await context.abort(error.code(), error.details() or "", trailing)


async def pass_on(channel: Any, method: str, requests: AsyncIterator[bytes], context: Any) -> None:  # noqa: ANN401 - as above
    """Pass a call on, and what comes back."""
    call = open_call(channel, method, context)

    async def send() -> None:
        async for one in requests:
            await call.write(one)
        await call.done_writing()

    sending = asyncio.create_task(send())
    try:
        await context.send_initial_metadata(
            [(name, value) for name, value in await call.initial_metadata() if not name.startswith(HOP)]
        )
        while (one := await call.read()) is not grpc.aio.EOF:
            await context.write(one)
        context.set_trailing_metadata(tuple(await call.trailing_metadata() or ()))
        if await call.code() is not grpc.StatusCode.OK:
            context.set_code(await call.code())
            context.set_details(await call.details())
    except grpc.aio.AioRpcError as error:
        await pass_error(context, error)
    finally:
        sending.cancel()
        call.cancel()
