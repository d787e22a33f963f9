"""Read the token that coordinators and agents share."""

from __future__ import annotations

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
            raise InputError(f"{path}: the file holds no token")
        return None
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(
            f"a token has at least {SHORTEST_TOKEN} ASCII characters without spaces: "
            "make one with `openssl rand -hex 32`"
        )
    return token
