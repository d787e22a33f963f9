"""Time ICMP echoes: the ICMP rung, over a datagram socket, without privileges where the system allows it."""

from __future__ import annotations

import socket
import struct
import time

from ipmicra.edge.prober.exchange import Exchange, RefusedConnectError, failed
from ipmicra.edge.prober.sockets import Dialler, TimedSocket
from ipmicra.model.address import Address
from ipmicra.model.sample import Loss

_ECHO = struct.Struct("!BBHHH")
"""Type, code, checksum and identifier (both filled in by the kernel), sequence number."""
_KINDS = {4: (socket.AF_INET, 1, 8, 0), 6: (socket.AF_INET6, 58, 128, 129)}
"""By family: socket family, protocol, type of request, type of reply."""
_PAYLOAD = b"ipmicra probe"


async def take_icmp(dialler: Dialler, address: Address, number: int, timeout_s: float) -> Exchange:
    """Time one echo."""
    try:
        real = dialler.permitted(address, None)
        timed = TimedSocket(_open(real))
    except PermissionError:
        return Exchange(loss=Loss.UNREACHABLE, detail="the system does not allow ICMP to this user")
    except (OSError, RefusedConnectError) as error:
        return failed(error)
    try:
        return Exchange(ms=await _echo(timed, real, number & 0xFFFF, timeout_s))
    except OSError as error:
        return failed(error)
    finally:
        timed.close()


def _open(address: Address) -> socket.socket:
    family, protocol, _, _ = _KINDS[address.version]
    made = socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK, protocol)
    try:
        made.connect((str(address), 0))
    except BaseException:
        made.close()
        raise
    return made


async def _echo(timed: TimedSocket, address: Address, number: int, timeout_s: float) -> float:
    """Send an echo request and wait for its reply; return milliseconds."""
    _, _, request, reply = _KINDS[address.version]
    start = time.perf_counter()
    await timed.send(_ECHO.pack(request, 0, 0, 0, number) + _PAYLOAD, start + timeout_s)
    while True:
        data, moment_s = await timed.receive(1_500, start + timeout_s)
        elapsed_ms = (moment_s - start) * 1e3
        if len(data) >= _ECHO.size:
            kind, code, _, _, echoed = _ECHO.unpack_from(data)
            if (kind, code, echoed) == (reply, 0, number):
                return elapsed_ms
