"""Who may talk to an agent: whoever has the token, or a certificate that the operator's authority signed."""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path

from ipmicra.errors import InputError

TOKEN_VARIABLE = "IPMICRA_AGENT_TOKEN"  # noqa: S105 - the name of a variable
SHORTEST_TOKEN = 16
"""Characters; 16 random ones of 64 kinds are 96 bits."""


def read_token(path: Path | None) -> str | None:
    """Read the token from a file, else from the environment; None if there is none."""
    text = path.read_text(encoding="utf-8") if path is not None else os.environ.get(TOKEN_VARIABLE, "")
    token = text.strip()
    if not token:
        if path is not None:
            raise InputError(f"{path}: there is no token in it")
        return None
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(
            f"a token has at least {SHORTEST_TOKEN} ASCII characters without spaces: "
            "make one with `openssl rand -hex 32`"
        )
    return token


class TokenCheck:
    """Compares tokens in a time that does not depend on where they differ."""

    def __init__(self, token: str) -> None:
        """Keep a digest, so that all comparisons have one length."""
        self._digest = _digest(token.encode())

    def admits(self, header: str | None) -> bool:
        """Tell whether an Authorization header carries the token."""
        scheme, _, given = (header or "").partition(" ")
        is_same = hmac.compare_digest(_digest(given.strip().encode("utf-8", "replace")), self._digest)
        return is_same and scheme.lower() == "bearer"


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
