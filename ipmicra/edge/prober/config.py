"""Settings of the prober, and what one exchange gives."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import NamedTuple

from ipmicra.model.sample import Loss, Timings

CONTACT = "https://pypi.org/project/ipmicra/"
"""Where somebody who was probed reads what this is, unless the operator names a page of their own."""


def user_agent(contact: str = CONTACT) -> str:
    """Write who we are and where to complain."""
    return f"ipmicra/{version('ipmicra')} (+{contact})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProberConfig:
    """How to measure. [1] Papapetrou and Samaras 2004; [2] RFC 6298, 3 (Karn's rule)."""

    user_agent: str = user_agent()
    """Sent with each HTTP request."""
    patience: int = 2
    """Failed exchanges in a row after which a rung is given up: one packet may be lost, two seldom are."""
    max_head_bytes: int = 16_384
    """Bytes of an answer that are read at most."""
    middlebox_factor: float = 2.0
    """A refusal that comes this many times sooner than an echo was sent by something on the way."""
    middlebox_slack_ms: float = 5.0
    """Differences below this are noise and prove no middlebox."""


class Exchange(NamedTuple):
    """One attempt to take a round trip; a tuple because many are made and few are kept."""

    ms: float | None = None
    """The round trip; None if there is none."""
    loss: Loss | None = None
    is_refusal: bool = False
    """The round trip is that of a refused connection."""
    timings: Timings | None = None
    detail: str = ""
