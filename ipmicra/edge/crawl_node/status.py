"""What a node says about itself, in a file that anybody may read while it crawls."""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import dataclass
from pathlib import Path

STATUS_FILE = "status.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeStatus:
    """How far a node has come in its present turn."""

    node: str
    crawler: str
    state: str
    """`crawling`, `finished`, `interrupted`, or `limit` if a limit ended it with URLs left."""
    turn: int
    pid: int
    started_s: float
    """When this run began; seconds since 1970, UTC."""
    updated_s: float
    pages: int
    """Responses to requests for pages in this run, errors included."""
    bytes: int
    pages_per_s: float
    """Over this run."""
    recent_pages_per_s: float
    """Over the last seconds."""
    queued: int
    in_flight: int
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    problems: int = 0
    """Requests without a response, and responses that are errors."""
    forbidden: int = 0
    """URLs that robots.txt forbids."""
    refused: int = 0
    """URLs whose addresses are not public and not allowed."""
    foreign: int = 0
    """Different links to sites of others."""
    sent: int = 0
    """Of these, handed over to their owner."""
    duplicates: int = 0
    """Links that were known already, and were not fetched again."""
    first_byte_ms: float | None = None
    """Mean time to the first byte."""

    def write(self, folder: Path) -> None:
        """Replace the file of a folder."""
        beside = folder / f".{STATUS_FILE}.part"
        beside.write_text(json.dumps(dataclasses.asdict(self)), encoding="utf-8")
        beside.replace(folder / STATUS_FILE)


def read_status(folder: Path) -> NodeStatus | None:
    """Read the status of a node; None if there is none. One that was killed is interrupted."""
    try:
        given = json.loads((folder / STATUS_FILE).read_bytes())
        status = NodeStatus(**given)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (TypeError, ValueError):
        return None
    if status.state == "crawling" and not _is_alive(status.pid):
        return dataclasses.replace(status, state="interrupted")
    return status


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
