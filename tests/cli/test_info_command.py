"""`ipmicra info` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ipmicra import CorruptHierarchyError, Hierarchy
from ipmicra.hierarchy import format as names
from tests.cli.command_line import built_file, invoked, ran, told


@pytest.fixture
def hierarchy(tmp_path: Path) -> Path:
    return built_file(tmp_path)


def test_json_tells_edition_counts_and_dumps(hierarchy: Path) -> None:
    result = invoked("info", hierarchy, "--json")
    assert result.exit_code == 0
    shown = json.loads(result.stdout)
    assert (shown["file"], shown["size_bytes"]) == (str(hierarchy), hierarchy.stat().st_size)
    assert (shown["subnets"], shown["organisations"], shown["max_depth"]) == (3, 2, 2)
    assert (shown["overlaps"], shown["duplicates"], shown["verified"]) == (0, 0, False)
    assert shown["tally"] == {"kept": 4, "repaired": 0, "skipped": 1, "unknown": 1}
    assert shown["edition"]["content_hash"] == Hierarchy.open(hierarchy).content_hash
    (dump,) = shown["edition"]["dumps"]
    assert (dump["name"], dump["dialect"], dump["date"]) == ("a.ipm.db", "rpsl", "2020-01-02")


def test_hierarchy_can_be_named_in_three_ways(hierarchy: Path) -> None:
    home = hierarchy.rename(hierarchy.parent / "hierarchy.ipm").parent
    ways = [
        invoked("info", home / "hierarchy.ipm", "--json"),
        invoked("info", "--hierarchy", home / "hierarchy.ipm", "--json"),
        invoked("--home", home, "info", "--json"),
    ]
    assert len({way.stdout for way in ways}) == 1


def test_table_is_for_people(hierarchy: Path) -> None:
    text = ran("info", hierarchy, "--format", "table").stdout.decode()
    assert "header only; --verify reads all" in text
    assert "a.ipm.db" in text
    assert "\x1b" not in text
    verified = invoked("info", hierarchy, "--verify", "--format", "table").stdout
    assert "every byte is as written" in verified


def test_verify_finds_a_flipped_byte(hierarchy: Path) -> None:
    content = bytearray(hierarchy.read_bytes())
    section = Hierarchy(bytes(content))._sections.layout.sections[names.NAMES]
    content[section.offset + 3] ^= 1
    hierarchy.write_bytes(content)
    assert invoked("info", hierarchy).exit_code == 0
    done = ran("info", "--verify", hierarchy)
    assert (done.returncode, done.stdout) == (1, b"")
    assert f"byte {section.offset}" in told(done)
    assert "damaged" in told(done)


def test_cut_file_is_told(hierarchy: Path) -> None:
    hierarchy.write_bytes(hierarchy.read_bytes()[:-1])
    result = invoked("info", hierarchy)
    assert isinstance(result.exception, CorruptHierarchyError)
    done = ran("info", hierarchy)
    assert done.returncode == 1
    assert str(hierarchy) in told(done)


def test_missing_file_is_told(tmp_path: Path) -> None:
    done = ran("info", tmp_path / "none.ipm")
    assert done.returncode == 1
    assert "ipmicra build" in told(done)


def test_version_and_help_are_told() -> None:
    assert invoked("--version").stdout.startswith("ipmicra 0.")
    assert "build" in invoked("-h").stdout
    assert invoked("bogus").exit_code == 2
