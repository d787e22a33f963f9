"""What an agent keeps to whatever its coordinator orders: a cap on all probes, and a log for its owner."""

from __future__ import annotations

import asyncio
import json
from ipaddress import ip_address
from pathlib import Path

from ipmicra.edge.agent.service import ProbeService
from ipmicra.edge.agent.target_log import TargetLog
from ipmicra.edge.pace.limiter import PolitenessConfig, RateLimiter
from ipmicra.edge.prober.exchange import Exchange
from ipmicra.model.address import Address
from ipmicra.model.sample import Loss
from ipmicra.wire.messages import Answer, ProbeOrder, ProbeRequest


def test_all_targets_together_are_capped() -> None:
    """A thousand different blocks: 20 at once, two seconds' worth, and then ten per second."""
    now_s = 0.0
    limiter = RateLimiter(PolitenessConfig(interval_s=1.0, per_second=10.0, burst_s=2.0), lambda: now_s)
    waits = [limiter.reserve(ip_address(f"198.51.{i}.1"), 1e9) for i in range(100)]
    assert [wait for wait in waits if wait is not None] == sorted(wait for wait in waits if wait is not None)
    at_once = sum(wait == 0.0 for wait in waits)
    assert 20 <= at_once <= 21
    assert abs((waits[-1] or 0.0) - (100 - at_once) / 10.0) < 0.2


def test_target_is_written_down_before_it_is_probed(tmp_path: Path) -> None:
    file = tmp_path / "targets.jsonl"
    log = TargetLog(file, clock=lambda: 0.0)
    seen: list[int] = []

    class Prober:
        async def pinned(self, order: ProbeOrder) -> tuple[Address | None, float | None, Exchange | None]:
            return order.address, None, None

        async def probe(self, order: ProbeOrder) -> Answer:
            seen.append(file.read_text().count("\n"))
            return Answer(order=order.id, address=order.address, loss=Loss.TIMEOUT)

    async def scenario() -> None:
        service = ProbeService(Prober(), politeness=PolitenessConfig(interval_s=0.0), on_target=log.note)
        for name in ("a", "b"):
            order = ProbeOrder(id=name, address=ip_address("198.51.100.7"), host="x.example", port=443)
            async for _ in service.answers(ProbeRequest(orders=(order,))):
                pass

    asyncio.run(scenario())
    log.close()
    assert seen == [1, 2]
    assert json.loads(file.read_text().splitlines()[0]) == {
        "time": "1970-01-01T00:00:00Z",
        "order": "a",
        "address": "198.51.100.7",
        "host": "x.example",
        "port": 443,
    }


def test_log_of_targets_is_rotated_by_size(tmp_path: Path) -> None:
    log = TargetLog(tmp_path / "targets.jsonl", largest=500, kept=2)
    for number in range(100):
        log.note(ProbeOrder(id=f"o{number}", address=ip_address("198.51.100.7")))
    log.close()
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["targets.jsonl", "targets.jsonl.1", "targets.jsonl.2"]
    assert all(file.stat().st_size <= 500 for file in files)
