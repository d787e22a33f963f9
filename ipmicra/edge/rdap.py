"""Ask the registries for one address at a time (RDAP, through ipwhois).

Theory of operation
-------------------
Registries answer about one question per second and host, and ask clients that are too quick to stay away
for a while. So questions go out one at a time, `interval_s` apart; the callers keep the answers for months.

ipwhois hides which registry was asked: a question goes to a bootstrap server, which redirects to the right
one, and an answer "too often" surfaces as one of several exceptions. `_Registries` is a handler in urllib's
chain, which sees every request and response, redirected ones included. It notes until when each host wants
to be left alone (Retry-After, or `pause_s`), and refuses to send anything to that host before: another
registry can still be asked.

A question is tried `tries` times more if there was no answer or the registry asked to wait; a wait beyond
`longest_pause_s` ends it with `FetchError`, since its caller has something better to do.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPMessage, HTTPResponse
from ipaddress import ip_address, ip_network
from math import inf
from typing import IO, Any, Protocol
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import BaseHandler, HTTPRedirectHandler, Request, build_opener

from ipmicra.edge.fetch.answer import retry_after_s
from ipmicra.edge.pace.blocking import BoundedResponse, GuardedHttpHandler, GuardedHttpsHandler, guard
from ipmicra.edge.pace.rule import TooSlowError
from ipmicra.edge.store.ports import Graft
from ipmicra.errors import FetchError
from ipmicra.model.address import Address

_TOO_OFTEN = {429, 503}


class RegistrationSource(Protocol):
    """A source of registrations."""

    def ask(self, address: Address) -> Graft | None:
        """Return the registration around an address or None; `FetchError` if there is no answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RdapConfig:
    """How to ask. [1] ARIN and RIPE NCC ask for about one question per second and client."""

    interval_s: float = 1.0
    """Time between two questions [1]."""
    timeout_s: int = 10
    """Longest silence of a registry."""
    total_s: float = 30.0
    """Longest time for one question, redirects included, however the bytes trickle in."""
    max_bytes: int = 4 << 20
    """Largest answer that is read; most have a few kilobytes."""
    tries: int = 2
    """Tries beyond the first."""
    pause_s: float = 60.0
    """How long to avoid a registry that was asked too often and names no time."""
    longest_pause_s: float = 300.0
    """Longest time that a question waits for a registry; one that wants more is not waited for."""
    longest_silence_s: float = 86_400.0
    """Longest time that a registry is avoided, whatever it asks for."""


class _Registries(BaseHandler):
    """Remembers which registries asked to pause, and until when."""

    def __init__(self, config: RdapConfig, ticks: Callable[[], float]) -> None:
        self._config, self._ticks = config, ticks
        self._closed_until_s: dict[str, float] = {}
        self.asked = ""
        """Host of the last question; a question to the bootstrap server is redirected."""
        self.is_answered = False

    def http_request(self, request: Request) -> Request:
        """Send a query, unless its registry asked to pause."""
        self.asked, self.is_answered = request.host, False
        if self.wait_s() > 0.0:
            raise URLError("it asked to be queried later")
        return request

    https_request = http_request

    def http_response(self, _request: Request, response: HTTPResponse) -> HTTPResponse:
        """Note that a registry answered, and how long to wait if it was asked too often."""
        self.is_answered = True
        if isinstance(response, BoundedResponse):
            response.max_bytes = self._config.max_bytes
        if response.status in _TOO_OFTEN:
            headers = {name: response.headers.get(name, "") for name in ("Retry-After", "Date")}
            self.leave_alone(retry_after_s(headers))
        return response

    https_response = http_response

    def leave_alone(self, pause_s: float | None) -> None:
        """Avoid the registry that was asked last for a while."""
        pause_s = self._config.pause_s if pause_s is None else pause_s
        pause_s = min(pause_s, self._config.longest_silence_s)
        self._closed_until_s[self.asked] = self._ticks() + pause_s

    def wait_s(self) -> float:
        """Return how long the registry that was asked last is to be avoided."""
        return self._closed_until_s.get(self.asked, -inf) - self._ticks()


