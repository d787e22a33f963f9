"""The ICMP rung: an echo through a datagram socket, which needs no privilege where the system allows it."""

from __future__ import annotations

import socket
import struct
import time

from ipmicra.edge.prober.config import Exchange
from ipmicra.edge.prober.failures import RefusedConnectError, failed
from ipmicra.edge.prober.tcp import Dialler
from ipmicra.edge.prober.waiting import Line
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
        line = Line(_open(real))
    except PermissionError:
        return Exchange(loss=Loss.UNREACHABLE, detail="the system does not allow ICMP to this user")
    except (OSError, RefusedConnectError) as error:
        return failed(error)
    try:
        return Exchange(ms=await _echo(line, real, number & 0xFFFF, timeout_s))
    except OSError as error:
        return failed(error)
    finally:
        line.close()


def _open(address: Address) -> socket.socket:
    family, protocol, _, _ = _KINDS[address.version]
    made = socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK, protocol)
    try:
        made.connect((str(address), 0))
    except BaseException:
        made.close()
        raise
    return made


async def _echo(line: Line, address: Address, number: int, timeout_s: float) -> float:
    """Send an echo request and wait for its reply; give milliseconds."""
    _, _, request, reply = _KINDS[address.version]
    start = time.perf_counter()
    await line.send(_ECHO.pack(request, 0, 0, 0, number) + _PAYLOAD, start + timeout_s)
    while True:
        data, moment_s = await line.receive(1_500, start + timeout_s)
        elapsed_ms = (moment_s - start) * 1e3
        if len(data) >= _ECHO.size:
            kind, code, _, _, echoed = _ECHO.unpack_from(data)
            if (kind, code, echoed) == (reply, 0, number):
                return elapsed_ms
