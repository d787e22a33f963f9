"""Time TCP handshakes: the TCP rung, and the connections of the HTTP rungs."""

from __future__ import annotations

import socket
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from ipmicra.edge.prober.exchange import Exchange, RefusedConnectError, failed
from ipmicra.edge.prober.poller import TimedSocket
from ipmicra.model.address import Address
from ipmicra.model.sample import Loss, Timings

Permit = Callable[[Address, int | None], str | None]
"""Returns why an address, or a port of it, may not be contacted; None if it may."""
_RTT_AND_RETRANSMITS = struct.Struct("=68xI28xI")
"""tcpi_rtt and tcpi_total_retrans in the first bytes of Linux's struct tcp_info."""


def anything(_address: Address, _port: int | None) -> str | None:
    """Permit everything."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialler:
    """Opens connections, to literal addresses only."""

    permit: Permit = anything
    """Asked again for each connection, with the address that is really dialled."""
    translate: Callable[[Address], Address | None] | None = None
    """For worlds on loopback: where an address of the world really is; None if it has no place."""
    source: Address | None = None
    """Address to connect from."""

    def dialled(self, address: Address) -> Address:
        """Return the address that is really connected to."""
        found = address if self.translate is None else self.translate(address)
        if found is None:
            raise RefusedConnectError(f"{address} is not in this world")
        return found

    def permitted(self, address: Address, port: int | None) -> Address:
        """Return the address that is really connected to, if that is allowed."""
        real = self.dialled(address)
        why = self.permit(real, port)
        if why is not None:
            raise RefusedConnectError(why)
        return real

    def socket_to(self, address: Address, port: int) -> tuple[socket.socket, tuple[str, int]]:
        """Return a socket and where to connect it; the address is checked at this last moment."""
        real = self.permitted(address, port)
        family = socket.AF_INET if real.version == 4 else socket.AF_INET6  # noqa: PLR2004 - IPv4
        made = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
        try:
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.source is not None and self.source.version == real.version:
                if hasattr(socket, "IP_BIND_ADDRESS_NO_PORT"):
                    made.setsockopt(socket.IPPROTO_IP, socket.IP_BIND_ADDRESS_NO_PORT, 1)
                made.bind((str(self.source), 0))
        except BaseException:
            made.close()
            raise
        return made, (str(real), port)

    async def connect(self, address: Address, port: int, deadline_s: float) -> tuple[TimedSocket, float]:
        """Connect; return the socket and the milliseconds the handshake took on the clock.

        The deadline is by `time.perf_counter`.
        """
        made, place = self.socket_to(address, port)
        timed = TimedSocket(made)
        start_s = time.perf_counter()
        try:
            peer, moment_s = await timed.connect(place, deadline_s)
            _check_peer(peer, place)
        except BaseException:
            timed.close()
            raise
        return timed, (moment_s - start_s) * 1e3


def _check_peer(peer: tuple[str, int], place: tuple[str, int]) -> None:
    """Refuse a peer that is not the permitted one."""
    if peer != place:
        raise RefusedConnectError(f"connected to {peer[0]} instead of {place[0]}")


async def take_tcp(dialler: Dialler, address: Address, port: int, timeout_s: float) -> Exchange:
    """Time one handshake; a refused one is a round trip too."""
    start = time.perf_counter()
    try:
        timed, elapsed_ms = await dialler.connect(address, port, start + timeout_s)
    except ConnectionRefusedError:
        refused_ms = (time.perf_counter() - start) * 1e3
        return Exchange(ms=refused_ms, is_refusal=True, detail=f"port {port} refused")
    except (OSError, RefusedConnectError) as error:
        return failed(error)
    rtt_ms = handshake_ms(timed.socket, elapsed_ms)
    timed.close()
    if rtt_ms is None:
        return Exchange(loss=Loss.TIMEOUT, detail="the handshake was sent twice, so its time proves nothing")
    return Exchange(ms=rtt_ms, timings=Timings(tcp_ms=rtt_ms))


def handshake_ms(made: socket.socket, elapsed_ms: float) -> float | None:
    """Return the round trip of a handshake, by the kernel's own measure where there is one.

    The clock also counts the time until this process is scheduled, the kernel does not. A handshake whose
    first packet was lost has no time, None: it is unknown which packet was answered (Karn's rule).
    """
    measured = kernel_rtt(made)
    if measured is None:
        return elapsed_ms
    rtt_us, retransmits = measured
    if rtt_us == 0:
        return None if retransmits else elapsed_ms
    return min(elapsed_ms, rtt_us / 1e3)


def kernel_rtt(made: socket.socket) -> tuple[int, int] | None:
    """Ask Linux for the smoothed round trip in microseconds and the number of retransmissions."""
    if sys.platform != "linux":
        return None
    try:
        info = made.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RTT_AND_RETRANSMITS.size)
    except OSError:
        return None
    if len(info) < _RTT_AND_RETRANSMITS.size:
        return None
    rtt_us, retransmits = _RTT_AND_RETRANSMITS.unpack(info)
    return rtt_us, retransmits
