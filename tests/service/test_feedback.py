"""What nodes observe while they download comes back: kept, judged, and a reason to measure again."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ipmicra.edge.scrapy.courier import Address, Line
from ipmicra.wire.links import ExchangeRequest, JoinRequest
from ipmicra.wire.observed import Observed
from tests.delegating_worlds import seeds_of
from tests.patience import wait_until
from tests.servers.coordinator import RunningCoordinator
from tests.servers.internet_process import InternetProcess
from tests.service.conftest import coordinator_of, prepared

pytestmark = pytest.mark.slow
LONG_MS = 900.0


def make_old(home: Path) -> None:
    """Let all that was measured be two hours old, and far longer than it is now."""
    with sqlite3.connect(home / "state.db") as store:
        store.execute("UPDATE delegations SET created_s = created_s - 7200, rtt_ms = ?", (LONG_MS,))
        store.execute("UPDATE samples SET taken_s = taken_s - 7200, rtt_ms = ?", (LONG_MS,))
    store.close()


def tell(box: RunningCoordinator, crawler: str, *sights: Observed) -> None:
    """Join a crawl as a node, and tell what it saw."""
    line = Line(Address(url=box.url, crawl="c", token=box.token))
    session = line.join(JoinRequest(node=f"node-of-{crawler}", crawler=crawler)).session
    line.exchange(ExchangeRequest(session=session, observed=sights))
    line.close()


def test_site_whose_pages_come_too_soon_is_measured_again(tmp_path: Path, internet: InternetProcess) -> None:
    home = prepared(tmp_path, internet)
    with coordinator_of(home, internet, "--policy", "everyone") as box:
        quiet, moved = seeds_of(12, internet.port)[::11]
        crawler, other = box.owner(moved)["crawler"], box.owner(quiet)["crawler"]
        box.stop()
        make_old(home)
        box.start()

        def seen(host: str, **more: Any) -> Observed:
            return Observed(host=host, port=internet.port, **more)

        def explained(seed: str) -> dict[str, Any]:
            found: dict[str, Any] = box.get("/v1/explain", host=urlsplit(seed).hostname).json()
            return found

        assert explained(moved)["delegation"]["rtt_ms"] == LONG_MS
        host = urlsplit(moved).hostname or ""
        tell(box, crawler, seen(host, pages=4, received_bytes=10, waited_s=0.1, first_byte_ms=6.0))
        assert explained(moved)["crawled"] == []  # four pages are not enough
        tell(box, crawler, seen(host, pages=2, received_bytes=10, waited_s=0.1, first_byte_ms=9.0))
        still = urlsplit(quiet).hostname or ""
        tell(box, other, seen(still, pages=9, waited_s=9.0, first_byte_ms=LONG_MS + 9))
        wait_until(lambda: explained(moved)["delegation"]["rtt_ms"] < LONG_MS / 2, "it is measured again")
        found = explained(moved)
        assert found["delegation"]["crawler"] == crawler
        (one,) = found["crawled"]
        assert (one["crawler"], one["first_byte_ms"]) == (crawler, 6.0)
        assert one["detail"] == (
            "6 pages, 20 bytes; a page came after 6.0 ms, too soon for a round trip of 900.0 ms; "
            "measured again"
        )
        assert any("pages do not come as its round trip says" in one["reason"] for one in found["asked"])
        text = box.get("/v1/explain", host=host, format="text").text
        assert "What downloading it showed" in text
        assert all(one["rtt_ms"] != 6.0 for one in found["samples"])  # it decides nothing
        assert explained(quiet)["delegation"]["rtt_ms"] == LONG_MS
        assert explained(quiet)["crawled"][0]["detail"] == "9 pages, 0 bytes"
