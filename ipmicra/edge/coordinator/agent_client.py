"""Agents as the coordinator sees them: orders out, answers in, and nothing they say is believed unseen.

How it works
------------
Orders go out in one request; answers come back as lines, each as soon as its probe is done, with a last line
that announces the end. The agent may be slow, broken or hostile, hence:

- every exchange has a deadline and a minimum speed that dripped bytes do not extend (`Meter`, `edge.pace`);
- sizes are bounded before anything is decoded, and any message is a value or a `MessageError`;
- an answer must belong to an order of this request, and to each order there is one;
- no redirect is followed: the agent must not choose what the coordinator asks for.

The caller needs to know one thing about a failure: whether the orders may have been carried out.
`NotSentError` says that they surely were not, so that they may be sent elsewhere at no cost; any other error
leaves it open, and the agent is asked later to repeat what it has, never to probe again.

An agent that failed is avoided for a while: see `avoiding.py`.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Protocol, TypeVar

import aiohttp

from ipmicra.edge.pace.rule import Pace, TooSlowError
from ipmicra.edge.tls import context_for
from ipmicra.errors import AgentError, InputError, MessageError
from ipmicra.model.crawler import CALLS_OUT
from ipmicra.wire.limits import LIMITS, WireLimits
from ipmicra.wire.messages import (
    Answer,
    End,
    ProbeOrder,
    ProbeRequest,
    decode_error,
    decode_line,
    encode_request,
)
from ipmicra.wire.names import NamesRequest, ResolvedName, decode_name_line, encode_names

OK = 200
NO_SUCH_REQUEST, NOT_DONE_HERE = (404, 405), 501
T = TypeVar("T")


class NotSentError(AgentError):
    """The orders surely did not reach the agent."""


class UnableError(NotSentError):
    """The agent does not do what it was asked for, however often it is asked."""


class AgentPort(Protocol):
    """What the coordinator needs from an agent, whether it listens or calls out."""

    def ask(
        self, orders: list[ProbeOrder], total_s: float, *, only_repeat: bool = False
    ) -> AsyncIterator[list[Answer]]:
        """Yield answers as they come; one to each order."""
        ...

    def resolve(
        self, names: Sequence[str], timeout_ms: float, total_s: float
    ) -> AsyncIterator[list[ResolvedName]]:
        """Yield what the agent's resolver says; once for each name."""
        ...

    async def is_healthy(self) -> bool:
        """Return whether the agent is there."""
        ...


class SwitchboardPort(Protocol):
    """Where agents that call out are reached."""

    def client(self, crawler: str) -> AgentPort:
        """Return a client for the agent of a crawler."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAccess:
    """How to get into agents."""

    token: str | None = None
    authority: Path | None = None
    """Certificates that agents' own are checked against; None takes the system's."""
    certificate: Path | None = None
    key: Path | None = None
    """The coordinator's own, for mutual TLS."""
    switchboard: SwitchboardPort | None = field(default=None, compare=False, repr=False)
    """Where agents that call out are reached; None but in a coordinator that serves."""

    def context(self) -> ssl.SSLContext:
        """Make the settings of TLS."""
        try:
            context = context_for(file=self.authority)
            if self.certificate is not None:
                context.load_cert_chain(self.certificate, self.key)
        except (OSError, ssl.SSLError) as error:
            raise InputError(f"TLS certificates cannot be used: {error}") from error
        return context


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfig:
    """How long an agent may take."""

    connect_s: float = 4.0
    """Time to connect, TLS included."""
    head_s: float = 6.0
    """Time to connect and to get the headers of an answer, which an agent sends once it has the orders."""
    slack_s: float = 10.0
    """Time for an answer beyond what its orders allow: two ways through the network, and names to resolve."""
    bytes_per_s: float = 1_000.0
    """Slowest speed of an unfinished line; an agent sends each line at once."""
    grace_s: float = 5.0
    """How long a line may be slower than that."""
    limits: WireLimits = LIMITS

    def pace(self, total_s: float) -> Pace:
        """Return how slow an agent may be in an exchange that may last so long."""
        return Pace(head_s=self.head_s, total_s=total_s, bytes_per_s=self.bytes_per_s, grace_s=self.grace_s)


