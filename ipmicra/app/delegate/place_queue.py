"""Sites that cannot be probed, on their way to a place: located many at a time, beside everything else.

The machine asks for one place at a time, and a DNS server takes longer to answer than a site takes to be
decided. So questions are gathered: while one batch is being located the next one fills, and the driver
goes on with all sites that need no place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ipmicra.model.location import Hint
from ipmicra.model.site import Site


class HintSource(Protocol):
    """Who knows where sites are, and by what."""

    async def hints_of(self, sites: Sequence[Site]) -> list[Hint | str]:
        """Return the vote that counts for each site, or why there is none."""


@dataclass(slots=True)
class PlaceQueue:
    """Carries sites to a source of hints, and its answers back to their attempts."""

    source: HintSource
    on_found: Callable[[int, Hint | str], None]
    """Called with an attempt and what was found."""
    fail: Callable[[BaseException], None]
    most: int = 5_000
    """Sites that are located at a time: each costs memory while the DNS is asked."""
    gather_s: float = 0.005
    """How long a site may wait for others."""
    _waiting: list[tuple[int, Site]] = field(default_factory=list)
    _task: asyncio.Task[None] | None = None

    def ask(self, attempt: int, site: Site) -> None:
        """Ask for a site's place; the answer comes later in any case."""
        self._waiting.append((attempt, site))
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        try:
            await asyncio.sleep(self.gather_s)
            while self._waiting:
                batch, self._waiting = self._waiting[: self.most], self._waiting[self.most :]
                hints = await self.source.hints_of([site for _, site in batch])
                for (attempt, _), found in zip(batch, hints, strict=True):
                    self.on_found(attempt, found)
        except Exception as error:  # noqa: BLE001 - the session raises it
            self.fail(error)
        finally:
            self._task = None

    async def close(self) -> None:
        """Cancel what is under way; the next run asks again."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
