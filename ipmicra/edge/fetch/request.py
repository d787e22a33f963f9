"""Send requests: redirects, pauses between attempts, and errors of the HTTP library as our own.

Exceptions of the HTTP library quote whole URLs, keys included. None of them leaves this module, not even as
the cause of another.
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urljoin, urlsplit

import requests
import urllib3.exceptions

from ipmicra.edge.fetch.answer import MISSING, OK, PASSING, content_length, retry_after_s
from ipmicra.edge.fetch.options import FetchOptions, Trouble
from ipmicra.edge.fetch.redact import without_secrets
from ipmicra.edge.log import EventLog
from ipmicra.edge.pace.blocking import guard, sockets_of
from ipmicra.errors import FetchError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ipmicra.edge.fetch.redact import Link
    from ipmicra.edge.pace.rule import Pace

CHUNK_BYTES = 1 << 16
SMALL_BYTES = 1 << 16
"""Most that is read of a file of checksums."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})
MAX_REDIRECTS = 5

T = TypeVar("T")
events = EventLog("fetch")


def user_agent() -> str:
    """Return the User-Agent."""
    try:
        return f"ipmicra/{version('ipmicra')} (download of registry dumps)"
    except PackageNotFoundError:
        return "ipmicra (download of registry dumps)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Requester:
    """Sends requests, repeatedly if need be.

    urllib3's `Retry` does not do: it cannot resume a body that was cut, the usual reason to repeat a request.
    """

    session: requests.Session
    options: FetchOptions
    sleep: Callable[[float], None]

    def persist(self, link: Link, attempt: Callable[[], T | Trouble]) -> T:
        """Repeat an attempt until it succeeds, pausing longer each time."""
        reason, pause_s = "", 0.0
        for number in range(self.options.attempts):
            if number:
                # The first is a warning: without a network nothing else would be seen for a minute.
                note = events.warning if number == 1 else events.info
                note(
                    "fetch_retried",
                    "{url}: {reason}; attempt {attempt} in {pause_s:.0f} s",
                    url=link.shown,
                    reason=link.redact(reason),
                    attempt=number + 1,
                    pause_s=pause_s,
                )
                self.sleep(pause_s)
            outcome = attempt()
            if not isinstance(outcome, Trouble):
                return outcome
            reason, pause_s = outcome.reason, self._pause_s(link, outcome, number)
        attempts = self.options.attempts
        raise FetchError(link.shown, f"gave up after {attempts} attempt{'s' * (attempts > 1)}: {reason}")

    def _pause_s(self, link: Link, trouble: Trouble, number: int) -> float:
        """Return the pause after a failed attempt: 1, 2, 4 … s unless the server asks for a time."""
        longest = self.options.max_wait_s
        if trouble.wait_s is None:
            return min(longest, self.options.backoff_s * 2.0**number)
        if trouble.wait_s > longest:
            raise FetchError(link.shown, f"{trouble.reason}, come back in {trouble.wait_s:.0f} s")
        return trouble.wait_s

    def ask(self, link: Link, headers: dict[str, str]) -> requests.Response | Trouble:
        """Send one GET and follow redirects; the body is not read yet."""
        url = link.url
        for _ in range(MAX_REDIRECTS + 1):
            answer = self._send(link, url, headers)
            if isinstance(answer, Trouble) or answer.status_code not in REDIRECTS:
                return answer
            answer.close()
            url = redirected(link, url, answer.headers.get("Location", ""))
        raise FetchError(link.shown, f"more than {MAX_REDIRECTS} redirects")

    def _send(self, link: Link, url: str, headers: dict[str, str]) -> requests.Response | Trouble:
        """Send one GET; what fails for good raises."""
        always = {"Accept-Encoding": "identity", "User-Agent": user_agent()}
        reason, passes = "", True
        answer: requests.Response | None = None
        with guard(self.options.pace.head_s) as limit:
            try:
                answer = self.session.get(
                    url,
                    headers=always | headers,
                    timeout=self.options.timeout_s,
                    stream=True,
                    allow_redirects=False,
                )
            except (OSError, ValueError) as error:  # the library's own errors are of both kinds
                reason = link.redact(root_reason(error))
                passes = isinstance(error, requests.RequestException) and not isinstance(error, ValueError)
        if limit.is_over:
            return Trouble(reason=f"no complete headers within {self.options.pace.head_s:g} s")
        if not passes or "CERTIFICATE_VERIFY_FAILED" in reason:
            raise FetchError(link.shown, reason)
        return Trouble(reason=reason) if answer is None else answer

    def read_small(self, link: Link) -> str | None:
        """Read a small text file; None if there is none."""
        return self.persist(link, lambda: self._read_small(link))

    def _read_small(self, link: Link) -> str | Trouble | None:
        """Try once to read a small text file."""
        answer = self.ask(link, {})
        if isinstance(answer, Trouble):
            return answer
        with answer:
            if answer.status_code in MISSING:
                return None
            if answer.status_code != OK:
                return refusal(link, answer)
            return _decoded(body(link, answer, self.options.pace))


def _decoded(pieces: Iterator[bytes | Trouble]) -> str | Trouble:
    """Join a small body; it is cut off at the limit."""
    received = bytearray()
    for piece in pieces:
        if isinstance(piece, Trouble):
            return piece
        received += piece
        if len(received) > SMALL_BYTES:
            break
    return received[:SMALL_BYTES].decode("utf-8", "replace")


def redirected(link: Link, url: str, location: str) -> str:
    """Return the target of a redirect: http or https, and never from https to http."""
    try:
        target = urljoin(url, location)
        old, new, shown = urlsplit(url).scheme, urlsplit(target).scheme, without_secrets(target)
    except ValueError:
        target, old, new, shown = "", "", "", "no URL"
    if not location or new not in {"http", "https"} or (old, new) == ("https", "http"):
        raise FetchError(link.shown, f"redirects to {link.redact(shown)}, which is not followed")
    return target


def refusal(link: Link, answer: requests.Response) -> Trouble:
    """Turn an unwanted status into trouble if it may pass, else raise."""
    status = answer.status_code
    phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else "unknown status"
    reason = f"the server answers {status} ({phrase})"
    if status in PASSING:
        return Trouble(reason=reason, wait_s=retry_after_s(answer.headers))
    raise FetchError(link.shown, reason)


def body(link: Link, answer: requests.Response, pace: Pace) -> Iterator[bytes | Trouble]:
    """Return the bytes of a body exactly as they were sent; a connection lost or slow ends in trouble."""
    pieces = answer.raw.stream(CHUNK_BYTES, decode_content=False)
    received, announced = 0, content_length(answer.headers) or 0
    while True:
        trouble = piece = None
        with guard(pace.seconds_for(CHUNK_BYTES), *sockets_of(answer)) as limit:
            try:
                piece = next(pieces, None)
            except (urllib3.exceptions.HTTPError, OSError) as error:
                trouble = Trouble(reason=link.redact(root_reason(error)))
        if limit.is_over:
            trouble = Trouble(reason=f"slower than {pace.bytes_per_s:g} bytes per second")
        if piece is not None:
            received += len(piece)
            yield piece
        if trouble is not None:
            yield trouble
            return
        if piece is None:
            break
    if received < announced:  # urllib3 1.x does not mind
        yield Trouble(reason="the connection was closed")


def root_reason(error: BaseException) -> str:
    """Return the root cause of an exception in a few words.

    "Connection refused", where the HTTP library wraps three exceptions around it.
    """
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
