"""Published checksums: reading the small files that hold them, and summing a download."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from ipmicra.model.dump_source import ChecksumKind

HEX_DIGITS: dict[ChecksumKind, int] = {"md5": 32, "sha256": 64}
"""Length of a sum as text."""

_TAGS: dict[ChecksumKind, str] = {"md5": "MD5", "sha256": "SHA(?:2-)?256"}


def read_checksum(text: str, *, name: str, kind: ChecksumKind) -> str | None:
    """Read the sum of a dump, in lower case; None if the text holds none.

    `MD5 (delegated-ripencc-extended-latest) = 9dc7…` is the form of BSD,
    `0bb8…  delegated-arin-extended-20260928` that of coreutils; a sum alone is read too. The name counts only
    where there are several sums: ARIN's names the dated file, not the one that was asked for.
    """
    sums = [found for line in text.lstrip("\ufeff").splitlines() if (found := _read_line(line.strip(), kind))]
    if len(sums) > 1:
        sums = [found for found in sums if found[1] == name]
    return sums[0][0] if len(sums) == 1 else None


def _read_line(line: str, kind: ChecksumKind) -> tuple[str, str] | None:
    """Split a line into sum and bare file name."""
    digits = f"(?P<sum>[0-9a-fA-F]{{{HEX_DIGITS[kind]}}})"
    bsd = rf"(?i:{_TAGS[kind]}) ?\((?P<name>.*)\) ?= ?{digits}"
    coreutils = rf"\\?{digits}(?:[ \t]+\*?(?P<name>.*))?"
    match = re.fullmatch(bsd, line) or re.fullmatch(coreutils, line)
    if match is None:
        return None
    return match["sum"].lower(), (match["name"] or "").rpartition("/")[2]


def sum_file(path: Path, kind: ChecksumKind) -> str:
    """Sum the content of a file, in lower case."""
    with path.open("rb") as file:
        if kind == "md5":
            # What registries publish: it finds damage, and was never meant to stop a forger.
            return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
        return hashlib.file_digest(file, kind).hexdigest()
