"""Read the token that coordinators and agents share."""

from __future__ import annotations

import os
from pathlib import Path

from ipmicra.errors import InputError

TOKEN_VARIABLE = "IPMICRA_AGENT_TOKEN"  # noqa: S105 - the name of a variable
SHORTEST_TOKEN = 16
"""Characters; 16 random ones of 64 kinds are 96 bits."""

LONGEST_TOKEN = 4_096
"""Characters: it must fit into the headers that an agent accepts."""


def read_token(path: Path | None) -> str | None:
    """Read the token from a file, else from the environment; None if there is none."""
    token = (_start_of(path) if path is not None else os.environ.get(TOKEN_VARIABLE, "")).strip()
    if not token:
        if path is not None:
            raise InputError(f"{path}: the file holds no token")
        return None
    is_visible = token.isascii() and token.isprintable() and " " not in token
    if not is_visible or not SHORTEST_TOKEN <= len(token) <= LONGEST_TOKEN:
        raise InputError(
            f"a token has at least {SHORTEST_TOKEN} ASCII characters without spaces, "
            f"{LONGEST_TOKEN:,} at most: make one with `openssl rand -hex 32`"
        )
    return token


def _start_of(path: Path) -> str:
    """Read a little more than the longest token, with a substitute for what is no text."""
    with path.open("rb") as file:
        return file.read(2 * LONGEST_TOKEN).decode("utf-8", "replace")
