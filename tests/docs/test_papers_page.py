"""The page on the papers names files, commands and options that exist."""

from __future__ import annotations

import re
from pathlib import Path

from ipmicra.cli.main import command_names
from tests.docs.known_commands import all_options

ROOT = Path(__file__).parents[2]


def rows() -> list[list[str]]:
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    cells = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in cells if row[0].strip() != "what"]


def test_every_row_says_where_how_and_what_came_out() -> None:
    assert len(rows()) >= 45
    for row in rows():
        assert len(row) == 5, row[0]
        assert row[3] or row[4], row[0]


def test_every_file_and_folder_exists() -> None:
    for row in rows():
        for name in re.findall(r"`([a-z_/0-9]+(?:\.py|/))`", row[1]):
            assert (ROOT / "ipmicra" / name).exists(), name


def test_every_command_and_option_exists() -> None:
    known, options = set(command_names()), all_options()
    for row in rows():
        for words in re.findall(r"`([^`]+)`", row[2]):
            names = words.split()
            if not words.startswith("-"):
                assert {names[0], " ".join(names[:2])} & known, words
            for option in re.findall(r"--[a-z][a-z-]+", words):
                assert option in options, words


def test_what_is_not_built_has_no_command() -> None:
    for row in rows():
        if row[3] == "not built":
            assert (row[1], row[2]) == ("", ""), row[0]
