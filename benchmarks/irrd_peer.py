"""IRRd's RPSL parser as a peer, in its own environment because of its many dependencies."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.measure import Times, run

WANTED = ("irrd", "irrd<4.5", "irrd<4.4", "irrd<4.3")
"""Versions to try with pip, in order; pip picks the newest that supports this Python."""
PATIENCE_S = 900
_CHILD = Path(__file__).with_name("child_irrd.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What IRRd made of a piece of a dump."""

    times: Times
    version: str
    size_bytes: int
    paragraphs: int
    with_errors: int
    unknown: int


class NoIrrdError(Exception):
    """IRRd cannot be installed here; the message says what was tried."""


def python_with_irrd(bench: Bench) -> Path:
    """Return a Python that has IRRd; it is installed into the scratch folder once."""
    folder = bench.scratch.folder / f"irrd-{sys.version_info.major}.{sys.version_info.minor}"
    python = folder / "bin" / "python"
    if (folder / "ready").exists():
        return python
    if bench.sizes.is_quick:
        raise NoIrrdError("a quick run does not install IRRd")
    bench.say("installing IRRd")
    reasons = []
    for wanted in WANTED:
        reason = _installed(folder, wanted)
        if not reason:
            (folder / "ready").touch()
            return python
        reasons.append(f"{wanted}: {reason}")
    raise NoIrrdError(f"pip could not install it ({'; '.join(reasons)})")


def _installed(folder: Path, wanted: str) -> str:
    """Install a version; give the reason if that fails."""
    python = folder / "bin" / "python"
    try:
        if not python.exists():
            run([sys.executable, "-m", "venv", folder])
        done = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--no-input", wanted],
            check=False,
            capture_output=True,
            timeout=PATIENCE_S,
            text=True,
        )
    except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
        return str(error)[-300:]
    errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["no reason given"]
    return errors[-1][:300] if done.returncode else ""


def parse(bench: Bench, text: Path) -> Parsed:
    """Let IRRd parse every paragraph of a plain text."""
    python = python_with_irrd(bench)
    child = json.loads(run([python, "-I", _CHILD, text, str(bench.sizes.rounds)]))
    return Parsed(times=Times(seconds=tuple(child.pop("seconds"))), **child)
