"""Decide who a request comes from: tokens are made, recognised and revoked here.

How it works
------------
A token is 256 random bits, written `ipm_<letter of its role>_<43 characters>`. Only its SHA-256 is kept: a
random token cannot be guessed from it, so no slow hash is needed. To recognise one takes a hash and a look
into a dictionary that holds the store's tokens; whoever cannot produce the text cannot choose its hash, so a
dictionary, which compares in variable time, gives nothing away.

The dictionary is read again when the store's tokens have changed: that is looked up every `check_s`, and at
once (but not more often than every `eager_s`) when an unknown token comes. So a token that was revoked by
another process works for `check_s` more at the longest, and a new one almost at once.

When tokens were last used is noted in memory and written with everybody's once per `write_s`: a commit per
request would cost more than the request.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from ipmicra.edge.store.ports import StorePort
from ipmicra.model.token import LETTERS, Identity, Role, TokenRecord

__all__ = ["Access", "AccessConfig", "Identity", "Role", "fleet_id", "hash_of", "make_token"]

FLEET = "fleet"
"""Key in `meta` of the random name that tells this fleet from others."""
WHY_NOT = {
    "revoked": "it was revoked",
    "used": "an agent has joined with it already: a join token works once",
    "expired": "it has expired",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessConfig:
    """How stale the tokens in memory may be."""

    check_s: float = 1.0
    """Seconds between looks at the store."""
    eager_s: float = 0.2
    """The same while unknown tokens come."""
    write_s: float = 60.0
    """Seconds between writes of when tokens were used."""


class Access:
    """Recognises the bearers of tokens."""

    def __init__(
        self,
        store: StorePort,
        config: AccessConfig | None = None,
        *,
        clock: Callable[[], float] = time.time,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        """Read the store's tokens; `clock` tells when they expire, `ticks` how much time has passed."""
        self._store, self._config = store, config or AccessConfig()
        self._clock, self._ticks = clock, ticks
        self._tokens: dict[bytes, TokenRecord] = {}
        self._used: dict[bytes, float] = {}
        self._mark: tuple[int, int, float] | None = None
        self._checked_s = self._written_s = ticks()
        self._load()

    def identify(self, authorization: str | None) -> Identity | None:
        """Return who sent an `Authorization` header; None if its token does not work, or there is none."""
        record = self.record(authorization)
        if record is None or record.state(self._clock()) != "good":
            return None
        if record.role is not Role.JOIN:  # the use of a join token is noted by whoever accepts it
            self._used[record.hash] = self._clock()
        return Identity(name=record.name, role=record.role, crawler=record.crawler)

    def identify_hash(self, token_hash: bytes) -> Identity | None:
        """Return whose token has a hash; None if there is none, or it no longer works."""
        if self._ticks() - self._checked_s >= self._config.check_s:
            self.refresh()
        record = self._tokens.get(token_hash)
        if record is None or record.state(self._clock()) != "good":
            return None
        return Identity(name=record.name, role=record.role, crawler=record.crawler)

    def refusal(self, authorization: str | None) -> str:
        """Return the reason for which an `Authorization` header is refused, for whoever sent it."""
        record = self.record(authorization)
        if record is None:
            return "a bearer token of this coordinator is needed"
        state = record.state(self._clock())
        return f"the token {record.name!r} does not work: {WHY_NOT.get(state, 'its role may not do this')}"

    def record(self, authorization: str | None) -> TokenRecord | None:
        """Return what is kept of a header's token, whether it still works or not; None if it is unknown."""
        scheme, _, text = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not text:
            return None
        since_s = self._ticks() - self._checked_s
        if since_s >= self._config.check_s:
            self.refresh()
        token_hash = hash_of(text.strip())
        if token_hash not in self._tokens and since_s >= self._config.eager_s:
            self.refresh()
        if self._ticks() - self._written_s >= self._config.write_s:
            self.write_used()
        return self._tokens.get(token_hash)

    def refresh(self) -> None:
        """Look at the store again, whenever it was last looked at."""
        self._checked_s = self._ticks()
        if self._store.tokens.mark() != self._mark:
            self._load()

    def write_used(self) -> None:
        """Write when tokens were last used."""
        used, self._used, self._written_s = self._used, {}, self._ticks()
        if used:
            self._store.tokens.use_many(used.items())

    def _load(self) -> None:
        self._mark = self._store.tokens.mark()
        self._tokens = {token.hash: token for token in self._store.tokens.all()}


def make_token(role: Role) -> str:
    """Make the text of a new token."""
    return f"ipm_{LETTERS[role]}_{secrets.token_urlsafe(32)}"


def hash_of(token: str) -> bytes:
    """Return what is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def fleet_id(store: StorePort) -> str:
    """Return the name that tells this fleet from others, made when it is first asked for."""
    with store.transaction():
        found = store.meta.get(FLEET)
        if found is None:
            found = secrets.token_hex(8)
            store.meta.set(FLEET, found)
        return found
