"""Telling a user that a part of ipmicra is not installed."""

from __future__ import annotations

from importlib.util import find_spec

from ipmicra.errors import InputError


def need_service() -> None:
    """See that agents can be run and talked to."""
    needed = ("aiohttp", "starlette", "uvicorn", "prometheus_client")
    missing = [name for name in needed if not find_spec(name)]
    if missing:
        raise InputError(f"this needs {', '.join(missing)}: pip install 'ipmicra[service]'")
