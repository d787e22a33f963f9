"""Hashes of a hierarchy's sections and of its content."""

from __future__ import annotations

import hashlib

from ipmicra.hierarchy.format import CONTENT_HASH_BYTES, META, SECTION_HASH_BYTES


def section_digest(data: memoryview | bytes) -> bytes:
    """Hash the bytes of one section."""
    return hashlib.sha256(data).digest()[:SECTION_HASH_BYTES]


def content_hash(digests: dict[str, bytes]) -> bytes:
    """Hash a hierarchy's content by the hashes of its sections, without the metadata about its origin."""
    total = hashlib.sha256()
    for name in sorted(digests):
        if name != META:
            total.update(name.encode() + b"\0" + digests[name])
    return total.digest()[:CONTENT_HASH_BYTES]
