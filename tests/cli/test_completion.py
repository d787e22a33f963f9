"""What a shell completes, asked of the installed entry point as the shells' scripts ask."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ipmicra.cli import completion
from tests.cli.command_line import invoked

ENTRY = Path(sys.executable).with_name("ipmicra")


def completed(line: str, **environment: str) -> list[str]:
    """Ask as bash does."""
    words = line.split(" ")
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_IPMICRA_COMPLETE": "complete_bash"}
    done = subprocess.run(
        [ENTRY], env={**os.environ, **asked, **environment}, capture_output=True, check=False, timeout=120
    )
    assert done.stderr == b""
    return done.stdout.decode().split()


def test_names_to_complete_are_the_real_ones() -> None:
    from ipmicra.app.assign import backends
    from ipmicra.app.export.formats import FORMATS, KITS
    from ipmicra.app.fetch import REGISTRY_NAMES
    from ipmicra.assign.coordinate.coordinates import METHODS as COORDINATE_METHODS
    from ipmicra.assign.overlay.options import CutRule, Half
    from ipmicra.delegate.policies.registry import POLICIES
    from ipmicra.delegate.replay.world import LocationKind
    from ipmicra.lab.churn.schemes.table import SCHEMES
    from ipmicra.lab.experiments.delegation_2004 import HIERARCHIES
    from ipmicra.lab.experiments.splitting import SCHEME_NAMES
    from ipmicra.locate.chain import DEFAULT_ORDER
    from ipmicra.partition.config import Relocation
    from ipmicra.partition.methods.registry import METHODS
    from ipmicra.partition.sites import Grain

    assert completion.POLICIES == POLICIES
    assert backends.BACKENDS == completion.BACKENDS
    assert ("all", *METHODS) == completion.METHODS
    assert tuple(Grain) == completion.GRAINS
    assert tuple(LocationKind) == completion.LOCATIONS
    assert set(completion.REGISTRIES) | {"ripencc"} == set(REGISTRY_NAMES)
    assert DEFAULT_ORDER == completion.HEURISTICS
    assert SCHEME_NAMES == completion.SPLITTING_SCHEMES
    assert tuple(SCHEMES) == completion.CHURN_SCHEMES
    assert COORDINATE_METHODS == completion.COORDINATE_METHODS
    assert tuple(Half) == completion.HALVES
    assert tuple(CutRule) == completion.CUTS
    assert tuple(Relocation) == completion.RELOCATIONS
    assert HIERARCHIES == completion.HIERARCHIES
    assert tuple(dict.fromkeys([*KITS, *FORMATS])) == completion.EXPORTS


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("ipmicra de", ["delegate", "demo"]),
        ("ipmicra crawler ", ["add", "drain", "import", "list", "measure", "remove"]),
        ("ipmicra delegate --policy p", ["paper", "predict"]),
        ("ipmicra --log-level w", ["warning"]),
        ("ipmicra info --format ", ["csv", "json", "jsonl", "parquet", "table"]),
        ("ipmicra locate --heuristics loc,a", ["loc,airport"]),
        ("ipmicra build r", []),
    ],
)
def test_known_words_are_completed_and_files_are_left_to_the_shell(line: str, wanted: list[str]) -> None:
    assert sorted(completed(line)) == wanted


def test_crawlers_are_those_of_the_store_and_none_is_made(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for number, name in enumerate(("ath", "ams", "fra")):
        assert invoked("--home", home, "crawler", "add", name, f"192.0.2.{number + 1}").exit_code == 0
    assert invoked("--home", home, "crawler", "remove", "ams").exit_code == 0
    assert completed(f"ipmicra --home {home} probe --from a") == ["all", "ath"]
    assert completed("ipmicra crawler remove f", IPMICRA_HOME=str(home)) == ["fra"]
    assert completed("ipmicra crawler remove f", IPMICRA_HOME=str(tmp_path / "none")) == []
    assert not (tmp_path / "none").exists()


def test_key_press_waits_for_no_heavy_library() -> None:
    heavy = {"numpy", "aiohttp", "rich.console", "requests", "sqlite_utils"}
    code = f"import sys\nimport ipmicra.cli.main\nprint(*({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, timeout=120, text=True
    )
    assert done.stdout.strip() == ""


@pytest.mark.parametrize(
    ("shell", "mark"), [("bash", "complete -o default"), ("zsh", "#compdef"), ("fish", "complete --command")]
)
def test_scripts_for_shells_name_the_program(shell: str, mark: str) -> None:
    asked = {"_IPMICRA_COMPLETE": f"source_{shell}"}
    done = subprocess.run([ENTRY], env={**os.environ, **asked}, capture_output=True, check=False, timeout=120)
    script = done.stdout.decode()
    assert mark in script
    assert "_IPMICRA_COMPLETE=complete_" in script


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_installed_completion_works_in_bash(tmp_path: Path) -> None:
    """The script is put where bash finds it, and completes there."""
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": f"{ENTRY.parent}:{os.environ['PATH']}"}
    told = subprocess.run(
        ["bash", "-c", "ipmicra --install-completion; true"],
        env=environment,
        capture_output=True,
        check=True,
        timeout=120,
    )
    assert (tmp_path / ".bash_completions" / "ipmicra.sh").exists(), told.stderr.decode()
    script = (
        "source ~/.bashrc; COMP_WORDS=(ipmicra delegate --policy pa); COMP_CWORD=3; "
        '_ipmicra_completion ipmicra; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", script], env=environment, capture_output=True, check=True, timeout=120
    )
    assert done.stdout == b"paper\n"
