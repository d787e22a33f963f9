"""Running `ipmicra` as a user does, in a process of its own or in this one."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from typer.testing import CliRunner, Result

from ipmicra.cli.main import app
from tests.patience import PATIENCE_S
from tests.servers.command_process import CommandProcesses

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "rir_dumps" / "sample"
DUMP = """inetnum: 10.0.0.0 - 10.255.255.255
netname: EXAMPLE-NET
org: ORG-A1-RIPE
country: GR
status: ALLOCATED PA
last-modified: 2020-01-02T03:04:05Z
source: RIPE

inetnum: 10.1.0.0 - 10.1.2.255
netname: NO-PREFIX
descr: Someone else

inet6num: 2001:db8::/32
netname: SIX
geoloc: 37.9 23.7

organisation: ORG-A1-RIPE
org-name: Alpha Carrier
address: 1 Road
country: GR

person: Nobody

strange: thing
"""
"""Three registrations, an organisation, something skipped and something unknown."""


def arguments(words: tuple[str | Path, ...]) -> list[str]:
    return [str(word) for word in words]


@cache
def command_processes() -> CommandProcesses:
    """Start the process that runs commands for all tests of this process."""
    made = CommandProcesses()
    atexit.register(made.close)
    return made


def ran(*words: str | Path, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a process of its own, its output into pipes."""
    return command_processes().run(arguments(words), stdin, {**os.environ, **environment}, PATIENCE_S)


def ran_anew(*words: str | Path) -> subprocess.CompletedProcess[bytes]:
    """Run a command as `ran` does, with a Python of its own too."""
    return subprocess.run(
        [sys.executable, "-m", "ipmicra", *arguments(words)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
    )


def invoked(*words: str | Path, stdin: str | None = None) -> Result:
    """Run a command in this process; an error of ours is left in `exception`."""
    return CliRunner().invoke(app, arguments(words), input=stdin)


def told(done: subprocess.CompletedProcess[bytes]) -> str:
    """Give what a command told beside its data, after seeing that it did not fall over."""
    said = done.stderr.decode()
    assert "Traceback" not in said, said
    return said


def dump_file(folder: Path, text: str | bytes = DUMP, name: str = "a.db") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def built_file(folder: Path, text: str | bytes = DUMP, name: str = "a.ipm") -> Path:
    """Build a hierarchy from one dump."""
    output = folder / name
    result = invoked("build", dump_file(folder, text, f"{name}.db"), "-o", output, "--json")
    assert result.exit_code == 0, result.output
    return output
