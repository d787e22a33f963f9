"""Settings of TLS for whoever calls a coordinator or an agent."""

from __future__ import annotations

import ssl
from pathlib import Path


def context_for(certificate_text: str | None = None, file: Path | None = None) -> ssl.SSLContext:
    """Make TLS settings that trust some certificates and whatever they sign, and nothing else.

    Without any, what the system trusts. A certificate may be the server's own, signed by somebody else: hence
    a chain may end at it.
    """
    context = ssl.create_default_context(cafile=file, cadata=certificate_text)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context
