"""`ipmicra org` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ipmicra import InputError
from tests.cli.command_line import DUMP, built_file, invoked, ran, told

MORE = "".join(f"\ninetnum: 10.9.{i}.0/24\nnetname: N{i}\norg: org-a1-ripe\n" for i in range(7))


@pytest.fixture
def hierarchy(tmp_path: Path) -> Path:
    return built_file(tmp_path, DUMP + MORE + "\ninetnum: 11.0.0.0/8\ndescr: Alphabet München\n")


def test_json_has_organisations_with_their_subnets(hierarchy: Path) -> None:
    result = invoked("org", "CARRIER", "--hierarchy", hierarchy, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    (found,) = json.loads(result.stdout)
    assert {key: found[key] for key in ("handle", "name", "address", "country", "registry", "evidence")} == {
        "handle": "ORG-A1-RIPE",
        "name": "Alpha Carrier",
        "address": "1 Road",
        "country": "GR",
        "registry": "ripe",
        "evidence": "org",
    }
    assert found["subnet_count"] == 8
    assert [each["prefix"] for each in found["subnets"]] == [
        "10.0.0.0/8",
        *(f"10.9.{i}.0/24" for i in range(4)),
    ]


def test_part_of_name_or_handle_finds(hierarchy: Path) -> None:
    names = {
        query: [each["name"] for each in json.loads(invoked("org", query, "--hierarchy", hierarchy).stdout)]
        for query in ("alpha", "a1-ripe", "MÜNCHEN")
    }
    assert names == {
        "alpha": ["Alpha Carrier", "Alphabet München"],
        "a1-ripe": ["Alpha Carrier"],
        "MÜNCHEN": ["Alphabet München"],
    }


def test_limits_are_told(hierarchy: Path) -> None:
    result = invoked("org", "alpha", "--limit", "1", "--subnets", "2", "--hierarchy", hierarchy, "--json")
    (found,) = json.loads(result.stdout)
    assert (len(found["subnets"]), found["subnet_count"]) == (2, 8)
    assert result.stderr == "more than 1 found; --limit shows more\n"
    table = invoked("org", "carrier", "--subnets", "2", "--hierarchy", hierarchy, "--format", "table").stdout
    assert "… 6 more" in table


def test_nobody_found_is_failed(hierarchy: Path) -> None:
    result = invoked("org", "nobody", "--hierarchy", hierarchy, "--json")
    assert (result.exit_code, json.loads(result.stdout)) == (1, [])
    assert "nobody" in result.stderr


def test_empty_query_is_wrong_usage(hierarchy: Path) -> None:
    assert isinstance(invoked("org", " ", "--hierarchy", hierarchy).exception, InputError)
    assert ran("org", "", "--hierarchy", hierarchy).returncode == 2


def test_query_that_is_no_text_finds_nobody(hierarchy: Path) -> None:
    done = ran("org", "\udcff", "--hierarchy", hierarchy, PYTHONUTF8="1")
    assert done.returncode == 1
    assert told(done)


def test_statistics_files_have_no_names_and_this_is_said(tmp_path: Path) -> None:
    text = "2|ripencc|20181011|1|19830705|20181010|+0200\nripencc|FR|ipv4|2.0.0.0|256|20100712|allocated|a1\n"
    hierarchy = built_file(tmp_path, text)
    result = invoked("org", "google", "--hierarchy", hierarchy)
    assert result.exit_code == 1
    assert "opaque ids instead of names" in result.stderr
    assert "opaque" not in invoked("org", "google", "--hierarchy", built_file(tmp_path)).stderr
