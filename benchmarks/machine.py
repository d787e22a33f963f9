"""Facts about a run: machine, versions, commit, and load by other processes."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.measure import ROOT, children_time

PACKAGES = (
    "ipmicra",
    "numpy",
    "scipy",
    "isal",
    "aiohttp",
    "pytricia",
    "py-radix",
    "maxminddb",
    "mmdb-writer",
    "netaddr",
    "pymetis",
)
WRITTEN = ("benchmarks/RESULTS.md", "benchmarks/results.json")
"""What a run itself changes."""


def machine_facts() -> dict[str, str]:
    """Return facts about the machine and the installed versions."""
    facts = {
        "CPU": _cpu_model(),
        "cores": str(os.cpu_count()),
        "memory": f"{_memory_bytes() / 1e9:.1f} GB",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
    }
    return {**facts, **{name: _version(name) for name in PACKAGES}, "gzip": _gzip_version()}


def commit_of(folder: Path = ROOT) -> str:
    """Return the short hash of the checkout, with `changed` if files differ; empty without git."""
    commit = _git(folder, "rev-parse", "--short=9", "HEAD")
    others = [f":(exclude,top){name}" for name in WRITTEN]
    changed = commit and _git(folder, "status", "--porcelain", "--", ":(top)", *others)
    return f"{commit}, changed" if changed else commit


def _git(folder: Path, *words: str) -> str:
    try:
        said = subprocess.run(["git", "-C", str(folder), *words], check=False, capture_output=True, text=True)
    except OSError:
        return ""
    return "" if said.returncode else said.stdout.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Clocks read at one time, in seconds."""

    elapsed: float
    own: float
    """Processor time of this process and of the children that have ended."""
    everyone: float | None
    """Time that the cores were busy, by any process or any other virtual machine; None without /proc."""

    @classmethod
    def now(cls) -> Moment:
        return cls(
            elapsed=time.perf_counter(),
            own=time.process_time() + children_time(),
            everyone=_busy_seconds(),
        )

    def others_cores(self, later: Moment) -> float | None:
        """Return the mean number of cores that other processes kept busy between two moments."""
        if self.everyone is None or later.everyone is None or later.elapsed <= self.elapsed:
            return None
        others = later.everyone - self.everyone - (later.own - self.own)
        return max(0.0, others / (later.elapsed - self.elapsed))


def _busy_seconds() -> float | None:
    """Read the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal."""
    try:
        words = Path("/proc/stat").read_text(encoding="utf-8").split(maxsplit=9)
    except OSError:
        return None
    user, nice, system, _idle, _iowait, irq, softirq, steal = (int(word) for word in words[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _cpu_model() -> str:
    """Return the processor's name as reported by the system."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _gzip_version() -> str:
    """Return the first line of `gzip --version`."""
    if shutil.which("gzip") is None:
        return "not installed"
    said = subprocess.run(["gzip", "--version"], check=False, capture_output=True, text=True)
    lines = (said.stdout or said.stderr).splitlines()
    return lines[0].removeprefix("gzip ") if lines else "unknown"
