"""The path of a seed through the files of the package, traced from a real run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST = 58
"""Files of both processes together (decision 0241); lower it whenever a merge shortens the walk."""


def test_seed_walks_through_few_files_and_never_through_the_laboratory() -> None:
    script = [sys.executable, str(ROOT / "bin" / "trace-seed"), "--json"]
    done = subprocess.run(script, check=True, capture_output=True, text=True, cwd=ROOT)
    traced = json.loads(done.stdout)
    files = traced["files"]
    assert len(files) <= MOST
    assert not [name for name in files if name.startswith("lab/")]
    assert "delegate/machine.py" in traced["delegate"]["walk"]
    assert "edge/agent/service.py" in traced["agent"]["walk"]
    drawn = re.findall(r"`([a-z_/]+\.py)`", table("The path of a seed"))
    assert set(files) == set(drawn), "docs/architecture.md does not draw the walk as it is"


def table(title: str) -> str:
    """Return the rows of the table in a section."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return "\n".join(line for line in section.split("\n") if line.startswith("|"))
