"""Requests to a coordinator: with a token, a deadline and patience.

A coordinator that restarts, is busy or cannot decide for a moment says so (503, 429, `Retry-After`), or does
not answer at all. Every request here may be repeated: questions change nothing that asking again would not,
and what is started carries its own name. So those are tried again, with growing pauses in which chance keeps
many clients from coming back at the same moment, until a deadline.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp

from ipmicra.edge.tls import context_for
from ipmicra.errors import CoordinatorError, InputError

BUSY = {429, 503}
_FIRST_ERROR = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkConfig:
    """How patient a client is."""

    deadline_s: float = 120.0
    """How long a request may be tried in all, until its answer begins."""
    first_pause_s: float = 0.2
    longest_pause_s: float = 10.0
    silence_s: float = 120.0
    """How long a stream may say nothing."""
    connect_s: float = 10.0


@dataclass(slots=True)
class CoordinatorLink:
    """A connection to a coordinator; use as an asynchronous context."""

    url: str
    token: str | None = None
    authority: Path | None = None
    """Certificate of the CA, or of the coordinator itself; None for those of the system."""
    config: LinkConfig = field(default_factory=LinkConfig)
    chance: random.Random = field(default_factory=random.Random)
    _session: aiohttp.ClientSession | None = None

    def __post_init__(self) -> None:
        """Refuse what is no address of a coordinator."""
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise InputError(f"{self.url!r} is no coordinator: use http://HOST:PORT or https://HOST:PORT")
        self.url = self.url.rstrip("/")

    async def __aenter__(self) -> Self:
        """Get ready; nothing is sent yet."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            context = context_for(file=self.authority) if self.authority else None
        except OSError as error:
            raise InputError(f"{self.authority}: {error.strerror or error}") from error
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=self.config.connect_s, sock_read=self.config.silence_s
        )
        connector = aiohttp.TCPConnector(ssl=context if context is not None else True)
        self._session = aiohttp.ClientSession(headers=headers, timeout=timeout, connector=connector)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        if self._session is not None:
            await self._session.close()

    async def json(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, str] | None = None,
        body: object = None,
        lines: bytes | None = None,
    ) -> dict[str, Any]:
        """Return an answer that is one object."""
        async with self.asked(method, path, parameters, body, lines) as response:
            found: dict[str, Any] = await response.json()
            return found

    async def text(self, path: str, parameters: Mapping[str, str]) -> str:
        """Return an answer that is text."""
        async with self.asked("GET", path, parameters) as response:
            return await response.text()

    async def lines(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, str] | None = None,
        lines: bytes | None = None,
    ) -> AsyncIterator[dict[str, Any]]:
        """Return the objects of a stream as they come."""
        async with self.asked(method, path, parameters, lines=lines) as response:
            try:
                async for line in response.content:
                    yield json.loads(line)
            except (aiohttp.ClientError, TimeoutError, ValueError) as error:
                raise CoordinatorError(self.url, f"the answer broke off: {_words(error)}") from error

    @asynccontextmanager
    async def asked(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, str] | None = None,
        body: object = None,
        lines: bytes | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request until it is answered; a refusal is a `CoordinatorError`."""
        until_s, pause_s = time.monotonic() + self.config.deadline_s, self.config.first_pause_s
        while True:
            response, trouble, wait_s = await self._try(method, path, parameters, body, lines)
            if response is not None:
                try:
                    yield response
                finally:
                    response.close()
                return
            wait_s = max(wait_s, pause_s * self.chance.uniform(0.5, 1.5))
            if time.monotonic() + wait_s > until_s:
                raise trouble
            await asyncio.sleep(wait_s)
            pause_s = min(2 * pause_s, self.config.longest_pause_s)

    async def _try(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, str] | None,
        body: object,
        lines: bytes | None,
    ) -> tuple[aiohttp.ClientResponse | None, CoordinatorError, float]:
        """Send once; return the answer, or what went wrong and when to try again."""
        nothing = CoordinatorError(self.url, "no answer")
        if self._session is None:
            raise CoordinatorError(self.url, "the link is closed: use it as `async with`")
        headers = {"Content-Type": "text/plain"} if lines is not None else {}
        try:
            response = await self._session.request(
                method,
                f"{self.url}{path}",
                params=parameters,
                data=lines,
                json=body,
                headers=headers,
                allow_redirects=False,
            )
        except aiohttp.ClientConnectorCertificateError as error:
            raise CoordinatorError(self.url, f"its certificate is not trusted: {_words(error)}") from error
        except (aiohttp.ClientError, TimeoutError) as error:
            return None, CoordinatorError(self.url, _words(error)), 0.0
        if response.status < _FIRST_ERROR:
            return response, nothing, 0.0
        trouble = await _problem(self.url, response)
        if response.status not in BUSY:
            raise trouble
        given = response.headers.get("Retry-After", "0")
        return None, trouble, min(float(given), self.config.longest_pause_s) if given.isdigit() else 0.0


async def _problem(url: str, response: aiohttp.ClientResponse) -> CoordinatorError:
    """Read why a request was refused."""
    try:
        found = json.loads((await response.read())[:65_536])
        kind = str(found["type"]).rpartition(":")[2]
        return CoordinatorError(url, f"{found['detail']} ({found['next']})", kind, response.status)
    except (aiohttp.ClientError, TimeoutError, ValueError, KeyError, TypeError):
        return CoordinatorError(url, f"it answered {response.status}", None, response.status)
    finally:
        response.close()


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__
