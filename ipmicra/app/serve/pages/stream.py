"""Changes as server-sent events: rendered once for everybody who looks, and sent part by part as they differ.

While nobody looks, nothing is rendered. A stream ends when the coordinator stops or the session does; the
browser then asks again by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from ipmicra.model.foreign_text import json_text


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamConfig:
    """How often and to how many changes are sent."""

    tick_s: float = 1.0
    """Between two looks."""
    quiet_ticks: int = 15
    """Looks without a change after which a comment is sent: proxies close lines that seem dead."""
    most: int = 100
    """Streams at a time, over all sessions."""


class Changes:
    """Sends the parts that `render` returns, by name, whenever they are something else."""

    def __init__(
        self, render: Callable[[], Awaitable[dict[str, str]]], config: StreamConfig | None = None
    ) -> None:
        """Nobody looks yet."""
        self._render, self.config = render, config or StreamConfig()
        self.looking = 0
        """Streams that are open."""
        self._at_s = -1.0
        self._parts: dict[str, str] = {}
        self._lock = asyncio.Lock()

    @property
    def is_full(self) -> bool:
        """Whether no more streams are taken."""
        return self.looking >= self.config.most

    async def stream(self, goes_on: Callable[[], bool]) -> AsyncIterator[bytes]:
        """Yield events as long as a condition holds."""
        self.looking += 1
        sent: dict[str, str] = {}
        quiet = 0
        try:
            yield b"retry: 2000\n\n"
            while goes_on():
                parts = await self._current()
                changed = [html for name, html in parts.items() if sent.get(name) != html]
                if changed:
                    sent, quiet = parts, 0
                    yield f"event: live\ndata: {json_text(''.join(changed))}\n\n".encode()
                elif quiet >= self.config.quiet_ticks:
                    quiet = 0
                    yield b": still here\n\n"
                quiet += 1
                await asyncio.sleep(self.config.tick_s)
        finally:
            self.looking -= 1

    async def _current(self) -> dict[str, str]:
        """Render, unless somebody else's stream did so a moment ago."""
        async with self._lock:
            now_s = asyncio.get_running_loop().time()
            if now_s - self._at_s >= self.config.tick_s / 2:
                self._parts, self._at_s = await self._render(), now_s
            return self._parts
