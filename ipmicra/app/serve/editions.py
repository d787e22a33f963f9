"""New editions of the hierarchy, loaded while the coordinator runs.

`ipmicra build` replaces the file by renaming, so whoever has the old edition open goes on reading it. Here
the file is looked at every few seconds. When it is another one, it is opened and, while no session is open,
takes the place of the old: the next session carries the delegations over (`new_edition.py`), and whoever
waits meanwhile is answered by it. A file that cannot be opened is logged once and left alone until it changes
again.

The old edition stays open for a while, because threads may be reading it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ipmicra.app.serve.deciding import Deciding
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.log import EventLog
from ipmicra.errors import IpmicraError

events = EventLog("coordinator")
Mark = tuple[int, int, int]
"""What tells one file from another: inode, size and time of the last change."""


@dataclass(slots=True)
class EditionWatch:
    """Watches the file of a hierarchy."""

    deciding: Deciding
    on_edition: Callable[[Hierarchy], object]
    """Called with a new edition before a session is opened on it."""
    look_s: float = 2.0
    """Time between two looks at the file."""
    old_s: float = 300.0
    """How long an old edition stays open."""
    _mark: Mark | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Remember the file that is open."""
        self._mark = _mark_of(self.deciding.home.hierarchy)

    async def watch(self) -> None:
        """Load what is new, for ever."""
        while True:
            await asyncio.sleep(self.look_s)
            mark = _mark_of(self.deciding.home.hierarchy)
            if mark is None or mark == self._mark:
                continue
            self._mark = mark
            try:
                await self._load()
            except (IpmicraError, OSError) as error:
                events.warning(
                    "edition_refused", "the new hierarchy is not used: {reason}", reason=str(error)
                )

    async def _load(self) -> None:
        new = self.deciding.home.open_hierarchy()
        old = self.deciding.hierarchy
        if new.content_hash == old.content_hash:
            new.close()
            return
        async with self.deciding.paused():
            self.deciding.hierarchy = new
            self.on_edition(new)
        asyncio.get_running_loop().call_later(self.old_s, old.close)
        session = self.deciding.session
        lines = session.carrying.lines() if session is not None else []
        notes = "; ".join(lines) or "nothing to carry over"
        events.info("edition_loaded", "a new hierarchy: {notes}", notes=notes)


def _mark_of(path: Path) -> Mark | None:
    """Return what tells a file from another; None while there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
