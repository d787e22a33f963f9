"""The documentation knows every command, and every command can explain itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ipmicra.cli.main import command_names, group_names
from ipmicra.hierarchy.format import REQUIRED
from ipmicra.model.finding import FATE_OF, Fate, Reason
from tests.cli.command_line import invoked

ROOT = Path(__file__).parents[2]
COMMANDS = sorted(set(command_names()) - set(group_names()))
"""Those that do something; a group alone only shows its help."""


def page(name: str) -> str:
    path = ROOT / "docs" / name
    if not path.exists():
        pytest.skip(f"docs/{name} is not written yet")
    return path.read_text(encoding="utf-8")


def test_the_readme_is_short_and_has_what_a_newcomer_needs() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 110
    assert len(text.split()) <= 850
    for needed in (
        "pip install",
        "pipx",
        "uv tool",
        "$ bin/demo",
        "$ bin/test",
        "```python",
        "pictures/map.png",
    ):
        assert needed in text
    assert len(re.findall(r"^- ", text.partition("## Limits")[2].partition("\n## ")[0], re.MULTILINE)) == 5


def test_there_are_commands() -> None:
    assert {"build", "crawler add", "demo", "diff", "fetch", "info", "lookup", "org"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_reference(command: str) -> None:
    assert re.search(rf"^#+ .*\bipmicra {command}\b", page("cli.md"), re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_option_has_help(command: str) -> None:
    result = invoked(*command.split(), "--help")
    assert result.exit_code == 0
    usage, _, rest = result.stdout.partition("\n\n")
    assert f" {command} " in usage
    assert re.match(r"  [A-Z][^\n]*(\n  [^\n]+)*\.\n", rest)
    options = re.findall(r"^  (-[^\n]*)\n(   +\S)?", result.stdout, re.MULTILINE)
    assert options
    for option, more in options:
        assert re.search(r"\S  +\S", option) or more, option


def test_every_option_of_a_command_is_in_the_reference() -> None:
    text = page("cli.md")
    for command in COMMANDS:
        for option in re.findall(r"--[a-z][a-z-]+", invoked(*command.split(), "--help").stdout):
            assert option in text, f"{command} {option}"


def test_every_reason_of_a_finding_is_in_the_page_of_dialects() -> None:
    text = page("dialects.md")
    missing = [
        reason.name
        for reason in Reason
        if FATE_OF[reason] is not Fate.KEPT and f"`{reason.name}`" not in text
    ]
    assert missing == []


def test_every_section_is_in_the_page_of_the_file_format() -> None:
    text = page("file-format.md")
    assert [name for name in REQUIRED if f"`{name}`" not in text] == []
