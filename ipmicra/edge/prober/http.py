"""The HTTP rungs: how long the first byte of an answer takes, less the server's own share.

One connection serves all round trips of a probe, so that a site sees one visitor. Nothing but the start of an
answer is read, and no redirect is followed: whatever the server says, saying it took one round trip.
"""

from __future__ import annotations

import re
import ssl
import time
from dataclasses import dataclass, field

from ipmicra.edge.prober.config import Exchange, ProberConfig
from ipmicra.edge.prober.failures import RefusedConnectError, failed
from ipmicra.edge.prober.tcp import Dialler, handshake_ms
from ipmicra.edge.prober.waiting import Line
from ipmicra.model.address import Address
from ipmicra.model.sample import Loss, Rung, Timings

_STATUS = re.compile(rb"HTTP/1\.[01] [1-5][0-9][0-9][ \r\n]")
_END = b"\r\n\r\n"
_SERVER_TIMING = re.compile(rb"\r\nserver-timing:([^\r\n]*)")
_DURATION = re.compile(rb";\s*dur\s*=\s*\"?([0-9]{1,9}(?:\.[0-9]{1,9})?)")
_CLOSES = re.compile(rb"\r\nconnection:\s*close")
"""For heads in small letters."""


class _NoHttpError(Exception):
    """The other side does not speak HTTP, or hung up; carries the loss. Never leaves this file."""

    def __init__(self, loss: Loss, detail: str) -> None:
        super().__init__(detail)
        self.loss = loss


