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
    coordinator: str | None = None
    """URL of the coordinator; None if there is a file."""
    crawl: str = ""
    """Name of the crawl; empty for that of the spider."""
    token_file: Path | None = None
    ca: Path | None = None
    unknown_hosts: Path | None = None
    """Where to write hosts that the file does not name."""
    allowed: tuple[str, ...] = ()
    """Prefixes that may be fetched from although they are not public."""


def read_settings(given: Mapping[str, object]) -> NodeSettings:
    """Check settings; `InputError` says in one sentence what is wrong.

    A setting that starts with `IPMICRA_` and is not known is refused: a mistyped one would be ignored.
    """
    unknown = sorted(name for name in given if name not in KNOWN)
    if "IPMICRA_TOKEN" in unknown:
        raise InputError(
            "IPMICRA_TOKEN must not be a setting, for Scrapy logs settings: "
            "put it into the environment, or name a file by IPMICRA_TOKEN_FILE"
        )
    if unknown:
        raise InputError(f"no setting is called {unknown[0]}: there are {', '.join(KNOWN)}")
    crawler = _name(given, "IPMICRA_CRAWLER")
    if not crawler:
        raise InputError("IPMICRA_CRAWLER is not set: name the crawler that this node downloads for")
    assignments, coordinator = _text(given, "IPMICRA_ASSIGNMENTS"), _text(given, "IPMICRA_COORDINATOR")
    if bool(assignments) == bool(coordinator):
        raise InputError(
            f"{'both' if assignments else 'neither'} of IPMICRA_COORDINATOR and IPMICRA_ASSIGNMENTS are set: "
            "set the URL of the coordinator, or the file that `ipmicra delegate` has written"
        )
    if coordinator and not coordinator.startswith(("http://", "https://")):
        raise InputError(f"IPMICRA_COORDINATOR = {coordinator!r} is no URL: use https://HOST:PORT")
    return NodeSettings(
        crawler=crawler,
        node=_name(given, "IPMICRA_NODE") or crawler,
        assignments=_path(given, "IPMICRA_ASSIGNMENTS"),
        mode=_mode(given, has_coordinator=bool(coordinator)),
        unknown_hosts=_path(given, "IPMICRA_UNKNOWN_HOSTS"),
        coordinator=coordinator or None,
        crawl=_name(given, "IPMICRA_CRAWL"),
        token_file=_path(given, "IPMICRA_TOKEN_FILE"),
        ca=_path(given, "IPMICRA_CA"),
        allowed=_words(given, "IPMICRA_ALLOW"),
    )


KNOWN = (
    "IPMICRA_ALLOW",
    "IPMICRA_ASSIGNMENTS",
    "IPMICRA_CA",
    "IPMICRA_COORDINATOR",
    "IPMICRA_CRAWL",
    "IPMICRA_CRAWLER",
    "IPMICRA_MODE",
    "IPMICRA_NODE",
    "IPMICRA_TOKEN_FILE",
    "IPMICRA_UNKNOWN_HOSTS",
)
"""All settings, by name. The token is none of them: Scrapy logs settings."""


def read_token(settings: NodeSettings, environment: Mapping[str, str]) -> str | None:
    """Return the token for the coordinator: of the file that the settings name, or of `IPMICRA_TOKEN`."""
    if settings.token_file is not None:
        return settings.token_file.read_text(encoding="utf-8").strip()
    return environment.get("IPMICRA_TOKEN") or None


def _path(given: Mapping[str, object], name: str) -> Path | None:
    value = _text(given, name)
    return Path(value) if value else None


def _text(given: Mapping[str, object], name: str) -> str:
    value = given.get(name)
    return "" if value is None else str(value).strip()


def _words(given: Mapping[str, object], name: str) -> tuple[str, ...]:
    """Read a list, or a text with commas or blanks as `scrapy crawl -s` has it."""
    value = given.get(name)
    words = value if isinstance(value, list | tuple) else _text(given, name).replace(",", " ").split()
    return tuple(map(str, words))


def _name(given: Mapping[str, object], name: str) -> str:
    value = _text(given, name)
    if value and not _NAME.fullmatch(value):
        raise InputError(f"{name} = {value!r} is no name: use letters, digits, `-`, `_` and dots")
    return value


def _mode(given: Mapping[str, object], *, has_coordinator: bool) -> Mode:
    """Read the mode: a coordinator exchanges links, a file cannot."""
    allowed = (Mode.EXCHANGE,) if has_coordinator else (Mode.DROP, Mode.CROSS_OVER)
    value = _text(given, "IPMICRA_MODE") or allowed[0].value
    if value not in allowed:
        having = "a coordinator" if has_coordinator else "a file of assignments"
        raise InputError(
            f"IPMICRA_MODE = {value!r} is not possible with {having}: use {' or '.join(allowed)}"
        )
    return Mode(value)
