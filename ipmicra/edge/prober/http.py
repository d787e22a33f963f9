"""Time the first byte of an HTTP answer, less the server's own share: the HEAD and GET rungs.

One connection serves all round trips of a probe, so that a site sees one visitor. Only the start of an
answer is read, and no redirect is followed: whatever the server answers, answering took one round trip.
"""

from __future__ import annotations

import re
import ssl
import time
from dataclasses import dataclass, field

from ipmicra.edge.prober.exchange import Exchange, ProberConfig, RefusedConnectError, failed
from ipmicra.edge.prober.sockets import Dialler, TimedSocket, handshake_ms
from ipmicra.model.address import Address
from ipmicra.model.sample import Loss, Rung, Timings

_STATUS = re.compile(rb"HTTP/1\.[01] [1-5][0-9][0-9][ \r\n]")
_END = b"\r\n\r\n"
_SERVER_TIMING = re.compile(rb"\r\nserver-timing:([^\r\n]*)")
_DURATION = re.compile(rb";\s*dur\s*=\s*\"?([0-9]{1,9}(?:\.[0-9]{1,9})?)")
_LENGTH = re.compile(rb"\r\ncontent-length:\s*([0-9]{1,12})")
_CLOSES = re.compile(rb"\r\nconnection:\s*close")
"""For heads in lower case."""


class _NoHttpError(Exception):
    """The other side does not speak HTTP, or disconnected; carries the loss. Never leaves this file."""

    def __init__(self, loss: Loss, detail: str) -> None:
        super().__init__(detail)
        self.loss = loss


@dataclass(slots=True, kw_only=True)
class HttpVisit:
    """A connection to one server, kept for the next round trip where the server agrees."""

    dialler: Dialler
    config: ProberConfig
    address: Address
    port: int
    host: str | None
    is_tls: bool
    method: Rung
    """HEAD or GET."""
    is_page: bool = False
    """Whether GET asks for all of the page."""
    _socket: TimedSocket | None = field(default=None, init=False)
    _tls: _Tls | None = field(default=None, init=False)
    _tcp_ms: float | None = field(default=None, init=False)
    """None until connected, and where the handshake was sent twice, so that its time proves nothing."""
    _tls_ms: float | None = field(default=None, init=False)
    _deadline_s: float = field(default=0.0, init=False)
    """Until when the round trip must be done, by `time.perf_counter`."""
    _request: bytes = field(default=b"", init=False)
    """The same for each round trip, so it is made once."""

    async def take(self, timeout_s: float) -> Exchange:
        """Take one round trip."""
        start = time.perf_counter()
        self._deadline_s = start + timeout_s
        try:
            return await self._ask(self._socket or await self._connected())
        except _NoHttpError as error:
            self.close()
            return Exchange(loss=error.loss, detail=str(error))
        except ConnectionResetError:
            self.close()
            return Exchange(loss=Loss.RESET, detail=self._reset_detail((time.perf_counter() - start) * 1e3))
        except ConnectionRefusedError:
            self.close()
            detail = f"port {self.port} refused; where handshakes prove nothing, neither does this"
            return Exchange(loss=Loss.UNREACHABLE, detail=detail)
        except (OSError, RefusedConnectError) as error:
            self.close()
            return failed(error)

    async def download(self, timeout_s: float) -> float | None:
        """Download the page, or as much as is allowed; return how long that took after its first byte."""
        self._deadline_s = time.perf_counter() + timeout_s
        try:
            timed = self._socket or await self._connected()
            self._request = self._request or self._written()
            await self._send(timed)
            start, first_s = await self._receive(timed)
            head = await self._rest_of_head(timed, start)
            last_s = first_s if len(head) == len(start) else time.perf_counter()
            body = len(head.partition(_END)[2])
            size = _LENGTH.search(head.lower())
            wanted = min(int(size[1]) if size else self.config.max_page_bytes, self.config.max_page_bytes)
            while body < wanted:
                try:
                    data, last_s = await self._receive(timed)
                except _NoHttpError:
                    break  # the end of a page without a length
                body += len(data)
        except (OSError, RefusedConnectError, _NoHttpError):
            return None
        finally:
            self.close()
        return max(last_s - first_s, 0.0) * 1e3

    def close(self) -> None:
        """Disconnect."""
        if self._socket is not None:
            self._socket.close()
        self._socket = self._tls = None

    async def _connected(self) -> TimedSocket:
        timed, elapsed_ms = await self.dialler.connect(self.address, self.port, self._deadline_s)
        self._socket = timed
        self._tcp_ms = handshake_ms(timed.socket, elapsed_ms)
        if self.is_tls:
            start = time.perf_counter()
            self._tls = _Tls(timed, self.host)
            await self._tls.shake_hands(self._deadline_s)
            self._tls_ms = (time.perf_counter() - start) * 1e3
        return timed

    async def _ask(self, timed: TimedSocket) -> Exchange:
        """Send a request and read the start of the answer."""
        self._request = self._request or self._written()
        start = time.perf_counter()
        await self._send(timed)
        head, moment_s = await self._receive(timed)
        first_byte_ms = (moment_s - start) * 1e3
        if not (head.endswith(_END) and _STATUS.match(head)):
            head = await self._rest_of_head(timed, head)
        # What a server says of its share is checked against the handshake; without one it is not believed.
        share_ms = 0.0 if self._tcp_ms is None else server_share_ms(head)
        least_ms = min(self._tcp_ms or 0.0, first_byte_ms)
        if self.method is not Rung.HEAD or not _is_reusable(head):
            self.close()
        deducted = f"; less {min(share_ms, first_byte_ms):.1f} ms of the server's own" if share_ms else ""
        return Exchange(
            ms=max(first_byte_ms - share_ms, least_ms),
            timings=Timings(tcp_ms=self._tcp_ms, tls_ms=self._tls_ms, first_byte_ms=first_byte_ms),
            detail=f"status {head[9:12].decode('ascii')}{deducted}",
        )

    def _written(self) -> bytes:
        usual = self.port == (443 if self.is_tls else 80)
        name = self.host or (f"[{self.address}]" if self.address.version == 6 else str(self.address))  # noqa: PLR2004
        place = name if usual else f"{name}:{self.port}"
        part = "" if self.is_page else "Range: bytes=0-0\r\n"
        more = f"{part}Connection: close\r\n" if self.method is Rung.GET else ""
        return (
            f"{self.method.name} / HTTP/1.1\r\nHost: {place}\r\nUser-Agent: {self.config.user_agent}\r\n"
            f"Accept: */*\r\n{more}\r\n"
        ).encode("ascii")

    async def _rest_of_head(self, timed: TimedSocket, head: bytes) -> bytes:
        """Read on until the head is complete or reaches the limit."""
        while _END not in head and len(head) < self.config.max_head_bytes:
            if len(head) >= 13 and not _STATUS.match(head):  # noqa: PLR2004 - HTTP/1.1 200 and a space
                break
            head += (await self._receive(timed))[0]
        if not _STATUS.match(head):
            raise _NoHttpError(Loss.PROTOCOL, "the other side does not speak HTTP/1")
        return head

    async def _send(self, timed: TimedSocket) -> None:
        if self._tls is not None:
            await self._tls.send(self._request, self._deadline_s)
        elif rest := timed.push(self._request):
            await timed.send(rest, self._deadline_s)

    async def _receive(self, timed: TimedSocket) -> tuple[bytes, float]:
        """Return bytes and the moment at which they arrived."""
        limit = self.config.max_head_bytes
        source = timed if self._tls is None else self._tls
        data, moment_s = await source.receive(limit, self._deadline_s)
        if not data:
            raise _NoHttpError(Loss.RESET, "hung up without an answer")
        return data, moment_s

    def _reset_detail(self, elapsed_ms: float) -> str:
        """Return who may have sent a reset: nothing as far as the server answers sooner than a handshake."""
        slack = self.config.middlebox_slack_ms
        if self._tcp_ms and self._tcp_ms > elapsed_ms * self.config.middlebox_factor + slack:
            return f"reset by a middlebox after {elapsed_ms:.1f} ms; a handshake takes {self._tcp_ms:.1f} ms"
        return "reset"


