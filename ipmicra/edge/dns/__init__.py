"""Host names to addresses: one at a time for a look-up, millions for a crawl; one implementation for both.

`Resolver` (in `one_by_one.py`) is the plain call; `BulkResolver` (in `bulk.py`) streams; both ask through
`DnsClient` (in `client.py`), which speaks DNS over a few sockets.
"""

from ipmicra.edge.dns.one_by_one import Resolver

__all__ = ["Resolver"]
