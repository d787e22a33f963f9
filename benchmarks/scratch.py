"""The folder for files that benchmarks generate and build."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.generate import generate
from benchmarks.measure import ROOT, run

GENERATOR = ("generate.py", "dump_rows.py", "dump_styles.py", "invented_text.py", "nested_ranges.py")
MAKERS = (*GENERATOR, "ranges_dump.py", "peers.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dump:
    """A generated dump."""

    path: Path
    style: str
    objects: int
    plain_bytes: int
    gz_bytes: int

    @property
    def label(self) -> str:
        """Return its name with its size."""
        return f"{self.style}: {self.plain_bytes / 1e9:.2f} GB plain, {self.objects:,} objects"


def fingerprint(files: Iterable[Path]) -> str:
    """Return a short hash of source files, so that files made by older code are not reused."""
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


class Scratch:
    """Keeps generated dumps for later runs, and files derived from them on request."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        """Use a folder, which is created on first use."""
        generator = [ROOT / "benchmarks" / name for name in GENERATOR]
        makers = [ROOT / "benchmarks" / name for name in MAKERS]
        self.folder = folder
        self._dumps = folder / f"dumps-{fingerprint(generator)}"
        self._made = folder / f"made-{fingerprint([*makers, *(ROOT / 'ipmicra').rglob('*.py')])}"
        self._say = say

    def dump(self, style: str, objects: int, seed: int) -> Dump:
        """Return a dump, generating it if necessary."""
        path = self._dumps / f"{style}-{objects}-{seed}.gz"
        facts = path.with_suffix(".json")
        if not facts.exists():
            self._say(f"generating {path.name}")
            self._dumps.mkdir(parents=True, exist_ok=True)
            summary = generate(style, path, objects, seed)
            part = facts.with_suffix(".part")
            sizes = {name: getattr(summary, name) for name in ("objects", "bytes_plain", "bytes_gz")}
            part.write_text(json.dumps(sizes), encoding="utf-8")
            part.replace(facts)
        known = json.loads(facts.read_text(encoding="utf-8"))
        return Dump(
            path=path,
            style=style,
            objects=known["objects"],
            plain_bytes=known["bytes_plain"],
            gz_bytes=known["bytes_gz"],
        )

    def made(self, name: str, make: Callable[[Path], object]) -> Path:
        """Return a file, creating it if necessary; an existing file is complete."""
        path = self.place(name)
        if not path.exists():
            self._say(f"making {name}")
            part = path.with_name(f"part-{name}")
            make(part)
            part.replace(path)
        return path

    def place(self, name: str) -> Path:
        """Return the path for a file name."""
        self._made.mkdir(parents=True, exist_ok=True)
        return self._made / name

    def tidy(self) -> None:
        """Remove everything except dumps and the environments of peers."""
        shutil.rmtree(self._made, ignore_errors=True)


def build_command(dumps: Iterable[Path], output: Path) -> list[str | Path]:
    """Return the command that a user would type."""
    return [sys.executable, "-m", "ipmicra", "build", *dumps, "-o", output]


def build_hierarchy(dumps: Iterable[Path], output: Path) -> None:
    """Build as a user would."""
    run(build_command(dumps, output))