class _WebRedirects(HTTPRedirectHandler):
    """Follows redirects to http and https alone: urllib would also open ftp, over unguarded connections."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        """Return the request that a redirect asks for."""
        if urlsplit(newurl).scheme not in {"http", "https"}:
            raise URLError(f"it redirects to {newurl[:100]!r}, which is no web address")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class RdapSource:
    """Asks by RDAP, one question at a time."""

    def __init__(
        self,
        config: RdapConfig | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], object] = time.sleep,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        """Ask no more often than the settings and the registries allow.

        `clock` is the time of day that answers carry; pauses are measured by `ticks`, which never jumps.
        """
        self._config = config or RdapConfig()
        self._clock, self._sleep, self._ticks = clock, sleep, ticks
        self._lock = threading.Lock()
        self._next_s = -inf
        self._registries = _Registries(self._config, ticks)

    def ask(self, address: Address) -> Graft | None:
        """Return the registration around an address; None for one that no registry allocates."""
        from ipwhois import IPDefinedError  # loads slowly

        for left in range(self._config.tries, -1, -1):
            with self._lock:
                self._sleep(max(0.0, self._next_s - self._ticks()))
                try:
                    return read_rdap(self._look_up(str(address)), address, self._clock())
                except IPDefinedError:
                    return None
                except Exception as error:  # noqa: BLE001 - ipwhois raises many kinds
                    wait_s = self._time_to_wait(address, error, left)
                finally:
                    self._next_s = self._ticks() + self._config.interval_s
            self._sleep(wait_s)
        raise AssertionError

    def _time_to_wait(self, address: Address, error: Exception, left: int) -> float:
        """Return how long to wait before the next try; raise if there is none, or the wait is too long."""
        from ipwhois import HTTPRateLimitError

        registries = self._registries
        if isinstance(error, HTTPRateLimitError) and registries.wait_s() <= 0.0:
            registries.leave_alone(None)  # said in the text of a good answer
        wait_s = max(0.0, registries.wait_s())
        what = f"RDAP for {address}"
        if wait_s and (not left or wait_s > self._config.longest_pause_s):
            until = f"{registries.asked} was queried too often and asks to wait for {wait_s:,.0f} s"
            raise FetchError(what, until) from error
        if not left or (registries.is_answered and not wait_s):
            raise FetchError(what, str(error) or type(error).__name__) from error
        return wait_s

    def _look_up(self, address: str) -> dict[str, Any]:
        from ipwhois import IPWhois

        logging.getLogger("ipwhois").setLevel(logging.ERROR)
        opener = build_opener(self._registries, _WebRedirects, GuardedHttpHandler, GuardedHttpsHandler)
        with guard(self._config.total_s) as limit:
            try:
                answer: dict[str, Any] = IPWhois(
                    address, timeout=self._config.timeout_s, proxy_opener=opener
                ).lookup_rdap(
                    bootstrap=True,
                    retry_count=0,
                    inc_nir=False,
                    get_asn_description=False,
                )
            except Exception as error:
                if limit.is_over:
                    raise TooSlowError(f"not answered within {self._config.total_s:g} s") from error
                raise
        return answer


def read_rdap(answer: dict[str, Any], address: Address, asked_s: float) -> Graft | None:
    """Read an answer of ipwhois; None if it does not hold the address."""
    network = answer.get("network")
    if not isinstance(network, dict):
        return None
    try:
        first, last = ip_address(network["start_address"]), ip_address(network["end_address"])
    except (KeyError, TypeError, ValueError):
        prefix = str(network.get("cidr") or "").split(",")[0].strip()
        try:
            block = ip_network(prefix)
        except ValueError:
            return None
        first, last = block[0], block[-1]
    if first.version != address.version or not int(first) <= int(address) <= int(last):
        return None
    country = str(network.get("country") or "").upper()
    entities = answer.get("entities")
    holder = entities[0] if isinstance(entities, list) and entities else network.get("handle")
    return Graft(
        first=first,
        last=last,
        handle=_text(holder),
        name=_text(network.get("name")) or _text(network.get("handle")) or "unnamed",
        country=country if re.fullmatch("[A-Z]{2}", country) else None,
        asked_s=asked_s,
    )


def _text(value: object) -> str | None:
    return str(value)[:200] if value else None
