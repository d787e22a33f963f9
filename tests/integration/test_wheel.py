"""The wheel: built, looked into, installed beside nothing else, and run from there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ipmicra.app.report.html import SCRIPTS
from tests.cli.command_line import ROOT, built_file

pytestmark = pytest.mark.slow
PAGES = ("base", "browse", "live", "overview", "signin", "site")
DATA = {
    "ipmicra/__init__.pyi",
    "ipmicra/app/report/assets/land.json",
    "ipmicra/app/report/assets/report.css",
    *(f"ipmicra/app/report/assets/scripts/{name}.js" for name in SCRIPTS),
    *(f"ipmicra/app/report/templates/{name}.html" for name in ("legend", "page", "table")),
    "ipmicra/app/serve/api/openapi.json",
    *(f"ipmicra/edge/frontier/urlfrontier.{ending}" for ending in ("binpb", "proto")),
    *(f"ipmicra/app/serve/packaging/{name}" for name in ("alerts.yml", "dashboard.json", "sysusers.conf")),
    *(f"ipmicra/app/serve/packaging/ipmicra-{name}.service" for name in ("agent", "coordinator", "upkeep")),
    "ipmicra/app/serve/packaging/ipmicra-upkeep.timer",
    *(f"ipmicra/app/serve/pages/static/{name}" for name in ("live.js", "page.css")),
    *(f"ipmicra/app/serve/pages/templates/{name}.html" for name in PAGES),
    "ipmicra/edge/geodata/gazetteer.npz",
    "ipmicra/edge/geodata/institutions.npz",
    "ipmicra/native/kernels.abi3.so",
    "ipmicra/native/kernels.pyi",
    "ipmicra/py.typed",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this checkout; nothing is asked of a package index."""
    folder = tmp_path_factory.mktemp("wheel")
    offline = ("--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check")
    pip("wheel", *offline, "--wheel-dir", str(folder), str(ROOT))
    (made,) = folder.glob("ipmicra-*.whl")
    return made


def pip(*words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", *words], capture_output=True, check=False, timeout=600, text=True
    )
    assert done.returncode == 0, done.stderr


def test_wheel_has_code_data_and_samples_and_nothing_else(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    sources = {str(path.relative_to(ROOT)) for path in (ROOT / "ipmicra").rglob("*.py")}
    samples = {f"ipmicra/lab/demo/sample/{path.name}" for path in (ROOT / "rir_dumps/sample").iterdir()}
    assert names == sources | DATA | samples


def test_wheel_tells_nothing_of_when_and_where_it_was_built(wheel: Path) -> None:
    """Two builds have the same bytes, which `bin/wheel` checks; this finds sooner why they would not."""
    opened = zipfile.ZipFile(wheel)
    assert len({one.date_time for one in opened.infolist()}) == 1
    assert opened.infolist()[0].date_time[0] < 2026  # no clock was read
    compiled = opened.read("ipmicra/native/kernels.abi3.so")
    assert [place for place in (ROOT, wheel.parent) if str(place).encode() in compiled] == []


def test_installed_wheel_runs_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    pip(
        "install", "--no-deps", "--no-index", "--disable-pip-version-check", "--target", str(site), str(wheel)
    )
    hierarchy = built_file(tmp_path)
    code = "import ipmicra, ipmicra.lab.demo.dumps as d; print(ipmicra.__file__, len(d.sample_dumps(None)))"
    place, count = run_in(tmp_path, "-c", code).split()
    assert Path(place).is_relative_to(site)
    assert int(count) == len(list((ROOT / "rir_dumps/sample").iterdir()))
    assert run_in(tmp_path, "-m", "ipmicra", "--version").startswith("ipmicra ")
    found = json.loads(run_in(tmp_path, "-m", "ipmicra", "lookup", "10.1.2.3", "--hierarchy", str(hierarchy)))
    assert found[0]["target"] == "10.1.2.3"


def run_in(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "site")},
        capture_output=True,
        check=False,
        timeout=240,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
