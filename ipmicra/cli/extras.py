"""Optional packages: how to install the one that a command misses."""

from __future__ import annotations

from importlib.util import find_spec

from ipmicra.errors import EXTRA_OF, MissingExtraError


def missing_extra(error: ModuleNotFoundError) -> str | None:
    """Say how to install the package that is missing; None if it belongs to no extra."""
    package = (error.name or "").partition(".")[0]
    return str(MissingExtraError("this", package)) if package in EXTRA_OF else None


def missing_for_crawls() -> MissingExtraError | None:
    """Return what to say where nothing can be downloaded; None where everything for it is installed."""
    missing = [name for name in ("scrapy", "warcio") if not find_spec(name)]
    return MissingExtraError("a crawl", missing[0]) if missing else None


def need_frontier() -> None:
    """Refuse to start the proxy of URLFrontier without the packages for it."""
    if not find_spec("grpc"):
        raise MissingExtraError("the proxy", "grpc")
    if not find_spec("google") or not find_spec("google.protobuf"):
        raise MissingExtraError("the proxy", "google")


def need_scrapy() -> None:
    """Refuse to start a crawl without the packages for it."""
    missing = missing_for_crawls()
    if missing:
        raise missing
