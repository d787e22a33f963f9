"""Describe the pages of a loopback web: how many, how large, how they are linked and how fast they arrive."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ipmicra.edge.hierarchy_file import write_atomically
from ipmicra.errors import InputError

PLAN_FILE = "web.json"
"""Name of the file in the folder of a world."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPlan:
    """A web whose pages are computed when they are asked for: the same plan always serves the same pages.

    The time of a page is that of the download equation, for one page per connection: two round trips (the
    handshake and the request), the server's wait, and the page's bytes at the line's rate.
    """

    pages: Mapping[str, int]
    """Number of pages by host, the main page included."""
    seed: int = 0
    page_bytes: int = 10_000
    """Size of a page at least; one with many links may need more."""
    line_bps: float = 1_000_000.0
    """Bits per second of each connection."""
    wait_ms: float = 100.0
    """How long a server thinks before it answers."""
    pages_per_connection: int = 1
    """After so many answers a server closes the connection; 0 never."""
    links: int = 6
    """Random links of a page, beside those to the pages below it."""
    leaving: float = 0.1
    """Share of the random links that lead to another site."""
    directories: int = 3
    """First-level directories over which the pages of a site are spread."""
    private: bool = True
    """Whether some pages link to others that robots.txt forbids."""
    oddities: bool = False
    """Whether main pages link to redirects, a trap, a picture, a huge page and one that never ends."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no web."""
        positive = min(self.page_bytes, self.line_bps, self.directories, *self.pages.values(), 1)
        if not self.pages or positive <= 0 or self.wait_ms < 0 or not 0 <= self.leaving <= 1:
            raise InputError("a web needs hosts with pages, a size, a line and directories above 0")

    def save(self, folder: Path) -> None:
        """Write the plan into the folder of a world."""
        write_atomically(folder / PLAN_FILE, [json.dumps(dataclasses.asdict(self)).encode()])


def load_plan(folder: Path) -> WebPlan | None:
    """Read the plan in the folder of a world; None if its sites have no pages."""
    path = folder / PLAN_FILE
    if not path.exists():
        return None
    given: Any = json.loads(path.read_bytes())
    try:
        return WebPlan(**given)
    except TypeError as error:
        raise InputError(f"{path}: {error}") from error
