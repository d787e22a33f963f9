"""Keep who an agent is: a file that only its user can read, so that a restart needs no join token.

The agent makes its own token and writes it down before it joins. If the answer to its request is lost,
the next attempt uses the same token, and the coordinator recognises it.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
from dataclasses import asdict, dataclass
from pathlib import Path

from ipmicra.edge.durable import settle
from ipmicra.errors import InputError
from ipmicra.wire.joining import JoinToken

LARGEST = 200_000
"""Bytes; an honest file has about 3,000."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_TEXTS = frozenset({"fleet", "url", "token", "crawler", "agent"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentIdentity:
    """Who an agent is, and whom it calls."""

    fleet: str
    url: str
    token: str
    pin: str | None = None
    certificate: str | None = None
    """In PEM form: the one that the pin proves."""
    crawler: str = ""
    agent: str = ""
    """Both empty until the coordinator has accepted it."""

    @property
    def has_joined(self) -> bool:
        """Whether the coordinator accepted it."""
        return bool(self.agent)

    def __repr__(self) -> str:
        """Leave out the token: a traceback may end in a log."""
        return f"<AgentIdentity {self.crawler or 'that has not joined'} of fleet {self.fleet}>"


def new_identity(join: JoinToken) -> AgentIdentity:
    """Make the identity with which an agent will join."""
    token = f"ipm_a_{secrets.token_urlsafe(32)}"
    return AgentIdentity(fleet=join.fleet, url=join.url, token=token, pin=join.pin)


def write_identity(path: Path, identity: AgentIdentity) -> None:
    """Write an identity, wholly or not at all; only this user can read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)
            json.dump({"version": 1, **asdict(identity)}, file, indent=1)
        settle(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def read_identity(path: Path) -> AgentIdentity | None:
    """Read an identity; None if there is no such file."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_mode & _OTHERS:
                raise InputError(f"{path}: others can read this identity: run `chmod 600 {path}`")
            return _read(json.loads(file.read(LARGEST)))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(
            f"{path}: no identity of an agent ({type(error).__name__}): remove it and join anew"
        ) from error


def _read(content: dict[str, object]) -> AgentIdentity:
    if content.pop("version") != 1:
        raise ValueError("unknown version")
    is_sound = all(isinstance(content[name], str) for name in _TEXTS) and all(
        isinstance(content[name], str | None) for name in ("pin", "certificate")
    )
    if not is_sound:
        raise TypeError("a field of another type")
    return AgentIdentity(**content)  # type: ignore[arg-type]
