"""Pins of dependencies, the bill of materials and signatures: the tools say what is wrong with them."""

from __future__ import annotations

import hashlib
import io
import json
import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
LOCK = runpy.run_path(str(ROOT / "bin" / "lock"))
SBOM = runpy.run_path(str(ROOT / "bin" / "make-sbom"))
HASH = f"--hash=sha256:{'0' * 64}"
PROJECT: dict[str, Any] = {
    "project": {
        "dependencies": ["alpha>=1.0"],
        "optional-dependencies": {"more": ["Beta_Two[fast]>=2"], "all": ["ipmicra[more]"]},
    },
    "dependency-groups": {"build": ["gamma>=3"]},
}
PINS = f"""# Written by bin/lock
alpha==1.2 \\
    {HASH}
    # via
    #   ipmicra (pyproject.toml)
    #   deep
beta-two[fast]==2.0 ; python_version < '3.13' \\
    {HASH} \\
    {HASH}
    # via ipmicra (pyproject.toml)
deep==0.1 \\
    {HASH}
    # via beta-two
gamma==3.0 \\
    {HASH}
    # via ipmicra (pyproject.toml:build)
"""


def faults(text: str) -> list[str]:
    return list(LOCK["faults"](PROJECT, LOCK["read_lock"](text)))


def names(*chosen: str, base: bool = True) -> set[str]:
    pins = LOCK["read_lock"](PINS)
    found: set[str] = LOCK["reached"](pins, LOCK["wanted"](PROJECT, chosen, base=base))
    return found


def test_sound_lock_has_no_faults() -> None:
    assert faults(PINS) == []
    assert [(pin.name, pin.version, pin.hashes) for pin in LOCK["read_lock"](PINS)] == [
        ("alpha", "1.2", 1),
        ("beta-two", "2.0", 2),
        ("deep", "0.1", 1),
        ("gamma", "3.0", 1),
    ]


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("alpha==1.2", "alpha==0.9", "alpha>=1.0 does not allow alpha==0.9"),
        ("alpha==1.2", "alphabet==1.2", "alpha>=1.0 has no pin"),
        ("# via beta-two", "# via somebody", "nothing needs deep==0.1"),
        (f"deep==0.1 \\\n    {HASH}", "deep==0.1", "deep==0.1 has no hash"),
    ],
)
def test_lock_that_does_not_fit_is_told(before: str, after: str, fault: str) -> None:
    assert fault in faults(PINS.replace(before, after, 1))


def test_an_environment_gets_the_pins_that_it_needs_and_no_others() -> None:
    assert names() == {"alpha"}
    assert names("all") == {"alpha", "beta-two", "deep"}
    assert names("build", base=False) == {"gamma"}
    with pytest.raises(SystemExit, match="no extra or group called 'less'"):
        names("less")


def test_printed_pins_have_versions_markers_and_hashes_and_nothing_else() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "bin" / "lock", "--print", "dev"], capture_output=True, check=True, text=True
    )
    lines = [line.strip().removesuffix("\\").strip() for line in done.stdout.splitlines()]
    pins = [line for line in lines if not line.startswith("--hash=sha256:")]
    assert len(pins) > 100
    assert all("==" in line for line in pins)
    assert {"numpy", "pytest", "scrapy"} <= {line.split("==")[0] for line in pins}
    assert "uv" not in {line.split("==")[0] for line in pins}


def test_bill_has_what_the_wheel_carries_beside_the_packages_that_it_needs() -> None:
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as opened:
        for path in SBOM["CARRIED"]:
            opened.writestr(path, path)
    bill = {
        "metadata": {"component": {"bom-ref": "root", "name": "ipmicra"}},
        "components": [{"bom-ref": "alpha==1.2", "name": "alpha"}, {"bom-ref": "tool==1", "name": "tool"}],
        "dependencies": [{"ref": "root", "dependsOn": ["alpha==1.2"]}, {"ref": "tool==1"}],
    }
    made = SBOM["completed"](bill, wheel.getvalue(), "ipmicra-0.2.0-cp311-abi3-linux_x86_64.whl")
    assert made["metadata"]["component"]["version"] == "0.2.0"
    found = {one["name"]: one for one in made["components"]}
    assert set(found) == {"alpha", *SBOM["CARRIED"]}
    for path in SBOM["CARRIED"]:
        assert found[path]["hashes"][0]["content"] == hashlib.sha256(path.encode()).hexdigest()
    assert made["dependencies"] == [{"ref": "root", "dependsOn": sorted(["alpha==1.2", *SBOM["CARRIED"]])}]
    json.dumps(made)


def test_files_of_others_are_in_the_bill() -> None:
    """Text of our own is not listed; tables, and what is compiled, are."""
    opaque = {
        path.relative_to(ROOT).as_posix()
        for ending in ("*.npz", "*.so", "land.json")
        for path in (ROOT / "ipmicra").rglob(ending)
    }
    assert opaque == set(SBOM["CARRIED"])


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen")
def test_signed_release_is_checked_and_a_changed_one_is_refused(tmp_path: Path) -> None:
    for folder in ("bin", "dist"):
        (tmp_path / folder).mkdir()
    shutil.copy(ROOT / "bin" / "release", tmp_path / "bin")
    (tmp_path / "dist" / "ipmicra-0.2.0.tar.gz").write_bytes(b"a release")
    for key in ("key", "other"):
        told = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / key)]
        subprocess.run(told, check=True)
    public = (tmp_path / "key.pub").read_text()
    (tmp_path / "allowed_signers").write_text(f'ann namespaces="ipmicra-release" {public}')

    def sign(key: str) -> None:
        command = [str(tmp_path / "bin" / "release"), "--sign-only", "--key", str(tmp_path / key)]
        subprocess.run(command, check=True, capture_output=True)

    def checks() -> bool:
        with (tmp_path / "dist" / "SHA256SUMS").open("rb") as sums:
            words = "ssh-keygen -Y verify -f ../allowed_signers -I ann -n ipmicra-release -s SHA256SUMS.sig"
            verified = subprocess.run(
                words.split(), cwd=tmp_path / "dist", stdin=sums, capture_output=True, check=False
            )
        hashed = subprocess.run(
            ["sha256sum", "--check", "SHA256SUMS"], cwd=tmp_path / "dist", capture_output=True, check=False
        )
        return verified.returncode == 0 and hashed.returncode == 0

    sign("key")
    assert checks()
    (tmp_path / "dist" / "ipmicra-0.2.0.tar.gz").write_bytes(b"another release")
    assert not checks()
    sign("other")
    assert not checks()


@pytest.mark.parametrize("script", ["wheel", "release"])
def test_releases_install_by_pins_and_files_only(script: str) -> None:
    """Whatever else asks the index would get packages, or tools that build them, without pins and hashes."""
    text = (ROOT / "bin" / script).read_text("utf-8")
    assert "bin/install-pins" in text
    for line in text.splitlines():
        assert not re.search(r"-m pip (install|wheel|download)\b", line) or "--no-index" in line, line


def test_pins_go_only_into_an_environment_that_is_there(tmp_path: Path) -> None:
    words = [str(ROOT / "bin" / "install-pins"), str(tmp_path / "none"), "--only", "build"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[0][:23]) == (2, "usage: bin/install-pins")
