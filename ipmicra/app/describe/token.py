"""Tokens as plain dictionaries; never their text or hash."""

from __future__ import annotations

from typing import Any

from ipmicra.app.describe.texts import time_text
from ipmicra.model.token import TokenRecord


def describe_token(token: TokenRecord, now_s: float) -> dict[str, Any]:
    """Describe a token."""
    return {
        "name": token.name,
        "role": token.role.value,
        "crawler": token.crawler,
        "state": token.state(now_s),
        "created": time_text(token.created_s),
        "expires": _time_or_none(token.expires_s),
        "revoked": _time_or_none(token.revoked_s),
        "last_used": _time_or_none(token.last_used_s),
    }


def _time_or_none(seconds: float | None) -> str | None:
    return None if seconds is None else time_text(seconds)
