"""Sort the requests of a crawler of crawlee by their owners: `OwnedRequests`, a `RequestManager`."""

from __future__ import annotations

from ipmicra.errors import EXTRA_OF, MissingExtraError

try:
    from ipmicra.app.crawl.owned_requests import OwnedRequests
except ModuleNotFoundError as error:
    package = (error.name or "").partition(".")[0]
    if package not in EXTRA_OF:
        raise
    raise MissingExtraError("a manager of requests", package) from error

__all__ = ["OwnedRequests"]
