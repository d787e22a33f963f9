"""Define the prober's settings, and one exchange: an attempt to take a round trip, with its result."""

from __future__ import annotations

import errno
import ssl
from dataclasses import dataclass
from importlib.metadata import version
from typing import NamedTuple

from ipmicra.model.sample import Loss, Timings

CONTACT = "https://pypi.org/project/ipmicra/"
"""The page for people whose site was probed, unless the operator names another."""


def user_agent(contact: str = CONTACT) -> str:
    """Return the User-Agent: who probes, and where to complain."""
    return f"ipmicra/{version('ipmicra')} (+{contact})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProberConfig:
    """How to measure. [1] Papapetrou and Samaras 2004; [2] RFC 6298, 3 (Karn's rule)."""

    user_agent: str = user_agent()
    """Sent with each HTTP request."""
    patience: int = 2
    """Consecutive failures after which a rung is given up: one packet may be lost, two rarely are."""
    max_head_bytes: int = 16_384
    """Most bytes of an answer that are read."""
    max_page_bytes: int = 262_144
    """Most bytes of a main page that are downloaded where its time is asked for."""
    middlebox_factor: float = 2.0
    """A refusal this many times faster than an echo was sent by a middlebox."""
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


_LOSS_OF = {
    errno.ETIMEDOUT: Loss.TIMEOUT,
    errno.ECONNRESET: Loss.RESET,
    errno.ECONNABORTED: Loss.RESET,
    errno.EPIPE: Loss.RESET,
    errno.EHOSTUNREACH: Loss.UNREACHABLE,
    errno.ENETUNREACH: Loss.UNREACHABLE,
    errno.ENETDOWN: Loss.UNREACHABLE,
    errno.EHOSTDOWN: Loss.UNREACHABLE,
    errno.EACCES: Loss.UNREACHABLE,
    errno.EPERM: Loss.UNREACHABLE,
    errno.EADDRNOTAVAIL: Loss.UNREACHABLE,
    errno.EAFNOSUPPORT: Loss.UNREACHABLE,
    errno.EINVAL: Loss.UNREACHABLE,
    errno.EPROTO: Loss.RESET,
}


class RefusedConnectError(Exception):
    """The address may not be connected to; carries the reason. Never leaves the prober."""


def failed(error: BaseException) -> Exchange:
    """Translate an exception into an exchange; errors of this machine are the agent's, not the site's."""
    if isinstance(error, TimeoutError) and not getattr(error, "errno", None):
        return Exchange(loss=Loss.TIMEOUT, detail="no answer in time")
    if isinstance(error, ssl.SSLError):
        return Exchange(loss=Loss.TLS, detail=f"TLS: {error.reason or type(error).__name__}")
    if isinstance(error, RefusedConnectError):
        return Exchange(loss=Loss.REFUSED_ORDER, detail=str(error))
    if isinstance(error, OSError):
        loss = _LOSS_OF.get(error.errno or 0, Loss.AGENT)
        return Exchange(loss=loss, detail=(error.strerror or type(error).__name__).lower())
    raise error
