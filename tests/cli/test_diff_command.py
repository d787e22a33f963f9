"""`ipmicra diff` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command_line import DUMP, built_file, invoked, ran, told


@pytest.fixture
def editions(tmp_path: Path) -> tuple[Path, Path]:
    new = DUMP.replace("Someone else", "A newcomer").replace("2001:db8::/32", "2001:db8::/33")
    return built_file(tmp_path, DUMP, "old.ipm"), built_file(tmp_path, new, "new.ipm")


def test_json_lists_what_came_went_and_changed_hands(editions: tuple[Path, Path]) -> None:
    result = invoked("diff", *editions, "--json")
    assert result.exit_code == 0
    shown = json.loads(result.stdout)
    assert {key: shown[key] for key in ("came", "went", "changed")} == {"came": 1, "went": 1, "changed": 1}
    keys = ("change", "first", "last", "prefix", "netname", "old_holder", "new_holder")
    assert [tuple(change[key] for key in keys) for change in shown["changes"]] == [
        ("came", "2001:db8::", "2001:db8:7fff:ffff:ffff:ffff:ffff:ffff", "2001:db8::/33", "SIX", None, None),
        ("went", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::/32", "SIX", None, None),
        ("changed", "10.1.0.0", "10.1.2.255", None, "NO-PREFIX", "Someone else", "A newcomer"),
    ]


def test_same_edition_has_no_changes(editions: tuple[Path, Path]) -> None:
    shown = json.loads(invoked("diff", editions[0], editions[0], "--json").stdout)
    assert shown == {"came": 0, "went": 0, "changed": 0, "changes": []}


def test_table_and_counts_are_for_people(editions: tuple[Path, Path]) -> None:
    done = ran("diff", *editions, "--format", "table")
    assert done.returncode == 0
    assert b"A newcomer" in done.stdout
    assert told(done) == "1 came, 1 went, 1 changed\n"


def test_limit_cuts_the_list_and_not_the_counts(editions: tuple[Path, Path], tmp_path: Path) -> None:
    many = built_file(tmp_path, "".join(f"inetnum: {i}.0.0.0/8\n\n" for i in range(1, 9)), "many.ipm")
    shown = json.loads(invoked("diff", editions[0], many, "--limit", "2", "--json").stdout)
    assert [change["change"] for change in shown["changes"]].count("came") == 2
    assert shown["came"] == 8


def test_both_hierarchies_have_to_be_there(editions: tuple[Path, Path], tmp_path: Path) -> None:
    done = ran("diff", editions[0], tmp_path / "none.ipm")
    assert done.returncode == 1
    assert "none.ipm" in told(done)
    assert invoked("diff", editions[0]).exit_code == 2
