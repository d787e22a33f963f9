"""Files for operators: what they name exists, and they are as strict as the documentation says."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from prometheus_client.parser import text_string_to_metric_families

from tests.cli.command_line import ran
from tests.delegating_worlds import hierarchy_of
from tests.servers.coordinator import RunningCoordinator

FOLDER = Path(str(files("ipmicra.app.serve.packaging")))
ROOT = Path(__file__).parents[2]
UNITS = sorted(FOLDER.glob("*.service"))
PAGE = (ROOT / "docs" / "how-to" / "run-in-production.md").read_text(encoding="utf-8")
ENDINGS = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}
METRIC = re.compile(r"\b(?:ipmicra|process)_[a-z_]+\b")


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Each series with its metric, of a coordinator without a fleet: it has all."""
    home = tmp_path_factory.mktemp("home")
    hierarchy_of(home, 2)
    with RunningCoordinator(home, "--location", "none") as running:
        text = running.get("/metrics").text
    return {
        f"{family.name}{ending}": family.name
        for family in text_string_to_metric_families(text)
        for ending in ENDINGS.get(family.type, ("",))
    }


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"]
    return list(group["rules"])


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "dashboard.json").read_text())
    return found


def test_every_metric_of_the_alerts_exists(metrics: dict[str, str]) -> None:
    for rule in rules():
        named = set(METRIC.findall(rule["expr"]))
        assert named or rule["expr"].startswith("up{"), rule["alert"]
        assert named <= metrics.keys(), rule["alert"]


def test_every_metric_of_the_dashboard_exists(metrics: dict[str, str]) -> None:
    panels = [panel for panel in dashboard()["panels"] if panel["type"] != "row"]
    texts = [target["expr"] for panel in panels for target in panel["targets"]]
    texts += [one["query"]["query"] for one in dashboard()["templating"]["list"] if one["type"] == "query"]
    assert len(texts) > 20
    for text in texts:
        assert METRIC.findall(text), text
        assert set(METRIC.findall(text)) <= metrics.keys(), text


def test_every_metric_of_ours_is_shown_or_watched(metrics: dict[str, str]) -> None:
    """A metric that nobody looks at is not worth its series."""
    used = set(METRIC.findall((FOLDER / "alerts.yml").read_text() + (FOLDER / "dashboard.json").read_text()))
    looked_at = {metrics[name] for name in used}
    ours = {metric for metric in metrics.values() if metric.startswith("ipmicra")}
    assert ours - looked_at == {"ipmicra_build_info", "ipmicra_requests_under_way"}


def test_alerts_say_what_happened_and_what_to_do() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names) >= 10
    for rule in rules():
        assert rule["labels"]["severity"] in {"critical", "warning"}
        assert all(rule["annotations"][key].endswith(".") for key in ("summary", "action"))


@pytest.mark.skipif(not shutil.which("promtool"), reason="no promtool here: install Debian's prometheus")
def test_prometheus_accepts_the_rules() -> None:
    command = ["promtool", "check", "rules", str(FOLDER / "alerts.yml")]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr


def test_panels_do_not_overlap_and_have_titles() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in dashboard()["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + i, place["y"] + j) for i in range(place["w"]) for j in range(place["h"])}
        assert panel["title"]
        assert not taken & cells, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_unit_starts_commands_that_exist(unit: Path) -> None:
    """Everything before the first value or option of the operator's is asked for its help."""
    lines = re.findall(r"^ExecStart=.*/opt/ipmicra/bin/ipmicra (.*?)'?$", unit.read_text(), re.MULTILINE)
    assert lines
    for line in lines:
        words = [
            word for word in shlex.split(line.replace("%%", "%")) if not word.startswith(("$", "/", "+"))
        ]
        assert ran(*words, "--help").returncode == 0, line


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze here")
@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_exposure_is_what_the_page_says(unit: Path) -> None:
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert found
    claimed = re.search(rf"`{unit.name}` \| ([\d.]+)", PAGE)
    assert claimed
    assert float(found[1]) <= float(claimed[1]) + 0.05
