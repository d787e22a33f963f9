"""`ipmicra locate FILE.parquet -o OUT.parquet`: places beside what was there."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.command_line import invoked
from tests.cli.test_lookup_tables import read, written
from tests.table_worlds import home_of_three

ROUTER = "ae3.fra-core2.example.net"
HOSTS = [ROUTER, None, "not a host", ROUTER, "nothing.example"]


def test_places_are_added_and_nothing_is_lost(tmp_path: Path) -> None:
    source = written(tmp_path / "hosts.parquet", id=list(range(len(HOSTS))), host=HOSTS)
    out = tmp_path / "placed.parquet"
    home = ("--home", tmp_path / "home")
    done = invoked(*home, "locate", source, "-o", out, "--offline", "--prefix", "at_", "--json")
    assert done.exit_code == 0, done.output
    found = read(out)
    assert (found["id"], found["host"]) == (list(range(len(HOSTS))), HOSTS)
    (alone,) = json.loads(invoked(*home, "locate", ROUTER, "--offline", "--json").stdout)
    for name in ("latitude", "longitude", "radius_km", "city", "country"):
        assert found[f"at_{name}"] == [alone["location"][name], None, None, alone["location"][name], None]
    assert found["at_heuristic"][0] == alone["heuristic"]
    report = json.loads(done.stdout)
    assert (report["rows"], report["missing"], report["column"]) == (5, 3, "host")


def test_addresses_are_where_they_are_one_by_one(tmp_path: Path) -> None:
    """Each subnet is located once for all its addresses, and names between them by themselves."""
    home = home_of_three(tmp_path)
    texts = ["10.0.1.1", "10.1.2.3", ROUTER, "10.0.1.200", None, "::ffff:10.1.2.4", "9.9.9.9", "10.2.0.1 "]
    source, out = written(tmp_path / "mixed.parquet", target=texts), tmp_path / "placed.parquet"
    done = invoked("--home", home, "locate", source, "-o", out, "--offline")
    assert done.exit_code == 0, done.output
    asked = [text for text in texts if text]
    alone = iter(json.loads(invoked("--home", home, "locate", *asked, "--offline", "--json").stdout))
    expected = [(next(alone)["location"] or {}) if text else {} for text in texts]
    found = read(out)
    for name in ("latitude", "longitude", "radius_km", "city", "country"):
        assert found[name] == [one.get(name) for one in expected]
    assert found["country"][:2] != [None, None]


def test_column_of_numbers_has_no_targets(tmp_path: Path) -> None:
    source = written(tmp_path / "numbers.parquet", host=[1, 2])
    done = invoked("--home", tmp_path, "locate", source, "-o", tmp_path / "out.parquet", "--offline")
    assert done.exit_code != 0
    assert not (tmp_path / "out.parquet").exists()


def test_column_without_output_is_refused(tmp_path: Path) -> None:
    done = invoked("--home", tmp_path, "locate", "a.example", "--offline", "--column", "host")
    assert done.exit_code == 2
    assert "go with -o" in done.output
