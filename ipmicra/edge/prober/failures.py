"""What the system's errors mean for a sample; translated here and nowhere else."""

from __future__ import annotations

import errno
import ssl

from ipmicra.edge.prober.config import Exchange
from ipmicra.model.sample import Loss

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
    """The address may not be connected to; carries why. Never leaves the prober."""


def failed(error: BaseException) -> Exchange:
    """Make an exchange of what went wrong; errors of this machine are the agent's, not the site's."""
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
