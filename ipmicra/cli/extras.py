"""Optional packages: how to install the one that a command misses."""

from __future__ import annotations

from importlib.util import find_spec

from ipmicra.errors import InputError

EXTRA_OF = {
    "aiohttp": "service",
    "cryptography": "service",
    "matplotlib": "plot",
    "prometheus_client": "service",
    "pyarrow": "columnar",
    "pymetis": "partition",
    "rbloom": "partition",
    "scipy": "partition",
    "scrapy": "scrapy",
    "starlette": "service",
    "uvicorn": "service",
    "warcio": "scrapy",
}
"""Packages that the core does without, and the extra that installs each."""


def missing_extra(error: ModuleNotFoundError) -> str | None:
    """Say how to install the package that is missing; None if it belongs to no extra."""
    package = (error.name or "").partition(".")[0]
    extra = EXTRA_OF.get(package)
    return f"this needs {package}: pip install 'ipmicra[{extra}]'" if extra else None


def need_service() -> None:
    """Refuse to start a command that runs or calls agents without the packages for it."""
    needed = ("aiohttp", "cryptography", "starlette", "uvicorn", "prometheus_client")
    missing = [name for name in needed if not find_spec(name)]
    if missing:
        raise InputError(f"this needs {', '.join(missing)}: pip install 'ipmicra[service]'")


def need_scrapy() -> None:
    """Refuse to start a crawl without the packages for it."""
    missing = [name for name in ("scrapy", "warcio") if not find_spec(name)]
    if missing:
        raise InputError(f"this needs {', '.join(missing)}: pip install 'ipmicra[scrapy]'")