class Meter:
    """Follows one exchange; every step of it is awaited through `within`."""

    def __init__(self, pace: Pace) -> None:
        """Start the clock: a request is about to be sent."""
        self._pace = pace
        self._start_s = time.monotonic()
        self._due_s = self._start_s + pace.head_s
        """Until when the next bytes must be there; infinite while nothing is owed."""

    async def within(self, step: Awaitable[T]) -> T:
        """Await a step, but no longer than the pace allows."""
        limit_s = min(self._due_s, self._start_s + self._pace.total_s)
        limit = asyncio.timeout(limit_s - time.monotonic())
        try:
            async with limit:
                return await step
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TooSlowError(self._complaint(limit_s)) from error

    def between_messages(self) -> None:
        """Note that nothing is owed until the next byte."""
        self._due_s = inf

    def received(self, count: int) -> None:
        """Note bytes of a message that is not finished."""
        latest_s = time.monotonic() + self._pace.grace_s
        earned_s = count / self._pace.bytes_per_s
        self._due_s = latest_s if self._due_s == inf else min(self._due_s + earned_s, latest_s)

    def _complaint(self, limit_s: float) -> str:
        pace = self._pace
        if limit_s == self._start_s + pace.head_s:
            return f"no complete headers within {pace.head_s:.3g} s"
        if limit_s == self._start_s + pace.total_s:
            return f"not finished within {pace.total_s:.3g} s"
        return f"slower than {pace.bytes_per_s:g} bytes per second"


def agent_session() -> aiohttp.ClientSession:
    """Make the session that clients of agents share.

    It unpacks nothing, since a kilobyte can stand for a megabyte, and keeps no cookies: one agent must not
    choose what is sent to another.
    """
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=10),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
    )


@dataclass(slots=True)
class Asked:
    """What an agent still owes: an answer to each thing asked, once, and to nothing else."""

    what: str
    missing: set[str]

    def answered(self, keys: list[str]) -> None:
        """Take in what was answered; an agent that answers something else is not believed."""
        given = set(keys)
        if len(given) < len(keys) or not given <= self.missing:
            raise AgentError(f"it answered {self.what}s that it was not given, or one twice")
        self.missing -= given

    def end(self) -> None:
        """Refuse an exchange that ended too early."""
        if self.missing:
            raise AgentError(f"{len(self.missing)} {self.what}s are without an answer")


class AgentClient:
    """Talks to one agent over a session that it shares with others."""

    def __init__(
        self, url: str, session: aiohttp.ClientSession, access: AgentAccess, config: ClientConfig
    ) -> None:
        """Talk to the agent at a URL."""
        self._url = url
        self._session = session
        self._headers = {"Authorization": f"Bearer {access.token}"} if access.token else {}
        self._tls = access.context() if url.startswith("https:") else None
        self._config = config

    async def ask(
        self, orders: list[ProbeOrder], total_s: float, *, only_repeat: bool = False
    ) -> AsyncIterator[list[Answer]]:
        """Yield answers as they come, those that come together in one list; one to each order.

        `NotSentError` says that nothing was done; any other `AgentError` leaves open what was.
        """
        asked = Asked("order", {order.id for order in orders})
        body = encode_request(ProbeRequest(orders=tuple(orders), only_repeat=only_repeat))
        async for answers in self._answers("/probe", body, decode_line, len(orders), total_s):
            asked.answered([answer.order for answer in answers])
            yield answers
        asked.end()

    async def resolve(
        self, names: Sequence[str], timeout_ms: float, total_s: float
    ) -> AsyncIterator[list[ResolvedName]]:
        """Yield what the agent's resolver says, those that come together in one list; once for each name.

        `UnableError` says that the agent resolves no names, now or later.
        """
        asked = Asked("name", set(names))
        body = encode_names(NamesRequest(names=tuple(names), timeout_ms=timeout_ms))
        async for answers in self._answers("/resolve", body, decode_name_line, len(names), total_s):
            asked.answered([answer.name for answer in answers])
            yield answers
        asked.end()

    async def is_healthy(self) -> bool:
        """Return whether the agent is there and lets us in."""
        meter = Meter(self._config.pace(self._config.head_s))
        try:
            response = await meter.within(self._request("GET", "/health"))
        except (aiohttp.ClientError, OSError):
            return False
        response.close()
        return response.status == OK

    def _request(
        self, method: str, path: str, body: bytes | None = None
    ) -> Awaitable[aiohttp.ClientResponse]:
        """Send a request; the answer is awaited up to the end of its headers. No redirect is followed."""
        return self._session.request(
            method,
            f"{self._url}{path}",
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._config.connect_s),
            allow_redirects=False,
            ssl=self._tls if self._tls is not None else True,
            headers={"Content-Type": "application/json", **self._headers} if body else self._headers,
            data=body,
        )

    async def _answers(
        self,
        path: str,
        body: bytes,
        decode: Callable[[bytes, WireLimits], T | End],
        count: int,
        total_s: float,
    ) -> AsyncIterator[list[T]]:
        """Post a request and read lines until the end is announced."""
        limits = self._config.limits
        meter = Meter(self._config.pace(total_s))
        try:
            async with await meter.within(self._request("POST", path, body)) as response:
                await _check(response, limits, meter)
                left = (count + 1) * limits.max_line_bytes
                async for lines in _lines(response, meter, limits.max_line_bytes, left):
                    answers, is_over, trouble = _understood(lines, decode, limits)
                    if answers:
                        yield answers
                    if trouble is not None:
                        raise trouble
                    if is_over:
                        return
        except aiohttp.ConnectionTimeoutError as error:
            raise NotSentError(f"it cannot be reached within {self._config.connect_s:g} s") from error
        except aiohttp.ClientConnectorError as error:
            raise NotSentError(f"it cannot be reached: {error.os_error}") from error
        except MessageError as error:
            raise AgentError(f"its answer makes no sense: {error}") from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise AgentError(f"it broke off: {str(error) or type(error).__name__}") from error
        raise AgentError("its answer ends before its end")


