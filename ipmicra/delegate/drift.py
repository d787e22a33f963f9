"""Whether what nodes observe while they download speaks against the round trip that a site was decided by.

Times under load are biased: the server's own time is in them, and that of whatever else the node does. So
they decide nothing. But no page can come before its round trip is over, and what took long from the beginning
is compared with itself. Either may show that a site has moved, and is worth a probe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftConfig:
    """What counts as drift. All numbers are ours."""

    least_pages: int = 5
    """Fewer pages say nothing: one of them must have found a connection that was open, and a quiet moment."""
    least_failures: int = 3
    """Requests without an answer, and none with one, that say something."""
    nearer: float = 0.8
    """A first byte after less than this part of the measured round trip: the site is nearer than it was."""
    farther: float = 1.5
    farther_ms: float = 30.0
    """A first byte later than before by this factor and this time: the site may be farther than it was."""
    remembered: int = 5
    """Earlier observations that are compared with; their median counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one crawler's nodes observed of a site."""

    pages: int = 0
    first_byte_ms: float | None = None
    """The shortest; None if there was no answer."""
    failures: int = 0
    """Requests without an answer."""


def is_enough(seen: Seen, config: DriftConfig) -> bool:
    """Return whether observations are many enough to be judged."""
    return seen.pages >= config.least_pages or (not seen.pages and seen.failures >= config.least_failures)


def drift_of(
    seen: Seen, measured_ms: float | None, before_ms: Sequence[float], config: DriftConfig
) -> str | None:
    """Say why a site should be measured again; None if nothing speaks for it.

    `measured_ms` is the crawler's last probe, `before_ms` what was observed earlier, oldest first.
    """
    if not is_enough(seen, config):
        return None
    first_ms = seen.first_byte_ms
    if first_ms is None:
        return f"{seen.failures} requests in a row got no answer"
    if measured_ms is not None and first_ms < config.nearer * measured_ms:
        return f"a page came after {first_ms:.1f} ms, too soon for a round trip of {measured_ms:.1f} ms"
    if before_ms:
        usual_ms = median(before_ms[-config.remembered :])
        if first_ms > config.farther * usual_ms and first_ms > usual_ms + config.farther_ms:
            return f"no page came before {first_ms:.1f} ms, where {usual_ms:.1f} ms were usual"
    return None
