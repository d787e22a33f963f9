"""Ctrl-C in the midst of long commands: one line that says what is left and what to do, code 130."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ipmicra.cli.main import HALF_DONE, command_names
from tests.cli.command_line import ROOT

CHILD = """
import signal, sys
import ipmicra.cli.main as main
{hook}
main.run()
"""
"""Runs a command that is interrupted where it does its work."""
HOOKS = {
    "simulate churn --scheme dht": "import ipmicra.lab.simulate.churn as place; name = 'simulate_churn'",
    "evaluate world": "import ipmicra.lab.evaluate.evaluate as place; name = 'evaluate'",
    "lookup 10.0.0.1": "from ipmicra.app.home import Home as place; name = 'open_hierarchy'",
    "build a.db": "import ipmicra.app.build.build as place; name = 'build'",
    "probe 10.0.0.1": "import ipmicra.app.probe as place; name = '_probe_targets'",
    "fetch iana": "import ipmicra.app.fetch as place; name = 'choose'",
    "delegate 10.0.0.1": "import ipmicra.edge.agent.access as place; name = 'read_token'",
    "demo": "import ipmicra.lab.demo.run as place; name = 'sample_dumps'",
}
STRIKE = """
def strike(*_words, **_more):
    signal.raise_signal(signal.SIGINT)
setattr(place, name, strike)
"""


@pytest.mark.parametrize("words", HOOKS)
def test_interrupt_is_told_in_one_line_with_the_next_step(words: str, tmp_path: Path) -> None:
    code = CHILD.format(hook=HOOKS[words] + STRIKE)
    done = subprocess.run(
        [sys.executable, "-c", code, "--home", str(tmp_path / "home"), *words.split()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=240,
        text=True,
    )
    assert done.returncode == 128 + signal.SIGINT, done.stderr
    lines = done.stderr.splitlines()
    assert lines[-1].startswith("interrupted: ")
    assert [line for line in lines if "interrupted" in line] == lines[-1:]
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_lines_are_there_for_commands_that_there_are() -> None:
    assert set(HALF_DONE) <= set(command_names())