def _understood(
    lines: list[bytes], decode: Callable[[bytes, WireLimits], T | End], limits: WireLimits
) -> tuple[list[T], bool, MessageError | None]:
    """Read lines up to the end or to the first that makes no sense: what came before still counts."""
    answers: list[T] = []
    for line in lines:
        try:
            message = decode(line, limits)
        except MessageError as error:
            return answers, False, error
        if isinstance(message, End):
            return answers, True, None
        answers.append(message)
    return answers, False, None


async def _check(response: aiohttp.ClientResponse, limits: WireLimits, meter: Meter) -> None:
    """See that the agent took the request; one that says why it did not has done nothing."""
    if response.status == OK:
        return
    if response.status in NO_SUCH_REQUEST:
        raise UnableError("it does not know this request: it runs an earlier version of ipmicra; update it")
    body = b""
    while len(body) <= limits.max_line_bytes and (piece := await meter.within(response.content.readany())):
        body += piece
        meter.received(len(piece))
    try:
        message = decode_error(body, limits)
    except MessageError as error:
        raise AgentError(f"it answered with status {response.status}") from error
    kind = UnableError if response.status == NOT_DONE_HERE else NotSentError
    raise kind(
        f"it refused (status {response.status}): {message.error}; it speaks versions {list(message.versions)}"
    )


async def _lines(
    response: aiohttp.ClientResponse, meter: Meter, longest: int, most: int
) -> AsyncIterator[list[bytes]]:
    """Yield the lines that are there, none longer and all together not more than allowed."""
    rest = b""
    meter.between_messages()
    while piece := await meter.within(response.content.readany()):
        most -= len(piece)
        *lines, rest = (rest + piece).split(b"\n")
        if most < 0 or len(rest) > longest:
            raise MessageError("it is longer than any honest one")
        if lines:
            meter.between_messages()
            yield lines
        if rest:
            meter.received(len(piece))
    if rest:
        raise MessageError("its last line is cut")


def client_of(
    url: str, session: aiohttp.ClientSession, access: AgentAccess, config: ClientConfig
) -> AgentPort:
    """Return a client for the agent of a URL.

    Raises:
        NotSentError: It calls out, and this process is none that it calls.
    """
    if not url.startswith(CALLS_OUT):
        return AgentClient(url, session, access, config)
    if access.switchboard is None:
        raise NotSentError(
            "its agent only calls out, and is reached by a running coordinator alone: `ipmicra serve`"
        )
    return access.switchboard.client(url.removeprefix(CALLS_OUT))


async def is_healthy(url: str, session: aiohttp.ClientSession, access: AgentAccess) -> bool:
    """Return whether an agent is there and lets us in."""
    try:
        return await client_of(url, session, access, ClientConfig()).is_healthy()
    except NotSentError:
        return False
