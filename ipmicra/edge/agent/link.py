"""Reach the coordinator from an agent: TLS by the pinned key, through a proxy if there is one.

The certificate that the pin proves is fetched from the coordinator itself, over a connection that is not
verified and carries no secret; whoever answers it with another key is refused. From then on every connection
is verified against that certificate. When one fails, the certificate may have been renewed under the same
key: it is fetched again, and the pin decides.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NoReturn
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from ipmicra.edge.agent.identity import AgentIdentity
from ipmicra.edge.log import EventLog
from ipmicra.edge.pins import LONGEST_PEM, find_pinned, text_of
from ipmicra.edge.tls import context_for
from ipmicra.errors import InputError, IpmicraError, MessageError
from ipmicra.wire import fields
from ipmicra.wire.limits import LIMITS

events = EventLog("agent")
OK = 200
FINAL = frozenset({401, 403, 407, 409, 410, 422})
"""Statuses after which trying again is of no use."""
CONNECT_S, AUTHORITY_S = 10.0, 20.0


class DismissedError(IpmicraError):
    """The coordinator does not want this agent; it says why."""

    def __init__(self, status: int, reason: str) -> None:
        """Keep the status and the coordinator's sentence."""
        super().__init__(f"the coordinator refused the agent (status {status}): {reason}")
        self.status, self.reason = status, reason


class NotNowError(IpmicraError):
    """A call that may succeed later."""

    def __init__(self, reason: str, retry_s: float | None = None) -> None:
        """Keep for how long the coordinator wants to be left alone, if it said so."""
        super().__init__(reason)
        self.retry_s = retry_s


def call_session() -> aiohttp.ClientSession:
    """Make the session through which a coordinator is called: it keeps no cookies and unpacks nothing."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=8, keepalive_timeout=30),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
    )


def proxy_for(url: str, named: str | None) -> str | None:
    """Return the proxy to use: the one that was named, else that of the environment."""
    if named is not None:
        parts = urlsplit(named)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise InputError(f"--proxy {named!r} must look like http://HOST:PORT")
        return named
    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return None
    return getproxies().get(parts.scheme)


@dataclass(slots=True)
class CoordinatorLink:
    """How an agent reaches its coordinator."""

    session: aiohttp.ClientSession
    identity: AgentIdentity
    proxy: str | None = None
    keep: Callable[[AgentIdentity], object] = lambda _: None
    """Is given the identity whenever its certificate has changed."""
    _tls: ssl.SSLContext | bool = field(init=False, default=True)

    async def trust(self) -> None:
        """Make sure that there is a certificate for the pin.

        Raises:
            NotNowError: The coordinator cannot be reached.
            InputError: It shows another key than the pinned one.
        """
        identity = self.identity
        if identity.pin is None or not identity.url.startswith("https:"):
            return
        if identity.certificate is None:
            await self._renew(identity.pin)
        else:
            self._tls = context_for(identity.certificate)

    async def _renew(self, pin: str) -> None:
        url = f"{self.identity.url}/v1/agents/authority"
        try:
            async with self.session.get(
                url,
                ssl=False,
                proxy=self.proxy,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=AUTHORITY_S, sock_connect=CONNECT_S),
            ) as response:
                data = await _limited(response, LONGEST_PEM)
                if response.status != OK:
                    raise NotNowError(f"the coordinator does not show its certificate ({response.status})")
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise NotNowError(str(error) or type(error).__name__) from error
        certificate = text_of(find_pinned(data, pin, self.identity.url))
        self._tls = context_for(certificate)
        if certificate != self.identity.certificate:
            self.identity = replace(self.identity, certificate=certificate)
            self.keep(self.identity)

    async def post(self, path: str, body: bytes, timeout_s: float, token: str | None = None) -> bytes:
        """Send a request; return the answer, or raise what became of it."""
        try:
            async with self.session.post(
                f"{self.identity.url}{path}",
                data=body,
                headers={
                    "Authorization": f"Bearer {token or self.identity.token}",
                    "Content-Type": "application/json",
                },
                timeout=aiohttp.ClientTimeout(total=timeout_s, sock_connect=CONNECT_S),
                allow_redirects=False,
                proxy=self.proxy,
                ssl=self._tls,
            ) as response:
                data = await _limited(response, LIMITS.max_request_bytes)
                if response.status == OK:
                    return data
                _complain(response, data)
        except aiohttp.ClientConnectorCertificateError as error:
            await self._doubt(error)
        except aiohttp.ClientHttpProxyError as error:
            if error.status in FINAL:
                raise DismissedError(error.status, f"the proxy says: {error.message}") from error
            raise NotNowError(f"the proxy answered {error.status}") from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise NotNowError(str(error) or type(error).__name__) from error
        raise AssertionError  # each way out of the above is an answer or an error

    async def _doubt(self, error: aiohttp.ClientConnectorCertificateError) -> NoReturn:
        """Look whether the certificate was renewed under the pinned key."""
        reason = f"its certificate does not prove that it is the coordinator: {error.certificate_error}"
        if self.identity.pin is not None:
            try:
                await self._renew(self.identity.pin)
            except InputError as foreign:
                reason = str(foreign)
            else:
                reason = f"{reason}; the pinned certificate was fetched again"
        raise NotNowError(reason) from error


async def _limited(response: aiohttp.ClientResponse, most: int) -> bytes:
    data = b""
    while piece := await response.content.readany():
        data += piece
        if len(data) > most:
            raise NotNowError("its answer is longer than any honest one")
    return data


def _complain(response: aiohttp.ClientResponse, data: bytes) -> NoReturn:
    """Raise what a refusal means."""
    try:
        content = fields.read_json(data, LIMITS.max_line_bytes)
        reason = fields.text({"detail": content.get("detail") or content.get("error")}, "detail", 1_000)
    except MessageError:
        reason = "it does not say why"
    if response.status in FINAL:
        raise DismissedError(response.status, reason)
    wanted = response.headers.get("Retry-After", "")
    raise NotNowError(
        f"the coordinator answered {response.status}: {reason}", float(wanted) if wanted.isdecimal() else None
    )
