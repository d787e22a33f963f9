"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "ipmicra",
    "numpy",
    "numba",
    "isal",
    "pytricia",
    "py-radix",
    "maxminddb",
    "mmdb-writer",
    "netaddr",
)


def machine_facts() -> dict[str, str]:
    """Say what machine this is, and which versions are installed."""
    facts = {
        "CPU": _cpu_model(),
        "cores": str(os.cpu_count()),
        "memory": f"{_memory_bytes() / 1e9:.1f} GB",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
    }
    return {**facts, **{name: _version(name) for name in PACKAGES}, "gzip": _gzip_version()}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _cpu_model() -> str:
    """Give the processor's name as the system tells it."""
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
    """Give the first line of what gzip says of itself."""
    if shutil.which("gzip") is None:
        return "not installed"
    said = subprocess.run(["gzip", "--version"], check=False, capture_output=True, text=True)
    lines = (said.stdout or said.stderr).splitlines()
    return lines[0].removeprefix("gzip ") if lines else "unknown"
