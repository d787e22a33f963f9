"""The last events of the log, for the page."""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass

from ipmicra.app.describe.texts import time_text
from ipmicra.edge.log import ROOT, Censor
from ipmicra.model.foreign_text import printable

KEPT = 100
LONGEST = 300
"""Characters of a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """An event, without secrets."""

    at: str
    level: str
    part: str
    event: str
    text: str


class RecentEvents(logging.Handler):
    """Keeps the last events; a part of the log that nobody has to read from a file."""

    def __init__(self, kept: int = KEPT) -> None:
        """Keep so many, from the level of information on."""
        super().__init__(logging.INFO)
        self._censor = Censor()
        self._last: deque[News] = deque(maxlen=kept)
        self.count = 0
        """All that came."""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep an event."""
        self._last.append(
            News(
                at=time_text(record.created) or "",
                level=record.levelname.lower(),
                part=record.name.removeprefix(f"{ROOT}."),
                event=str(getattr(record, "event", "message")),
                text=printable(self._censor.text(record.getMessage()))[:LONGEST],
            )
        )
        self.count += 1

    def newest(self, most: int) -> list[News]:
        """Return the last events, newest first."""
        return list(self._last)[::-1][:most]

    def listen(self) -> None:
        """Hear of every event from now on."""
        logging.getLogger(ROOT).addHandler(self)

    def stop(self) -> None:
        """Hear of nothing any more."""
        logging.getLogger(ROOT).removeHandler(self)
