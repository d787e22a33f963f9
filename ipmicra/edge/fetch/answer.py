"""Decide what to do after a server's answer; `download` does it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import TYPE_CHECKING

from ipmicra.edge.fetch.state import FileState

if TYPE_CHECKING:
    from collections.abc import Mapping

OK, PARTIAL, NOT_MODIFIED, NOT_SATISFIABLE = 200, 206, 304, 416
MISSING = frozenset({404, 410})
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses after which another attempt makes sense."""


class Verdict(Enum):
    """What to do after an answer."""

    WHOLE = auto()
    """Take the body from its first byte, in place of the partial download."""
    REST = auto()
    """Append the body to the partial download."""
    COMPLETE = auto()
    """Nothing is missing: the partial download is the whole file."""
    UNCHANGED = auto()
    """Keep the finished file."""
    DISCARD = auto()
    """Discard the partial download and ask again: it is not of the server's version."""
    LATER = auto()
    """Ask again after a pause."""
    REFUSED = auto()
    """Stop trying."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a request asked for."""

    offset: int = 0
    """First byte that is wanted; above 0 to resume."""
    part: FileState | None = None
    """What is known of the partial download."""
    is_conditional: bool = False
    """Whether the file is wanted only if it changed."""


def judge(status: int, headers: Mapping[str, str], asked: Asked) -> Verdict:
    """Return what to do after an answer."""
    if status == OK:
        return Verdict.WHOLE
    if status == PARTIAL and asked.offset:
        return Verdict.REST if _continues(headers, asked) else Verdict.DISCARD
    if status == NOT_SATISFIABLE and asked.offset:
        return Verdict.COMPLETE if _is_at_end(headers, asked) else Verdict.DISCARD
    if status == NOT_MODIFIED and asked.is_conditional:
        return Verdict.UNCHANGED
    return Verdict.LATER if status in PASSING else Verdict.REFUSED


def _continues(headers: Mapping[str, str], asked: Asked) -> bool:
    """Return whether a partial answer starts where the partial download ends, in the same version."""
    first, total = content_range(headers)
    etag, known = headers.get("ETag"), asked.part
    return (
        first == asked.offset
        and known is not None
        and (total is None or known.bytes_total in (None, total))
        and (etag is None or known.etag in (None, etag))
    )


def _is_at_end(headers: Mapping[str, str], asked: Asked) -> bool:
    """Return whether the range was refused because there is nothing after it."""
    _first, total = content_range(headers)
    return asked.part is not None and total == asked.offset and asked.part.bytes_total in (None, total)


def content_range(headers: Mapping[str, str]) -> tuple[int | None, int | None]:
    """Read first byte and total size, None for what is missing.

    `bytes 100-199/500` gives (100, 500), `bytes */500` gives (None, 500).
    """
    match = re.fullmatch(
        r"bytes (?:(\d{1,18})-\d{1,18}|\*)/(?:(\d{1,18})|\*)", headers.get("Content-Range", ""), re.ASCII
    )
    if match is None:
        return None, None
    first, total = match.groups()
    return (int(first) if first else None), (int(total) if total else None)


def state_of(url: str, verdict: Verdict, headers: Mapping[str, str], asked: Asked) -> FileState:
    """Return which version an answer belongs to, and how large it is."""
    if verdict is not Verdict.WHOLE and asked.part is not None:
        _first, total = content_range(headers)
        known = asked.part
        return FileState(
            url=url,
            etag=known.etag,
            last_modified=known.last_modified,
            bytes_total=known.bytes_total if total is None else total,
        )
    return FileState(
        url=url,
        etag=headers.get("ETag"),
        last_modified=headers.get("Last-Modified"),
        bytes_total=content_length(headers),
    )


def content_length(headers: Mapping[str, str]) -> int | None:
    """Read the announced size of a body; None if there is none to rely on."""
    text = headers.get("Content-Length", "")
    if "Transfer-Encoding" in headers or not re.fullmatch(r"\d{1,18}", text, re.ASCII):
        return None
    return int(text)


def objection(name: str, headers: Mapping[str, str]) -> str | None:
    """Return why a body cannot be the dump, whatever the status promises."""
    if headers.get("Content-Type", "").lower().startswith("text/html"):
        return "a web page came in place of the dump"
    encoding = headers.get("Content-Encoding", "identity").lower()
    # Some servers call a stored .gz file an encoding; it is the very file, and is kept as it comes.
    if encoding != "identity" and not (name.endswith(".gz") and encoding in {"gzip", "x-gzip"}):
        return f"the server insists on the encoding {encoding!r}"
    return None


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Read how many seconds the server asks to wait; dates are taken relative to the server's own clock."""
    text = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"\d{1,9}", text, re.ASCII):
        return float(text)
    try:
        pause = parsedate_to_datetime(text) - parsedate_to_datetime(headers.get("Date", ""))
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, pause.total_seconds())
