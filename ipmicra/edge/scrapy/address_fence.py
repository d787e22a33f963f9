"""The third fence: what Scrapy connects to is an address that the guard permits.

How it works
------------
Scrapy's handlers, those of HTTP/1.1 and HTTP/2, connect by names: Twisted asks the resolver of the reactor,
for addresses as well as for names, and connects to what that returns. `GuardedResolver` stands around it and
passes on permitted addresses only. So the address that is checked is the address that is connected to,
whatever the DNS says a moment later, and nothing that asks the reactor gets around it.

The fence, a downloader middleware next to the wire, makes errors of that: a resolver can only return nothing,
and Scrapy would try again. It also refuses what needs no resolver (an address, a name that was refused a
moment ago), sees that the resolver is in place, and drops a response that came from elsewhere after all.

Other handlers resolve names themselves (browsers, aiohttp, httpx). For these the fence asks the DNS before
each request and looks where the response came from; between the two a name may change.

A proxy is its operator's choice and may be anywhere. It resolves names itself, so only addresses are checked.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any, Self
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler as ScrapyCrawler
from scrapy.exceptions import CannotResolveHostError
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object
from scrapy.utils.url import add_http_if_no_scheme
from twisted.internet.error import DNSLookupError

from ipmicra.edge.log import EventLog
from ipmicra.edge.scrapy.address_guard import AddressGuard, Place, RefusedAddressError

ADDRESSES_ORDER = 960
"""Next to the wire, behind proxies (750) and whatever records responses (950)."""
MOST_LOGGED = 20
"""Different reasons that are logged one by one."""
_PORTS = {"http": 80, "https": 443, "ftp": 21}
_HANDLERS = "scrapy.core.downloader.handlers"
_RESOLVING = {(f"{_HANDLERS}.http11", "HTTP11DownloadHandler"), (f"{_HANDLERS}.http2", "H2DownloadHandler")}
"""Handlers that ask the resolver of the reactor, by name: that of HTTP/2 needs a package of its own."""
events = EventLog("scrapy")
_guards: WeakKeyDictionary[Any, AddressGuard] = WeakKeyDictionary()


def attach_guard(crawler: ScrapyCrawler, guard: AddressGuard) -> None:
    """Make a Scrapy crawler keep to the addresses that a guard permits."""
    _guards[crawler] = guard


def guard_of(crawler: ScrapyCrawler) -> AddressGuard | None:
    """Return the guard of a Scrapy crawler."""
    return _guards.get(crawler)


class _Checked:
    """Passes on the addresses that all guards permit, to what Twisted calls an IResolutionReceiver."""

    def __init__(self, receiver: Any, host: str, port: int, guards: Sequence[AddressGuard]) -> None:  # noqa: ANN401 - Twisted's interfaces are no types
        self._receiver, self._host, self._port, self._guards = receiver, host, port, guards
        self._reason: str | None = None
        self._is_permitted = False

    def resolutionBegan(self, resolution: Any) -> None:  # noqa: ANN401, N802 - Twisted's
        self._receiver.resolutionBegan(resolution)

    def addressResolved(self, address: Any) -> None:  # noqa: ANN401, N802 - Twisted's
        found = ip_address(address.host.partition("%")[0])
        for guard in self._guards:
            reason = guard.resolved_refusal(self._host, found, self._port)
            if reason is not None:
                self._reason = f"{self._host} leads to {reason}"
                return
        self._is_permitted = True
        self._receiver.addressResolved(address)

    def resolutionComplete(self) -> None:  # noqa: N802 - Twisted's
        for guard in self._guards:
            guard.remember(self._host, None if self._is_permitted else self._reason)
        self._receiver.resolutionComplete()


class GuardedResolver:
    """Another resolver (Twisted's IHostnameResolver), without the addresses that a guard refuses."""

    def __init__(self, resolver: Any) -> None:  # noqa: ANN401 - Twisted's interfaces are no types
        """Stand around a resolver."""
        self._resolver = resolver
        self.guards: list[AddressGuard] = []

    def resolveHostName(  # noqa: N802 - Twisted's names
        self,
        resolutionReceiver: Any,  # noqa: ANN401, N803
        hostName: str,  # noqa: N803
        portNumber: int = 0,  # noqa: N803
        addressTypes: Any = None,  # noqa: ANN401, N803
        transportSemantics: str = "TCP",  # noqa: N803
    ) -> Any:  # noqa: ANN401
        """Resolve a name."""
        checked = _Checked(resolutionReceiver, hostName, portNumber, self.guards)
        return self._resolver.resolveHostName(checked, hostName, portNumber, addressTypes, transportSemantics)

    @classmethod
    def of(cls, reactor: Any) -> Self:  # noqa: ANN401 - Twisted's
        """Return that of a reactor, put there if it is not; Scrapy puts its own there when it starts."""
        found = reactor.nameResolver
        if not isinstance(found, cls):
            found = cls(found)
            reactor.installNameResolver(found)
        return found


class AddressFence:
    """Downloader middleware that refuses requests to addresses that are not public."""

    def __init__(self, crawler: ScrapyCrawler) -> None:
        """Ask the guard of a Scrapy crawler."""
        self._crawler = crawler
        self._guard = _guards[crawler]
        self._logged: set[str] = set()
        self._joined: list[GuardedResolver] = []
        self._resolver: GuardedResolver | None = None
        self._reactor: Any = None
        if crawler.settings.getbool("TWISTED_REACTOR_ENABLED"):
            from twisted.internet import reactor

            self._reactor = reactor
        self._must_ask = self._reactor is None or not _resolves_here(crawler.settings)

    @classmethod
    def from_crawler(cls, crawler: ScrapyCrawler) -> Self:
        """Make the fence of a Scrapy crawler."""
        fence = cls(crawler)
        crawler.signals.connect(fence.closed, signals.spider_closed)
        return fence

    def closed(self) -> None:
        """Leave the resolver to others."""
        for resolver in self._joined:
            resolver.guards.remove(self._guard)
        self._joined, self._resolver = [], None

    async def process_request(self, request: Request, spider: Spider | None = None) -> None:  # noqa: ARG002
        """Let a request pass, or raise `RefusedAddressError`."""
        place = _place_of(request)
        if place is None:
            return
        if self._reactor is not None and self._reactor.nameResolver is not self._resolver:
            self._join()
        host, port = place
        reason = self._guard.early_refusal(host, port)
        proxy = request.meta.get("proxy")
        if proxy:
            self._guard.trust(urlsplit(add_http_if_no_scheme(proxy)).hostname or "")
        elif reason is None and (self._must_ask or self._guard.trusts(host)):
            reason = await self._ask(host, port)
        if reason is not None:
            raise self._refused(request, reason)

    def process_response(
        self,
        request: Request,
        response: Response,
        spider: Spider | None = None,  # noqa: ARG002
    ) -> Response:
        """Pass a response on, unless it comes from an address that is refused."""
        place = _place_of(request)
        if response.ip_address is None or place is None or request.meta.get("proxy"):
            return response
        reason = self._guard.refusal(place[0], response.ip_address, place[1])
        if reason is not None:
            raise self._refused(request, f"{place[0]} led to {reason}")
        return response

    def process_exception(self, request: Request, exception: Exception, spider: Spider | None = None) -> None:  # noqa: ARG002
        """Tell a name that was refused from one that the DNS does not know, which is tried again."""
        place = _place_of(request)
        if place is None or not isinstance(exception, CannotResolveHostError | DNSLookupError):
            return
        reason = self._guard.early_refusal(*place)
        if reason is not None:
            raise self._refused(request, reason) from exception

    def _join(self) -> None:
        """See that the resolver of the reactor asks the guard."""
        self._resolver = GuardedResolver.of(self._reactor)
        if self._resolver not in self._joined:
            self._resolver.guards.append(self._guard)
            self._joined.append(self._resolver)

    async def _ask(self, host: str, port: int) -> str | None:
        """Ask the DNS for the addresses of a host; one that is refused is a reason."""
        try:
            found = await run_in_thread(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return None
        for *_, place in found:
            reason = self._guard.refusal(host, ip_address(str(place[0]).partition("%")[0]), port)
            if reason is not None:
                return f"{host} leads to {reason}"
        return None

    def _refused(self, request: Request, reason: str) -> RefusedAddressError:
        hint = self._guard.hint
        # The rest is only counted: pages may name any number of addresses.
        if reason not in self._logged and len(self._logged) < MOST_LOGGED:
            self._logged.add(reason)
            events.warning(
                "address_refused", "{url}: {reason}; {hint}", url=request.url, reason=reason, hint=hint
            )
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value("ipmicra/refused_addresses")
        return RefusedAddressError(urlparse_cached(request).hostname or "", f"{reason}; {hint}")


def _place_of(request: Request) -> Place | None:
    """Return the host and port that a request goes to; None if it goes to none, as for `data:`."""
    parts = urlparse_cached(request)
    if not parts.hostname:
        return None
    return parts.hostname, parts.port or _PORTS.get(parts.scheme, 0)


def _resolves_here(settings: BaseSettings) -> bool:
    """Return whether the handlers of web pages ask the resolver of the reactor."""
    handlers = settings.getwithbase("DOWNLOAD_HANDLERS")
    classes = [load_object(handlers[scheme]) for scheme in ("http", "https") if handlers.get(scheme)]
    return all(
        any((base.__module__, base.__qualname__) in _RESOLVING for base in getattr(one, "__mro__", ()))
        for one in classes
    )