@dataclass(slots=True, kw_only=True)
class HttpVisit:
    """A visit to one server: a connection that is kept for the next round trip where the server agrees."""

    dialler: Dialler
    config: ProberConfig
    address: Address
    port: int
    host: str | None
    is_tls: bool
    method: Rung
    """HEAD or GET."""
    _line: Line | None = field(default=None, init=False)
    _tls: _Tls | None = field(default=None, init=False)
    _tcp_ms: float = field(default=0.0, init=False)
    _tls_ms: float | None = field(default=None, init=False)
    _deadline_s: float = field(default=0.0, init=False)
    """Until when the round trip must be done, by `time.perf_counter`."""
    _request: bytes = field(default=b"", init=False)
    """The same for each round trip, so made once."""

    async def take(self, timeout_s: float) -> Exchange:
        """Take one round trip."""
        start = time.perf_counter()
        self._deadline_s = start + timeout_s
        try:
            return await self._ask(self._line or await self._connected())
        except _NoHttpError as error:
            self.close()
            return Exchange(loss=error.loss, detail=str(error))
        except ConnectionResetError:
            self.close()
            return Exchange(loss=Loss.RESET, detail=self._reset_detail((time.perf_counter() - start) * 1e3))
        except ConnectionRefusedError:
            self.close()
            detail = f"port {self.port} refused; where handshakes tell nothing, neither does this"
            return Exchange(loss=Loss.UNREACHABLE, detail=detail)
        except (OSError, RefusedConnectError) as error:
            self.close()
            return failed(error)

    def close(self) -> None:
        """Hang up."""
        if self._line is not None:
            self._line.close()
        self._line = self._tls = None

    async def _connected(self) -> Line:
        line, elapsed_ms = await self.dialler.connect(self.address, self.port, self._deadline_s)
        self._line = line
        self._tcp_ms = handshake_ms(line.socket, elapsed_ms) or 0.0
        if self.is_tls:
            start = time.perf_counter()
            self._tls = _Tls(line, self.host)
            await self._tls.shake_hands(self._deadline_s)
            self._tls_ms = (time.perf_counter() - start) * 1e3
        return line

    async def _ask(self, line: Line) -> Exchange:
        """Send a request and read the start of the answer."""
        self._request = self._request or self._written()
        start = time.perf_counter()
        await self._send(line)
        head, moment_s = await self._receive(line)
        first_byte_ms = (moment_s - start) * 1e3
        if not (head.endswith(_END) and _STATUS.match(head)):
            head = await self._rest_of_head(line, head)
        share_ms = server_share_ms(head)
        if self.method is not Rung.HEAD or not _is_reusable(head):
            self.close()
        told = f"; less {min(share_ms, first_byte_ms):.1f} ms of the server's own" if share_ms else ""
        return Exchange(
            ms=max(first_byte_ms - share_ms, min(self._tcp_ms, first_byte_ms)),
            timings=Timings(tcp_ms=self._tcp_ms, tls_ms=self._tls_ms, first_byte_ms=first_byte_ms),
            detail=f"status {head[9:12].decode('ascii')}{told}",
        )

    def _written(self) -> bytes:
        usual = self.port == (443 if self.is_tls else 80)
        name = self.host or (f"[{self.address}]" if self.address.version == 6 else str(self.address))  # noqa: PLR2004
        place = name if usual else f"{name}:{self.port}"
        more = "Range: bytes=0-0\r\nConnection: close\r\n" if self.method is Rung.GET else ""
        return (
            f"{self.method.name} / HTTP/1.1\r\nHost: {place}\r\nUser-Agent: {self.config.user_agent}\r\n"
            f"Accept: */*\r\n{more}\r\n"
        ).encode("ascii")

    async def _rest_of_head(self, line: Line, head: bytes) -> bytes:
        """Read on until the head is whole or as much as is read at most."""
        while _END not in head and len(head) < self.config.max_head_bytes:
            if len(head) >= 13 and not _STATUS.match(head):  # noqa: PLR2004 - HTTP/1.1 200 and a space
                break
            head += (await self._receive(line))[0]
        if not _STATUS.match(head):
            raise _NoHttpError(Loss.PROTOCOL, "the other side does not speak HTTP/1")
        return head

    async def _send(self, line: Line) -> None:
        if self._tls is not None:
            await self._tls.send(self._request, self._deadline_s)
        elif rest := line.push(self._request):
            await line.send(rest, self._deadline_s)

    async def _receive(self, line: Line) -> tuple[bytes, float]:
        """Give bytes and the moment at which they were there."""
        limit = self.config.max_head_bytes
        source = line if self._tls is None else self._tls
        data, moment_s = await source.receive(limit, self._deadline_s)
        if not data:
            raise _NoHttpError(Loss.RESET, "hung up without an answer")
        return data, moment_s

    def _reset_detail(self, elapsed_ms: float) -> str:
        """Say who may have sent a reset: nothing behind the server's own distance answers sooner."""
        slack = self.config.middlebox_slack_ms
        if self._tcp_ms > elapsed_ms * self.config.middlebox_factor + slack:
            return f"reset by a middlebox after {elapsed_ms:.1f} ms; a handshake takes {self._tcp_ms:.1f} ms"
        return "reset"


def server_share_ms(head: bytes) -> float:
    """Give how long the server says it worked: the longest duration of its Server-Timing headers.

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
    """Tell whether the next request may go over the same connection: a whole answer to HEAD has no body."""
    return head.startswith(b"HTTP/1.1") and head.endswith(_END) and not _CLOSES.search(head.lower())


def make_tls_context() -> ssl.SSLContext:
    """Make a client's context that takes any certificate: a probe trusts nothing of what it reads."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


_CONTEXT = make_tls_context()


class _Tls:
    """TLS over a socket that is not blocking, so that each step can be timed."""

    def __init__(self, line: Line, host: str | None) -> None:
        self._line = line
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
        await self._line.send(self._outgoing.read(), deadline_s)

    async def _fill(self, deadline_s: float) -> float:
        data, moment_s = await self._line.receive(65_536, deadline_s)
        if not data:
            raise _NoHttpError(Loss.TLS, "hung up during TLS")
        self._incoming.write(data)
        return moment_s
