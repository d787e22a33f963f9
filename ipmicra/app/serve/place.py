"""Where the coordinator of a home is: a file that it writes when it starts and removes when it stops.

A coordinator that was killed leaves its file behind. So whoever reads it checks that the process lives and
that it holds the store's lock: a process of the same number may be another one.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from ipmicra.app.home import Home
from ipmicra.edge.hierarchy_file import write_atomically
from ipmicra.edge.store.places import shown
from ipmicra.errors import StoreBusyError

PLACE = "coordinator.json"
OPERATOR_TOKEN = "operator.token"  # noqa: S105 - the name of a file


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorPlace:
    """A coordinator that runs on this machine."""

    url: str
    pid: int
    certificate: Path | None = None
    """Its own certificate, which clients on this machine may trust."""


def note_place(home: Home, place: CoordinatorPlace) -> None:
    """Write where the coordinator is."""
    certificate = str(place.certificate.absolute()) if place.certificate else None
    content = {"url": place.url, "pid": place.pid, "store": shown(home.store), "certificate": certificate}
    write_atomically(home.folder / PLACE, [json.dumps(content).encode()])


def forget_place(home: Home) -> None:
    """Remove the file, unless another coordinator has written it."""
    place = _read(home)
    if place is not None and place.pid == os.getpid():
        (home.folder / PLACE).unlink(missing_ok=True)


def find_place(home: Home) -> CoordinatorPlace | None:
    """Return the coordinator that holds a home's store; None if there is none."""
    place = _read(home)
    if place is None or not _is_alive(place.pid):
        return None
    try:
        with home.lock("assign", "looking for the coordinator"):
            return None
    except StoreBusyError:
        return place


def read_operator_token(home: Home) -> str | None:
    """Return the operator's token; None if this user may not read it, or there is none."""
    try:
        return (home.folder / OPERATOR_TOKEN).read_text(encoding="ascii").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def _read(home: Home) -> CoordinatorPlace | None:
    """Read the file; None if it is missing, is of another store, or makes no sense."""
    try:
        found = json.loads((home.folder / PLACE).read_text(encoding="utf-8"))
        certificate = Path(found["certificate"]) if found.get("certificate") else None
        is_ours = found["store"] == shown(home.store)
        place = CoordinatorPlace(url=str(found["url"]), pid=int(found["pid"]), certificate=certificate)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return place if is_ours else None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