def server_share_ms(head: bytes) -> float:
    """Return how long the server says it worked: the longest duration of its Server-Timing headers.

    Durations may overlap, so their sum could be more than the truth; the longest one cannot be.
    """
    small = head.lower()
    if b"server-timing" not in small:
        return 0.0
    durations = [
        float(duration)
        for header in _SERVER_TIMING.finditer(small)
        for duration in _DURATION.findall(header[1])
    ]
    return max(durations, default=0.0)


def _is_reusable(head: bytes) -> bool:
    """Return whether the next request may use the same connection: a complete answer to HEAD has no body."""
    return head.startswith(b"HTTP/1.1") and head.endswith(_END) and not _CLOSES.search(head.lower())


def make_tls_context() -> ssl.SSLContext:
    """Build a client context that accepts any certificate: a probe trusts nothing it reads."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


_CONTEXT = make_tls_context()


class _Tls:
    """TLS over a non-blocking socket, so that each step can be timed."""

    def __init__(self, timed: TimedSocket, host: str | None) -> None:
        self._socket = timed
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._object = _CONTEXT.wrap_bio(self._incoming, self._outgoing, server_hostname=host)

    async def shake_hands(self, deadline_s: float) -> None:
        while True:
            try:
                self._object.do_handshake()
            except ssl.SSLWantReadError:
                await self._flush(deadline_s)
                await self._fill(deadline_s)
            else:
                await self._flush(deadline_s)
                return

    async def send(self, data: bytes, deadline_s: float) -> None:
        self._object.write(data)
        await self._flush(deadline_s)

    async def receive(self, limit: int, deadline_s: float) -> tuple[bytes, float]:
        moment_s = time.perf_counter()
        while True:
            try:
                return self._object.read(limit), moment_s
            except ssl.SSLWantReadError:
                moment_s = await self._fill(deadline_s)
            except ssl.SSLZeroReturnError:
                return b"", moment_s

    async def _flush(self, deadline_s: float) -> None:
        await self._socket.send(self._outgoing.read(), deadline_s)

    async def _fill(self, deadline_s: float) -> float:
        data, moment_s = await self._socket.receive(65_536, deadline_s)
        if not data:
            raise _NoHttpError(Loss.TLS, "hung up during TLS")
        self._incoming.write(data)
        return moment_s
