"""Sessions of people who signed in with a token.

How it works
------------
A cookie holds the hash of the token, the time at which the session ends and a signature of both. Nothing is
kept in memory, so sessions cost nothing; and at every request the token is looked up by its hash, so a
session ends when its token is revoked or expires. The hash alone opens nothing: it has to be signed by a key
that exists in this process only. After a restart people sign in again.

A form that changes something carries the signature of the session under another label; a page of another
origin cannot read it, and browsers do not send the cookie from there anyway (`SameSite=Strict`).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from ipmicra.edge.coordinator.access import Access, hash_of
from ipmicra.model.token import Identity, Role

COOKIE = "ipmicra_session"
LIFETIME_S = 12 * 3600
"""A working day; then people sign in again."""
MAY_LOOK = (Role.OPERATOR, Role.CRAWLER)
_HASH_BYTES, _MAC_BYTES = 32, 32
_LONGEST = 200
"""Characters of a cookie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Somebody who signed in."""

    identity: Identity
    form_key: str
    """What a form must carry that changes something."""


class Sessions:
    """Begins sessions and recognises them."""

    def __init__(self, access: Access, clock: Callable[[], float], key: bytes | None = None) -> None:
        """Recognise tokens by `access`; the key is made anew unless a test gives it."""
        self._access, self._clock = access, clock
        self._key = key or secrets.token_bytes(32)

    def begin(self, token: str) -> str | None:
        """Return the cookie of a new session; None if the token does not work here."""
        identity = self._access.identify(f"Bearer {token.strip()}")
        if identity is None or identity.role not in MAY_LOOK:
            return None
        ends_s = int(self._clock()) + LIFETIME_S
        payload = hash_of(token.strip()) + ends_s.to_bytes(8, "big")
        return base64.urlsafe_b64encode(payload + self._sign(b"session", payload)).decode()

    def find(self, cookie: str | None) -> Session | None:
        """Return the session of a cookie; None if there is none, or no more."""
        payload = self._checked(cookie)
        if payload is None or int.from_bytes(payload[_HASH_BYTES:], "big") <= self._clock():
            return None
        identity = self._access.identify_hash(payload[:_HASH_BYTES])
        if identity is None or identity.role not in MAY_LOOK:
            return None
        return Session(identity=identity, form_key=self._sign(b"form", payload).hex())

    def _checked(self, cookie: str | None) -> bytes | None:
        """Return what a cookie says if we have signed it."""
        if not cookie or len(cookie) > _LONGEST:
            return None
        try:
            signed = base64.urlsafe_b64decode(cookie.encode("ascii"))
        except ValueError:
            return None
        payload, mac = signed[:-_MAC_BYTES], signed[-_MAC_BYTES:]
        if len(payload) != _HASH_BYTES + 8:
            return None
        return payload if hmac.compare_digest(mac, self._sign(b"session", payload)) else None

    def _sign(self, label: bytes, payload: bytes) -> bytes:
        return hmac.new(self._key, label + b"\0" + payload, hashlib.sha256).digest()


def is_form_of(session: Session, given: str) -> bool:
    """Return whether a form was made for a session."""
    return hmac.compare_digest(session.form_key.encode(), given.encode("utf-8", "replace"))
