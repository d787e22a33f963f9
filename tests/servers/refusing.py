"""Ports where nobody listens."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def refusing_port(host: str = "127.0.0.1") -> Iterator[int]:
    """Hold a port without listening: whoever connects is refused.

    A released port may be in use by others a moment later.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as held:
        held.bind((host, 0))
        yield held.getsockname()[1]


def free_port() -> int:
    """Return a port for a server that has to be restarted at the same place; others may take it first."""
    with refusing_port() as port:
        return port
