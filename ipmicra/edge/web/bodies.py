"""Read requests within limits: the length of their headers, the size of a body and the time it may take."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request
from starlette.types import Scope

from ipmicra.errors import MessageError

BAD_REQUEST, TIMED_OUT, TOO_LARGE = 400, 408, 413


class BodyError(MessageError):
    """A body that was not received."""

    def __init__(self, status: int, reason: str) -> None:
        """Keep the status to answer with."""
        super().__init__(reason)
        self.status = status


UNKNOWN_BYTES = 1_000_000
"""What a body counts whose size is not announced."""


def head_bytes(scope: Scope) -> int:
    """Count the bytes of a request's first line and headers.

    h11 bounds only headers that are not complete yet: those that arrive in one piece it takes at any length.
    """
    line = len(scope["raw_path"]) + len(scope["query_string"])
    return line + sum(len(name) + len(value) + len(": \r\n") for name, value in scope["headers"])


def body_bytes(scope: Scope) -> int:
    """Return how large the body of a request is said to be; one of unknown size counts as large."""
    named = dict(scope["headers"])
    announced = named.get(b"content-length", b"0")
    if b"transfer-encoding" in named or not announced.isdigit():
        return UNKNOWN_BYTES
    return int(announced[:18])


async def read_body(request: Request, limit: int, within_s: float) -> bytes:
    """Read a body, up to a size and within a time.

    Raises:
        BodyError: It is too large, too slow or cut off.
    """
    try:
        async with asyncio.timeout(within_s):
            return await _read(request, limit)
    except TimeoutError as error:
        raise BodyError(TIMED_OUT, f"the request did not arrive within {within_s:g} s") from error
    except ClientDisconnect as error:
        raise BodyError(BAD_REQUEST, "the request was cut off") from error


async def _read(request: Request, limit: int) -> bytes:
    check_announced(request, limit)
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > limit:
            raise BodyError(TOO_LARGE, f"the request is over the limit of {limit:,} bytes")
        pieces.append(piece)
    return b"".join(pieces)


def check_announced(request: Request, limit: int) -> None:
    """Refuse a body that is announced as too large, before any of it is read."""
    announced = request.headers.get("content-length", "0")
    if not (announced.isascii() and announced.isdigit()) or int(announced[:20]) > limit:
        raise BodyError(TOO_LARGE, f"a request of {announced[:20]} bytes is over the limit of {limit:,}")
