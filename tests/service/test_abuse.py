"""Members that turn hostile: a short version of `bin/torture abuse`; a coordinator that misuses an agent."""

from __future__ import annotations

import json
import socket
import time
from collections import Counter
from datetime import datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from ipmicra.wire.joining import JoinToken, encode_join_token
from tests.patience import wait_until
from tests.servers.calling_fleet import AgentProcess
from tests.servers.evil_agent import HEAD, EvilAgent
from tests.torture.abuse import Abused, run_campaign

SECONDS = 0.2
FLEET = "0123456789abcdef"
PRIVATE = ("10.0.0.1", "169.254.169.254", "192.168.1.1", "::1", "fe80::1", "127.0.0.1", "0.0.0.0")
ALLOWED = "127.9.9.9"


@pytest.mark.slow
def test_hostile_member_harms_nobody_but_itself(tmp_path: Path) -> None:
    history = run_campaign(tmp_path, 20_261_118, SECONDS, ["join flood", "link flood", "theft"])
    assert history.violations() == []
    assert all(history.statuses.values())
    assert history.said
    assert set(history.statuses["join flood"]) <= {"403", "429"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"after": {"a": "evil"}}, "a was c0's, and is evil's"),
        ({"finished": {"http://a/1"}}, "its node did not say so"),
        ({"samples": [("evil", "127.1.0.1", float("nan"))]}, "evil measured nan ms"),
        ({"samples": [("evil", "127.1.0.1", -1.0)]}, "evil measured -1.0 ms"),
        ({"samples": [("evil", "10.0.0.1", 1.0)]}, "which nobody asked for"),
        ({"trapped": 2, "refused": 9}, "sent to private addresses 2 times"),
        ({"refused": 0}, "no link to a private address reached a node"),
        ({"begun": {"theft": 422}}, "no crawl could begin after 'theft': 422"),
        ({"growth_mb": 1_000.0}, "grew by 1000 MB"),
        ({"log": '{"event": "\x1b[2J"}'}, "the log has"),
        ({"rates": {"lies": {"known": 0.0}}}, "no known during 'lies'"),
    ],
)
def test_campaign_finds_what_must_not_be(change: dict[str, Any], told: str) -> None:
    sound = Abused(before={"a": "c0"}, after={"a": "c0"}, said={"http://a/0"}, finished={"http://a/0"})
    sound.samples, sound.log = [("c0", "127.1.0.1", 0.1)], '{"event": "fine"}'
    assert sound.violations() == []
    for name, value in change.items():
        setattr(sound, name, value)
    (found,) = sound.violations()
    assert told in found


def test_coordinator_that_turns_hostile_reaches_nothing_private_and_not_too_fast(tmp_path: Path) -> None:
    """It orders probes of private addresses, many at once of one, and names coordinators within a network."""
    with socket.create_server(("0.0.0.0", 0), backlog=1_000) as site:
        port = site.getsockname()[1]
        targets = [*PRIVATE * 10, *[ALLOWED] * 200]
        orders = [
            {"id": f"o{number}", "address": address, "port": port, "samples": 3, "wait_ms": 60_000}
            for number, address in enumerate(targets)
        ]
        named = [f"http://192.168.{number}.1:80" for number in range(8)]

        def said(request: dict[str, Any]) -> bytes:
            if "key_hash" in request:
                content: dict[str, Any] = {"fleet": FLEET, "crawler": "ath", "agent": "0" * 32}
            elif "capacity" in request:
                content = {"cursor": "e.1", "works": [], "coordinators": named}
                if not request["cursor"]:
                    content["works"] = [{"id": "w1", "probe": {"only_repeat": False, "orders": orders}}]
                else:
                    time.sleep(0.1)
            else:
                content = {"used": 0}
                answers.update(one["loss"] or "answered" for one in request["answers"])
            return HEAD + json.dumps({"version": 1, **content}).encode()

        answers: Counter[str] = Counter()
        with EvilAgent(said) as coordinator:
            token = JoinToken(secret=f"ipm_j_{'x' * 43}", fleet=FLEET, url=coordinator.url, pin=None)
            (tmp_path / "join").write_text(encode_join_token(token))
            words = ["--join-file", str(tmp_path / "join"), "--target-log", str(tmp_path / "targets.jsonl")]
            words += ["--allow", f"{ALLOWED}/32", "--allow-port", str(port)]
            agent = AgentProcess("ath", tmp_path, words)
            agent.start()
            try:
                wait_until(lambda: answers["answered"] >= 3, "probes that are allowed")
                wait_until(lambda: answers["refused-order"] == len(PRIVATE) * 10, "refusals of the others")
                assert agent.is_running, agent.log()
                probed = agent.targets()
            finally:
                agent.end()
    assert {ip_address(one["address"]) for one in probed} == {ip_address(ALLOWED)}
    first, last = (datetime.fromisoformat(one["time"]) for one in (probed[0], probed[-1]))
    assert (
        len(probed) <= 3 + (last - first).total_seconds() + 2
    )  # a burst, one a second, times in whole seconds
