"""Read the prefixes whose holders do not want to be probed, from a file that may change at any time."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from ipmicra.edge.files.prefixes import PrefixSet, read_prefixes
from ipmicra.edge.log import EventLog
from ipmicra.errors import InputError
from ipmicra.model.address import Address

LOOK_EVERY_S = 1.0
"""How often the file is checked, at most."""
events = EventLog("agent")


class OptOutList:
    """A file of prefixes, one per line; `#` starts a comment. It is read again when it changes."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        """Read the file; at the start a line that is no prefix is an error, so that no opt-out is lost."""
        self._path = path
        self._clock = clock
        self._mark = self._stamp()
        self._looked_s = clock()
        self._prefixes, bad = _read(path)
        if bad:
            raise InputError("; ".join(bad[:5]))

    def find(self, address: Address) -> str | None:
        """Return the prefix that holds an address, None if none does."""
        if self._clock() - self._looked_s >= LOOK_EVERY_S:
            self._look()
        return self._prefixes.find(address)

    def __len__(self) -> int:
        """Count the prefixes."""
        return len(self._prefixes)

    def _look(self) -> None:
        """Read the file again if it changed.

        A file that vanished or has bad lines removes nothing: the prefixes known so far stay in force.
        """
        self._looked_s = self._clock()
        try:
            mark = self._stamp()
            if mark == self._mark:
                return
            prefixes, bad = _read(self._path)
        except (OSError, InputError) as error:
            events.warning(
                "opt_out_unreadable",
                "opt-out list {path} cannot be read, the last one stays in force: {reason}",
                path=self._path,
                reason=error,
            )
            return
        if bad:
            events.warning(
                "opt_out_faulty",
                "opt-out list {path}: {reason}; its other lines are added",
                path=self._path,
                reason="; ".join(bad[:5]),
            )
            for prefix in self._prefixes:
                prefixes.add(prefix)
        self._mark, self._prefixes = mark, prefixes
        events.info(
            "opt_out_read",
            "opt-out list {path} has {prefixes} prefixes",
            path=self._path,
            prefixes=len(prefixes),
        )

    def _stamp(self) -> tuple[int, int, int]:
        found = self._path.stat()
        return found.st_mtime_ns, found.st_size, found.st_ino


def _read(path: Path) -> tuple[PrefixSet, list[str]]:
    """Read all prefixes, and what is wrong with lines that are none."""
    bad: list[str] = []
    return read_prefixes(path, bad.append), bad
