"""The TCP and ICMP rungs against real delays, in a network namespace of their own with `tc netem`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

PROBE = """
import asyncio, json, socket, sys
from ipaddress import ip_address
from ipmicra.edge.prober.ladder import Prober
from ipmicra.model.sample import Rung
from ipmicra.wire.messages import ProbeOrder

listening = socket.create_server(("127.0.0.1", 8080))
rungs = {"tcp": Rung.TCP, "icmp": Rung.ICMP, "refused": Rung.TCP}
found = {}
for name, rung in rungs.items():
    port = 9 if name == "refused" else 8080
    order = ProbeOrder(id="a", address=ip_address("127.0.0.1"), port=port, first_rung=rung)
    for _ in range(30):  # a busy machine adds to what is measured: once it must come near
        answer = asyncio.run(Prober().probe(order))
        if answer.rtt_ms < float(sys.argv[1]):
            break
    found[name] = (answer.rtt_ms, answer.rung, answer.detail)
print(json.dumps(found))
"""
ALLOW_ICMP = 'echo "0 2147483647" > /proc/sys/net/ipv4/ping_group_range'


def in_namespace(*steps: str) -> subprocess.CompletedProcess[str]:
    script = " && ".join(["ip link set lo up", *steps])
    return subprocess.run(
        ["unshare", "--net", "sh", "-c", script], capture_output=True, text=True, check=False
    )


def needs(*steps: str) -> None:
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("unshare and ip are not installed")
    tried = in_namespace(*steps)
    if tried.returncode:
        pytest.skip(f"not permitted here: {' && '.join(steps)}: {tried.stderr.strip()[-200:]}")


@pytest.mark.parametrize("delay_ms", [5, 40])
def test_round_trips_are_those_of_the_network(delay_ms: int) -> None:
    """Each packet waits on its way out of loopback, so a round trip takes twice the delay."""
    netem = f"tc qdisc add dev lo root netem delay {delay_ms}ms"
    needs(ALLOW_ICMP, netem)
    spread_ms = max(1.0, 0.1 * delay_ms)
    done = in_namespace(ALLOW_ICMP, netem, f"{sys.executable} -c '{PROBE}' {2 * delay_ms + spread_ms}")
    assert done.returncode == 0, done.stderr
    for name, (rtt_ms, _, _) in json.loads(done.stdout).items():
        assert rtt_ms == pytest.approx(2 * delay_ms, abs=spread_ms), name


def test_echo_is_answered_where_the_system_allows_it() -> None:
    needs(ALLOW_ICMP)
    done = in_namespace(ALLOW_ICMP, f"{sys.executable} -c '{PROBE}' 1000")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    rtt_ms, rung, _ = found["icmp"]
    assert rung == "icmp"
    assert 0 < rtt_ms < 1000
    assert found["refused"][1] == "tcp"
