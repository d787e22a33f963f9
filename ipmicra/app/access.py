"""Tokens as use cases: made, listed, revoked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from ipmicra.edge.coordinator.access import fleet_id, hash_of, make_token
from ipmicra.edge.files.crawlers import NAME
from ipmicra.edge.store.ports import StorePort
from ipmicra.errors import InputError
from ipmicra.model.token import Role, TokenRecord
from ipmicra.wire.joining import JoinToken, encode_join_token

COORDINATOR_URL, COORDINATOR_PIN = "coordinator_url", "coordinator_pin"
"""Keys in `meta` under which a coordinator notes where agents reach it, and the pin of its key."""
COORDINATOR_AUTHORITY = "coordinator_authority"
"""Key in `meta` of the certificates that are shown to agents, one of which a join token pins; PEM."""
LONGEST_AUTHORITY = 50_000
"""Characters of those certificates; an authority's has about 2,000, and old ones come last."""
VALID_HOURS = {Role.OPERATOR: 8_760.0, Role.CRAWLER: 8_760.0, Role.JOIN: 1.0}
"""How long tokens work if nobody says; an agent's works until it is removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenWish:
    """A token that somebody wants."""

    name: str
    role: Role
    crawler: str | None = None
    valid_hours: float | None = None
    url: str | None = None
    """For a join token: where agents reach the coordinator."""
    certificate: Path | None = None
    """For a join token: the certificate of the coordinator or of its CA, whose key is pinned."""


def add_token(store: StorePort, wish: TokenWish, clock: Callable[[], float] = time.time) -> str:
    """Make a token; its text is nowhere but in what this returns."""
    if not NAME.fullmatch(wish.name):
        raise InputError(f"name {wish.name!r}: letters, digits, `.`, `_`, `-`, 64 at most, are a name")
    if wish.role is Role.PEER:
        raise InputError("coordinators make their tokens for each other themselves")
    if wish.role is Role.AGENT:
        raise InputError("agents get their token when they join: make a join token with --role join")
    now_s = clock()
    alike = [one for one in _named(store, wish.name, wish.role) if one.state(now_s) == "good"]
    if alike and wish.role is not Role.JOIN:
        raise InputError(f"there is a {wish.role} token named {wish.name!r} already: choose another name")
    text = make_token(wish.role)
    hours = VALID_HOURS[wish.role] if wish.valid_hours is None else wish.valid_hours
    written = encode_join_token(_invitation(store, wish, text)) if wish.role is Role.JOIN else text
    with store.transaction():
        store.tokens.revoke([one.hash for one in alike], now_s)  # a new invitation replaces the one before
        store.tokens.add(
            TokenRecord(
                name=wish.name,
                role=wish.role,
                hash=hash_of(text),
                created_s=now_s,
                expires_s=now_s + hours * 3600,
                crawler=wish.crawler or (wish.name if wish.role is Role.JOIN else None),
            )
        )
    return written


def list_tokens(store: StorePort) -> list[TokenRecord]:
    """Return all tokens, oldest first."""
    return store.tokens.all()


def revoke_tokens(
    store: StorePort, names: Iterable[str], role: Role | None = None, clock: Callable[[], float] = time.time
) -> list[TokenRecord]:
    """Revoke the tokens of some names, all or none; return them as they are now."""
    found: list[TokenRecord] = []
    for name in names:
        named = _named(store, name, role)
        if not named:
            known = ", ".join(sorted({one.name for one in store.tokens.all()})) or "none yet"
            raise InputError(
                f"there is no {role.value + ' ' if role else ''}token named {name!r}; there are: {known}"
            )
        found += named
    store.tokens.revoke([one.hash for one in found], clock())
    revoked = {one.hash for one in found}
    return [one for one in store.tokens.all() if one.hash in revoked]


def _named(store: StorePort, name: str, role: Role | None) -> list[TokenRecord]:
    return [one for one in store.tokens.all() if one.name == name and role in {None, one.role}]


def _invitation(store: StorePort, wish: TokenWish, secret: str) -> JoinToken:
    url = wish.url or store.meta.get(COORDINATOR_URL)
    if url is None:
        raise InputError(
            "a join token names the coordinator: give its address with --url https://HOST:PORT, "
            "or start `ipmicra serve` once with this home"
        )
    pin = None
    if wish.certificate is not None:
        pin = _pin(store, wish.certificate)
    elif wish.url is None:
        pin = store.meta.get(COORDINATOR_PIN) or None
    return JoinToken(secret=secret, fleet=fleet_id(store), url=coordinator_url(url), pin=pin)


def note_coordinator(store: StorePort, url: str, certificate: Path | None) -> None:
    """Note where agents reach the coordinator, and by which key they recognise it: for join tokens."""
    pin = None if certificate is None else _pin(store, certificate, only_own=True)
    with store.transaction():
        store.meta.set(COORDINATOR_URL, url)
        store.meta.set(COORDINATOR_PIN, pin or "")


def _pin(store: StorePort, path: Path, *, only_own: bool = False) -> str | None:
    """Choose the certificate of a file to pin, and keep it to be shown to agents.

    The last of a chain signs the others, and is renewed least. A chain that a public authority signed ends in
    a certificate that the authority may replace at any time: with `only_own` it is not pinned, and agents
    trust the authorities of their systems.
    """
    from ipmicra.edge.pins import is_self_signed, pin_of, read_certificates, text_of

    chain = read_certificates(path.read_bytes(), str(path))
    if only_own and len(chain) > 1 and not is_self_signed(chain[-1]):
        return None
    shown = store.meta.get(COORDINATOR_AUTHORITY) or ""
    text = text_of(chain[-1])
    if text not in shown:
        store.meta.set(COORDINATOR_AUTHORITY, (text + shown)[:LONGEST_AUTHORITY])
    return pin_of(chain[-1])


def coordinator_url(text: str) -> str:
    """Check the URL of a coordinator: tokens travel over TLS, or do not leave the machine."""
    try:
        parts = urlsplit(text.strip())
        host, is_usable = parts.hostname or "", (parts.port or 1) > 0
    except ValueError as error:
        raise InputError(f"coordinator URL: {error}; it must look like https://HOST:PORT") from error
    if parts.scheme not in {"http", "https"} or not host or not is_usable or parts.query or parts.fragment:
        raise InputError(f"coordinator URL {text!r} must look like https://HOST:PORT")
    if parts.username or parts.password:
        raise InputError("no names or passwords in the coordinator's URL: tokens come from files")
    if parts.scheme == "http" and not _is_loopback(host):
        raise InputError(
            f"{text!r}: tokens would cross the network in clear text: use https://; http:// is for loopback"
        )
    return text.strip().rstrip("/")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
