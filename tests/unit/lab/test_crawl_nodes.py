"""Nodes that are forked for measured crawls."""

from __future__ import annotations

import subprocess
import sys


def test_what_a_node_prints_does_not_reach_the_output_of_its_command() -> None:
    code = (
        "import os; from ipmicra.lab.crawls.nodes import leave_stdout_alone; leave_stdout_alone(); "
        "print('by Python', flush=True); os.system('echo by a child')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert done.stderr.split("\n")[:2] == ["by Python", "by a child"]
