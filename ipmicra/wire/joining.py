"""What an agent needs to join a fleet by calling out: the text of a join token, the request and its answer.

A join token is handed from person to person, or from program to program, by a way that both trust. So it
carries all that an agent must not learn from the network: where the coordinator is, which fleet it serves,
and by which key it is recognised (`pin`, the SHA-256 of a public key: certificates come and go, the key of
the coordinator or of its authority stays). The text is

    ipm_j_<43 characters>.<base64url of {"version", "fleet", "url", "pin"}>

and only what is before the dot is ever sent.

An agent makes its own token and joins with its hash. An answer that is lost on the way then loses nothing:
the same agent may ask again with the same join token, while anybody else who has it comes too late.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import dataclass

from ipmicra.errors import InputError, MessageError
from ipmicra.model.address import Address
from ipmicra.wire import fields
from ipmicra.wire.limits import LIMITS, VERSION, WireLimits

LONGEST_JOIN_TOKEN = 4_096
"""Characters; an honest one has about 300."""
_SECRET = re.compile(r"ipm_j_[A-Za-z0-9_-]{43}")
_FLEET = re.compile(r"[0-9a-f]{16}")
_PIN = re.compile(r"[0-9a-f]{64}")
_HASH = _PIN
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_AGENT = re.compile(r"[0-9a-f]{32}")
_TOKEN = frozenset({"version", "fleet", "url", "pin"})
_JOIN = frozenset({"version", "fleet", "key_hash", "software", "address"})
_JOINED = frozenset({"version", "fleet", "crawler", "agent"})


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinToken:
    """An invitation for one agent."""

    secret: str
    """The token that the coordinator knows the hash of."""
    fleet: str
    """The fleet it is for: 16 hexadecimal digits."""
    url: str
    """Where the coordinator is."""
    pin: str | None = None
    """SHA-256 of the public key of the coordinator or of its CA, in hexadecimal digits; None where the
    certificate authorities of the agent's system are to be trusted."""

    def __repr__(self) -> str:
        """Leave out the secret: a traceback may end in a log."""
        return f"<JoinToken of fleet {self.fleet} at {self.url}>"


def encode_join_token(token: JoinToken) -> str:
    """Write a join token."""
    content = {"version": VERSION, "fleet": token.fleet, "url": token.url, "pin": token.pin}
    data = json.dumps(content, separators=(",", ":")).encode()
    return f"{token.secret}.{base64.urlsafe_b64encode(data).decode().rstrip('=')}"


def decode_join_token(text: str) -> JoinToken:
    """Read a join token; anything that is not one is an `InputError` that does not repeat it."""
    secret, dot, rest = text.strip().partition(".")
    if len(text) > LONGEST_JOIN_TOKEN or not dot or not _SECRET.fullmatch(secret):
        raise InputError(
            "this is no join token: it starts with ipm_j_ and has a dot after 49 characters; "
            "`ipmicra token add NAME --role join` makes one"
        )
    try:
        data = base64.b64decode(rest + "=" * (-len(rest) % 4), altchars=b"-_", validate=True)
        return _read(secret, fields.read_object(data, LONGEST_JOIN_TOKEN))
    except (binascii.Error, ValueError, MessageError) as error:
        raise InputError(
            f"the join token is damaged ({error}): copy the whole of it, or make another"
        ) from error


def _read(secret: str, content: fields.Object) -> JoinToken:
    fields.known_only(content, _TOKEN)
    fleet = _matching(content, "fleet", _FLEET)
    url = fields.text(content, "url", 500)
    pin = content.get("pin")
    if not url.startswith(("http://", "https://")):
        raise MessageError("url must start with https:// or http://")
    if pin is not None and not (isinstance(pin, str) and _PIN.fullmatch(pin)):
        raise MessageError("pin must be 64 hexadecimal digits")
    return JoinToken(secret=secret, fleet=fleet, url=url, pin=pin)


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinRequest:
    """An agent wants to join; its join token is in the headers."""

    fleet: str
    key_hash: bytes
    """SHA-256 of the token that the agent made for itself."""
    software: str = ""
    """Its version of ipmicra."""
    address: Address | None = None
    """The public address of its crawler; None takes the one that it calls from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinAnswer:
    """What an agent is from now on."""

    fleet: str
    crawler: str
    agent: str
    """32 hexadecimal digits."""


def encode_join(request: JoinRequest) -> bytes:
    """Write a request to join as JSON."""
    content = {
        "version": VERSION,
        "fleet": request.fleet,
        "key_hash": request.key_hash.hex(),
        "software": request.software,
        "address": None if request.address is None else str(request.address),
    }
    return json.dumps(content).encode()


def decode_join(data: bytes, limits: WireLimits = LIMITS) -> JoinRequest:
    """Read a request to join; anything that is not one is a `MessageError` that says why."""
    content = fields.read_object(data, limits.max_line_bytes)
    fields.known_only(content, _JOIN)
    return JoinRequest(
        fleet=_matching(content, "fleet", _FLEET),
        key_hash=bytes.fromhex(_matching(content, "key_hash", _HASH)),
        software=fields.text(content, "software", 64, default=""),
        address=fields.address(content, "address"),
    )


def encode_joined(answer: JoinAnswer) -> bytes:
    """Write the answer to a request to join as JSON."""
    content = {"version": VERSION, "fleet": answer.fleet, "crawler": answer.crawler, "agent": answer.agent}
    return json.dumps(content).encode()


def decode_joined(data: bytes, limits: WireLimits = LIMITS) -> JoinAnswer:
    """Read the answer to a request to join; anything that is not one is a `MessageError` that says why."""
    content = fields.read_object(data, limits.max_line_bytes)
    fields.known_only(content, _JOINED)
    return JoinAnswer(
        fleet=_matching(content, "fleet", _FLEET),
        crawler=_matching(content, "crawler", _NAME),
        agent=_matching(content, "agent", _AGENT),
    )


def _matching(content: fields.Object, name: str, pattern: re.Pattern[str]) -> str:
    value = content.get(name)
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise MessageError(f"{name} must match {pattern.pattern}")
    return value
