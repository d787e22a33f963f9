"""The folder in which benchmarks keep what they generate and build."""

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
        """Name it with its size."""
        return f"{self.style}: {self.plain_bytes / 1e9:.2f} GB plain, {self.objects:,} objects"


def fingerprint(files: Iterable[Path]) -> str:
    """Give a short hash of some files: what other code made is not used again."""
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


class Scratch:
    """Generated dumps stay for later runs; what is made of them stays if that is wanted."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        """Use a folder; it is made when something is put into it."""
        generator = [ROOT / "benchmarks" / name for name in GENERATOR]
        makers = [ROOT / "benchmarks" / name for name in MAKERS]
        self.folder = folder
        self._dumps = folder / f"dumps-{fingerprint(generator)}"
        self._made = folder / f"made-{fingerprint([*makers, *(ROOT / 'ipmicra').rglob('*.py')])}"
        self._say = say

    def dump(self, style: str, objects: int, seed: int) -> Dump:
        """Give a dump, generated unless it is there."""
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
        """Give a file, made unless it is there; a file that is there is whole."""
        path = self.place(name)
        if not path.exists():
            self._say(f"making {name}")
            part = path.with_name(f"part-{name}")
            make(part)
            part.replace(path)
        return path

    def place(self, name: str) -> Path:
        """Say where a file of this name is or would be."""
        self._made.mkdir(parents=True, exist_ok=True)
        return self._made / name

    def tidy(self) -> None:
        """Remove all but the dumps and the environments of peers."""
        shutil.rmtree(self._made, ignore_errors=True)


def build_command(dumps: Iterable[Path], output: Path) -> list[str | Path]:
    """Give the command that a user would type."""
    return [sys.executable, "-m", "ipmicra", "build", *dumps, "-o", output]


def build_hierarchy(dumps: Iterable[Path], output: Path) -> None:
    """Build as a user would."""
    run(build_command(dumps, output))
