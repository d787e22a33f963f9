"""Names that attack a terminal, a spreadsheet or a reader of rows, in every format of a command."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from ipmicra.edge.files.tables import read_records
from tests.cli.command_line import built_file, invoked
from tests.servers.evil_agent import EvilAgent, honest

NAMES = {
    "terminal escape": "a\x1b[2Jb",
    "escape of one character": "a\x9b31mb",
    "bell and delete": "a\x07\x7fb",
    "right to left override": "evil\u202egpj.exe",
    "formula": "=HYPERLINK(1)",
    "formula by plus": "+1+cmd|' /C calc'!A0",
    "formula by minus": "-1+1",
    "formula by at": "@SUM(1)",
    "quotes and separators": '",;|x',
    "apostrophe": "'=1",
}
DUMP = """inetnum: 10.0.0.0 - 10.0.0.255
netname: {name}
org: ORG-X
source: RIPE

organisation: ORG-X
org-name: {name}
source: RIPE
"""


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_no_format_passes_on_an_attack(name: str, tmp_path: Path) -> None:
    hierarchy = built_file(tmp_path, DUMP.format(name=name).encode())
    for words in (("lookup", "10.0.0.7"), ("org", "ORG-X")):
        texts = {}
        for form in ("table", "json", "jsonl", "csv"):
            texts[form] = invoked(*words, "--hierarchy", hierarchy, "--format", form).stdout
            assert all(line.isprintable() for line in texts[form].split("\n")), (words, form)
        cells = next(iter(list(csv.reader(io.StringIO(texts["csv"])))[1:]))
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
        path = tmp_path / "printed.csv"
        path.write_text(texts["csv"])
        ((_, record),) = read_records(path, [])
        assert name in record.values()
        assert name in _texts_in(json.loads(texts["json"]))


def _texts_in(value: object) -> list[str]:
    """Return all texts of a JSON document."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for one in value for text in _texts_in(one)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv"])
def test_details_of_an_agent_are_escaped(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    detail = "=1\x1b[2J\nforged,row\x9b31m"

    monkeypatch.setenv("IPMICRA_AGENT_TOKEN", "t" * 32)
    with EvilAgent(lambda asked: honest(asked, loss="reset", rtt_ms=None, all_ms=[], detail=detail)) as agent:
        invoked("--home", tmp_path, "crawler", "add", "evil", "192.0.2.1", "--agent-url", agent.url)
        text = invoked("--home", tmp_path, "probe", "203.0.113.7", "--from", "evil", "--format", form).stdout
    assert "forged" in text
    assert all(line.isprintable() for line in text.split("\n"))
    assert not [line for line in text.split("\n") if line.startswith("forged")]
