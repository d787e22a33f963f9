"""An agent in a process of its own, as an operator starts it."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.servers.agent import TOKEN


def started_agent(*words: str) -> tuple[subprocess.Popen[str], str]:
    """Start `ipmicra agent` on a free port; return the process and its URL."""
    command = [sys.executable, "-m", "ipmicra", "agent", "--listen", "127.0.0.1:0", *words]
    environment = {**os.environ, "IPMICRA_AGENT_TOKEN": TOKEN}
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    assert child.stderr is not None
    for line in child.stderr:
        found = re.search(r"listens on (https?://\S+)", line)
        if found:
            return child, found[1]
    raise AssertionError(f"it did not start: {child.wait()}")
