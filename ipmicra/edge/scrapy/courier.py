"""Carries messages between a node and its coordinator, one at a time, in a thread of its own.

The thread does nothing but HTTP: what is sent and what becomes of the answer is decided in Scrapy's thread,
which looks for an answer at every tick. So the exchange works with any reactor.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from dataclasses import dataclass
from typing import Self
from urllib.parse import quote, urlsplit

from urllib3 import Timeout, connection_from_url
from urllib3.exceptions import HTTPError

from ipmicra.errors import InputError, IpmicraError, MessageError, UnknownVersionError
from ipmicra.wire.links import (
    ExchangeAnswer,
    ExchangeRequest,
    JoinAnswer,
    JoinRequest,
    decode_exchanged,
    decode_joined,
    encode_exchange,
    encode_join,
)

CONNECT_S, ANSWER_S = 5.0, 20.0
"""How long a connection, and an answer beyond the wait that was asked for, may take."""
_OK, _UNAUTHORISED, _FORBIDDEN, _MISSING, _ENDED, _TOO_MANY, _SERVER = 200, 401, 403, 404, 409, 429, 500
_MOST = 8_000_000


class UnreachableError(IpmicraError):
    """The coordinator did not answer, or could not: worth another try."""


class SessionEndedError(IpmicraError):
    """The coordinator no longer knows the session: the node must join again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where the coordinator is and how to be let in."""

    url: str
    crawl: str
    token: str | None = None
    ca: str | None = None
    """File with the certificate of its authority; None for those that the system trusts."""

    def of(self, verb: str) -> str:
        """Return the path of a verb."""
        return f"{urlsplit(self.url).path.rstrip('/')}/v1/crawls/{quote(self.crawl, safe='')}/{verb}"


class Line:
    """HTTP to the coordinator; used by one thread at a time."""

    def __init__(self, address: Address) -> None:
        """Nothing is sent yet."""
        self._address = address
        # Not `requests`: it takes twice the time for each message, and no proxy for pages is one for this.
        self._pool = connection_from_url(
            address.url,
            maxsize=1,
            retries=False,
            **({"ca_certs": address.ca} if address.ca and address.url.startswith("https") else {}),
        )
        self._headers = {"Content-Type": "application/json"}
        if address.token:
            self._headers["Authorization"] = f"Bearer {address.token}"

    def join(self, request: JoinRequest) -> JoinAnswer:
        """Join the crawl."""
        return decode_joined(self._post("join", encode_join(request), ANSWER_S))

    def exchange(self, request: ExchangeRequest, wait_s: float = ANSWER_S) -> ExchangeAnswer:
        """Say what there is to say."""
        return decode_exchanged(self._post("exchange", encode_exchange(request), request.wait_s + wait_s))

    def close(self) -> None:
        """Close the connection."""
        self._pool.close()

    def _post(self, verb: str, body: bytes, wait_s: float) -> bytes:
        try:
            answer = self._pool.urlopen(
                "POST",
                self._address.of(verb),
                body=body,
                headers=self._headers,
                timeout=Timeout(connect=CONNECT_S, read=wait_s),
                preload_content=False,
            )
            content = answer.read(_MOST + 1)
            answer.release_conn()
        except HTTPError as error:
            raise UnreachableError(
                f"no coordinator answers at {self._address.url}: {type(error).__name__}"
            ) from error
        if answer.status == _OK and len(content) <= _MOST:
            return content
        raise self._refusal(answer.status, content)

    def _refusal(self, status: int, content: bytes) -> IpmicraError:
        where = self._address.url
        try:
            detail = str(json.loads(content).get("detail", ""))[:300]
        except (ValueError, AttributeError):
            detail = "no reason is given"
        if status == _ENDED:
            return SessionEndedError(detail)
        if status == _TOO_MANY or status >= _SERVER:
            return UnreachableError(f"the coordinator at {where} answers {status}: {detail}")
        if status in {_UNAUTHORISED, _FORBIDDEN}:
            return InputError(f"the coordinator at {where} refuses the token: {detail}")
        if status == _MISSING:
            return InputError(f"{where} is no coordinator that knows crawls: it answers 404")
        return InputError(f"the coordinator at {where} refuses the message ({status}): {detail}")


Outcome = ExchangeAnswer | IpmicraError


class Courier:
    """Sends one message at a time; its answer is collected later."""

    def __init__(self, line: Line) -> None:
        """Start the thread."""
        self._line = line
        self._out: queue.SimpleQueue[ExchangeRequest | None] = queue.SimpleQueue()
        self._in: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="ipmicra-courier", daemon=True)
        self.is_busy = False
        self.spent_s = 0.0
        """Processor time that its thread has taken."""

    def start(self) -> Self:
        """Start the thread."""
        self._thread.start()
        return self

    def send(self, request: ExchangeRequest) -> None:
        """Send a message; there must be none under way."""
        self.is_busy = True
        self._out.put(request)

    def collect(self, wait_s: float = 0.0) -> Outcome | None:
        """Return what became of the message under way; None if that is not known yet."""
        try:
            outcome = self._in.get(timeout=wait_s) if wait_s else self._in.get_nowait()
        except queue.Empty:
            return None
        self.is_busy = False
        return outcome

    def stop(self) -> None:
        """End the thread after the message under way."""
        self._out.put(None)

    def _run(self) -> None:
        while (request := self._out.get()) is not None:
            try:
                self._in.put(self._line.exchange(request))
            except UnknownVersionError as error:
                self._in.put(InputError(str(error)))
            except MessageError as error:
                self._in.put(UnreachableError(f"the coordinator's answer makes no sense: {error}"))
            except IpmicraError as error:
                self._in.put(error)
            except Exception as error:  # noqa: BLE001 - an answer of any kind must not end the thread
                self._in.put(UnreachableError(f"{type(error).__name__}: {error}"))
            self.spent_s = time.thread_time()
