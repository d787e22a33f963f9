"""What an operator sets to make a spider a node."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ipmicra.errors import InputError
from ipmicra.partition.exchange.exchange import Mode

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSettings:
    """The settings that start with `IPMICRA_`."""

    crawler: str
    """Name of the crawler that the node downloads for."""
    node: str
    """Name of the node among those of its crawler."""
    assignments: Path | None
    """A file of assignments; None if a coordinator is asked."""
    mode: Mode
    unknown_hosts: Path | None = None
    """Where to write hosts that the file does not name."""


def read_settings(given: Mapping[str, object]) -> NodeSettings:
    """Check settings; `InputError` says in one sentence what is wrong.

    A setting that starts with `IPMICRA_` and is not known is refused: a mistyped one would be ignored.
    """
    unknown = sorted(name for name in given if name not in KNOWN)
    if unknown:
        raise InputError(f"no setting is called {unknown[0]}: there are {', '.join(KNOWN)}")
    crawler = _name(given, "IPMICRA_CRAWLER")
    if not crawler:
        raise InputError("IPMICRA_CRAWLER is not set: name the crawler that this node downloads for")
    assignments = _text(given, "IPMICRA_ASSIGNMENTS")
    if not assignments:
        raise InputError("IPMICRA_ASSIGNMENTS is not set: name the file that `ipmicra delegate` has written")
    unknown_hosts = _text(given, "IPMICRA_UNKNOWN_HOSTS")
    return NodeSettings(
        crawler=crawler,
        node=_name(given, "IPMICRA_NODE") or crawler,
        assignments=Path(assignments),
        mode=_mode(given),
        unknown_hosts=Path(unknown_hosts) if unknown_hosts else None,
    )


KNOWN = (
    "IPMICRA_ASSIGNMENTS",
    "IPMICRA_CRAWLER",
    "IPMICRA_MODE",
    "IPMICRA_NODE",
    "IPMICRA_UNKNOWN_HOSTS",
)
"""All settings, by name."""


def _text(given: Mapping[str, object], name: str) -> str:
    value = given.get(name)
    return "" if value is None else str(value).strip()


def _name(given: Mapping[str, object], name: str) -> str:
    value = _text(given, name)
    if value and not _NAME.fullmatch(value):
        raise InputError(f"{name} = {value!r} is no name: use letters, digits, `-`, `_` and dots")
    return value


def _mode(given: Mapping[str, object]) -> Mode:
    value = _text(given, "IPMICRA_MODE") or Mode.DROP.value
    allowed = (Mode.DROP, Mode.CROSS_OVER)
    if value not in allowed:
        raise InputError(f"IPMICRA_MODE = {value!r} is none of {', '.join(allowed)}")
    return Mode(value)
