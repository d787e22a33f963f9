"""The identity of a hierarchy, and the dumps it was built from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpRecord:
    """A dump that a hierarchy was built from."""

    name: str
    dialect: str
    date: str
    """Day of the file's last change, ISO 8601."""
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """One built hierarchy: the same content hash means the same subnets and holders."""

    content_hash: str
    dumps: tuple[DumpRecord, ...]

    @property
    def label(self) -> str:
        """First digits of the hash and the newest dump's date."""
        newest = max((dump.date for dump in self.dumps), default="")
        return f"{self.content_hash[:12]} {newest}".strip()
