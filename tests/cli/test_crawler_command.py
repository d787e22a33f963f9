"""`ipmicra crawler` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ipmicra.errors import InputError
from tests.cli.command_line import built_file, invoked, ran, told


def answered(home: Path, *words: str | Path) -> Any:
    result = invoked("--home", home, "crawler", *words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_crawler_joins_is_listed_and_leaves(tmp_path: Path) -> None:
    hierarchy = built_file(tmp_path)
    joined = answered(
        tmp_path,
        *("add", "ath", "10.1.2.3", "--agent-url", "https://a.example:8443", "--label", "region=south"),
        *("--latitude", "37.9", "--longitude", "23.7", "--bandwidth-mbps", "100", "--hierarchy", hierarchy),
    )
    assert joined["subnet"] == "10.1.0.0 - 10.1.2.255"
    assert joined["labels"] == {"region": "south"}
    assert joined["joined"].endswith("Z")
    assert answered(tmp_path, "list") == [joined]
    (left,) = answered(tmp_path, "remove", "ath")
    assert left["state"] == "left"
    assert answered(tmp_path, "list") == []
    assert answered(tmp_path, "list", "--all") == [left]


def test_import_takes_a_world_s_file_of_crawlers(tmp_path: Path) -> None:
    file = tmp_path / "crawlers.csv"
    file.write_text("name,address,latitude,longitude,country\na,192.0.2.1,1,2,GR\nb,192.0.2.2,,,\n")
    assert [one["name"] for one in answered(tmp_path, "import", file)] == ["a", "b"]
    assert [one["name"] for one in answered(tmp_path, "import", file)] == ["a", "b"]


def test_store_can_be_named(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/other.db"
    answered(tmp_path, "add", "ath", "192.0.2.1", "--store", url)
    assert answered(tmp_path, "list") == []
    assert len(answered(tmp_path, "list", "--store", url)) == 1


def test_table_is_for_people(tmp_path: Path) -> None:
    invoked("--home", tmp_path, "crawler", "add", "ath", "192.0.2.1", "--label", "region=[red]south[/]")
    result = invoked("--home", tmp_path, "crawler", "list", "--format", "table")
    assert "ath" in result.stdout
    assert "region=[red]south[/]" in result.stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("add", "ath", "nowhere"), "use the crawler's public address, not a name"),
        (("remove", "ath"), "there is no crawler"),
        (("add", "ath", "192.0.2.1", "--latitude", "3"), "go together"),
        (("list", "--store", "mysql://x"), "sqlite:///"),
        (("add", "ath", "192.0.2.1", "--hierarchy", "missing.ipm"), "no hierarchy"),
    ],
)
def test_mistake_is_told_in_one_line(tmp_path: Path, words: tuple[str, ...], complaint: str) -> None:
    result = invoked("--home", tmp_path, "crawler", *words)
    assert complaint in str(result.exception)


def test_mistake_ends_with_the_code_of_wrong_usage(tmp_path: Path) -> None:
    done = ran("--home", tmp_path, "crawler", "add", "a b", "192.0.2.1")
    assert done.returncode == 2
    assert told(done).count("\n") == 1


def test_missing_file_is_told(tmp_path: Path) -> None:
    result = invoked("--home", tmp_path, "crawler", "import", tmp_path / "none.csv")
    assert isinstance(result.exception, OSError | InputError)


def test_replaced_crawler_keeps_what_is_left_out(tmp_path: Path) -> None:
    place = ("--latitude", "37.9", "--longitude", "23.7", "--country", "GR")
    before = answered(
        tmp_path,
        *("add", "ath", "192.0.2.1", *place, "--label", "region=south", "--bandwidth-mbps", "100"),
    )
    url = "https://a.example:8443"
    after = answered(tmp_path, "add", "ath", "192.0.2.1", "--replace", "--agent-url", url)
    assert after == {**before, "agent_url": url}


def test_replaced_crawler_with_another_address_loses_its_place_and_says_so(tmp_path: Path) -> None:
    answered(tmp_path, "add", "ath", "192.0.2.1", "--latitude", "37.9", "--longitude", "23.7")
    result = invoked("--home", tmp_path, "crawler", "add", "ath", "198.51.100.1", "--replace", "--json")
    assert json.loads(result.stdout)["latitude"] is None
    assert "ath has no place: name it with --latitude and --longitude" in result.stderr
