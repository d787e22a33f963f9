"""Remember a download between runs, in a small JSON file beside it.

A finished dump NAME has `.NAME.json`, an unfinished one `NAME.part` and `.NAME.part.json`; the leading dot
keeps them out of `ipmicra build rir_dumps/*`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """Which version of which file was downloaded."""

    url: str
    """Where from, without secrets: validators of one server mean nothing to another."""
    etag: str | None = None
    last_modified: str | None = None
    bytes_total: int | None = None
    """Size of the whole file in bytes; None where the server did not say."""
    checksum: str | None = None
    """Sum of a finished file, where one is published to compare it with."""

    @property
    def strong_validator(self) -> str | None:
        """What proves that a partial download and the server's file are of one version, byte for byte."""
        if self.etag and not self.etag.startswith("W/"):
            return self.etag
        return self.last_modified

    def conditions(self) -> dict[str, str]:
        """Return the request headers that ask for the file only if it changed."""
        headers = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in headers.items() if value}


def sidecar_of(path: Path) -> Path:
    """Return the path of a file's sidecar."""
    return path.with_name(f".{path.name}.json")


def read_state(path: Path) -> FileState | None:
    """Read the state of a file; None if there is none or it is damaged."""
    try:
        facts = json.loads(sidecar_of(path).read_text(encoding="utf-8"))
        return FileState(**facts) if _are_sound(facts) else None
    except (OSError, ValueError, TypeError):
        return None


def _are_sound(facts: object) -> bool:
    """Return whether facts from a file may be sent as headers and counted with."""
    if not isinstance(facts, dict):
        return False
    texts = [value for name, value in facts.items() if name != "bytes_total" and value is not None]
    total = facts.get("bytes_total", 0)
    return (
        all(isinstance(text, str) and text.isprintable() for text in texts)
        and facts.get("url") is not None
        and (total is None or (type(total) is int and total >= 0))
    )


def write_state(path: Path, state: FileState) -> None:
    """Write the state of a file; a reader finds the old state or the new one, never half of it."""
    sidecar = sidecar_of(path)
    draft = sidecar.with_name(f"{sidecar.name}.new")
    draft.unlink(missing_ok=True)  # left by a killed run, or a link that would overwrite its target
    with draft.open("x", encoding="utf-8") as file:
        file.write(json.dumps(asdict(state), indent=1) + "\n")
    draft.replace(sidecar)


def forget_state(path: Path) -> None:
    """Delete the state of a file."""
    sidecar_of(path).unlink(missing_ok=True)


def finished_state(path: Path, url: str) -> FileState | None:
    """Read the state of a finished dump; None unless it exists, complete and from this URL."""
    state = read_state(path)
    if state is None or state.url != url or not path.is_file():
        return None
    return state if path.stat().st_size == state.bytes_total else None
