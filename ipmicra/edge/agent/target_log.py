"""Write down what an agent probes, for its owner to read; the file is rotated by size.

A line is written before the first packet is sent, and each has a time, an order and a target:

    {"time": "2026-11-17T20:00:00Z", "order": "4f…", "address": "198.51.100.7", "host": "a.org", "port": 443}
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path
from time import gmtime, strftime, time

from ipmicra.wire.messages import ProbeOrder

LARGEST, KEPT = 10_000_000, 4
"""Bytes of a file, and how many earlier ones are kept: half a million probes in all."""


class TargetLog:
    """A file of targets."""

    def __init__(
        self, path: Path, *, largest: int = LARGEST, kept: int = KEPT, clock: Callable[[], float] = time
    ) -> None:
        """Open the file, made if it is missing; what is there stays."""
        self._clock = clock
        self._handler = RotatingFileHandler(path, maxBytes=largest, backupCount=kept, encoding="utf-8")

    def note(self, order: ProbeOrder) -> None:
        """Write down that the target of an order is about to be probed."""
        entry = {
            "time": strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(self._clock())),
            "order": order.id,
            "address": str(order.address) if order.address else None,
            "host": order.host,
            "port": order.port,
        }
        # A record of logging's own: only the handler is used, which writes a line and rotates.
        self._handler.emit(logging.LogRecord("targets", logging.INFO, "", 0, json.dumps(entry), None, None))

    def close(self) -> None:
        """Close the file."""
        self._handler.close()
