"""Recognise the dialect of a dump from its first bytes."""

from __future__ import annotations

import codecs
import re
from enum import Enum

from ipmicra.model.registry import SOURCES, STATISTICS_NAMES, Registry
from ipmicra.parse.fields import KEYS, Kind

HEAD_BYTES = 64 * 1024
"""Bytes of text that are examined."""


class Dialect(Enum):
    """The text form a registry uses."""

    RPSL = "rpsl"
    LACNIC = "lacnic"
    ARIN = "arin"
    STATISTICS = "statistics"
    IANA = "iana"

    @property
    def separator(self) -> str:
        """Where a dump may be split into chunks: at a blank line, at a line end, or nowhere."""
        return {Dialect.STATISTICS: "line", Dialect.IANA: "none"}.get(self, "blank line")


_IANA_HEADS = (b"Prefix,Designation", b"IPv6 Prefix,Allocation")
_ARIN_CLASSES = frozenset("nethandle v6nethandle ashandle pochandle orgid".split())
_LACNIC_KEYS = frozenset("owner ownerid inetnum-up".split())
_CLASSES = frozenset(key for key, (_field, kind) in KEYS.items() if kind is not Kind.UNKNOWN)
_VERSION = re.compile(r"[0-9.]+")
_ATTRIBUTE = re.compile(r"([^\s:#%+][^\s:]{0,30}):[ \t]*([^ \t#-]*)")


def recognise(head: bytes) -> tuple[Dialect, Registry] | None:
    """Return the dialect and the default registry of a dump, or None if it is not a dump."""
    head = head.removeprefix(codecs.BOM_UTF8)
    if head.startswith(_IANA_HEADS):
        return Dialect.IANA, Registry.IANA
    if b"\0" in head:
        return None
    lines = head.decode("latin-1").split("\n")
    if _is_statistics(lines):
        return Dialect.STATISTICS, Registry.NONE
    return _paragraph_dialect(lines)


def _is_statistics(lines: list[str]) -> bool:
    """Return whether the first line that is neither blank nor a comment is a line of statistics."""
    for line in lines:
        if line.strip() and not line.startswith("#"):
            fields = [field.strip() for field in line.split("|")]
            is_named = bool(_VERSION.fullmatch(fields[0])) or fields[0] in STATISTICS_NAMES
            return len(fields) > 1 and is_named
    return False


def _paragraph_dialect(lines: list[str]) -> tuple[Dialect, Registry] | None:
    """Distinguish the paragraph dialects by their keys."""
    keys: set[str] = set()
    classes: set[str] = set()
    registry = Registry.NONE
    is_start = True
    for line in lines:
        match = _ATTRIBUTE.match(line)
        if match is None:
            is_start = is_start or not line.strip()
            continue
        key = match[1].lower()
        keys.add(key)
        if is_start:
            classes.add(key)
        if key == "source" and registry is Registry.NONE:
            registry = SOURCES.get(match[2].strip().lower(), Registry.NONE)
        is_start = False
    if classes & _ARIN_CLASSES:
        return Dialect.ARIN, registry or Registry.ARIN
    if keys & _LACNIC_KEYS and classes & _CLASSES:
        return Dialect.LACNIC, registry or Registry.LACNIC
    return (Dialect.RPSL, registry) if classes & _CLASSES else None
