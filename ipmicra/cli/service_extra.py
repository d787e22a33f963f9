"""Telling a user that a part of ipmicra is not installed."""

from __future__ import annotations

from importlib.util import find_spec

from ipmicra.errors import InputError

EXTRA_OF = {
    "aiohttp": "service",
    "matplotlib": "plot",
    "prometheus_client": "service",
    "pyarrow": "columnar",
    "pymetis": "partition",
    "rbloom": "partition",
    "scipy": "partition",
    "starlette": "service",
    "uvicorn": "service",
}
"""Packages that the core does without, and the extra that brings each."""


def told_missing(error: ModuleNotFoundError) -> str | None:
    """Say how to install what a command needs; None if no extra brings it."""
    package = (error.name or "").partition(".")[0]
    extra = EXTRA_OF.get(package)
    return f"this needs {package}: pip install 'ipmicra[{extra}]'" if extra else None


def need_service() -> None:
    """See that agents can be run and talked to."""
    needed = ("aiohttp", "starlette", "uvicorn", "prometheus_client")
    missing = [name for name in needed if not find_spec(name)]
    if missing:
        raise InputError(f"this needs {', '.join(missing)}: pip install 'ipmicra[service]'")
