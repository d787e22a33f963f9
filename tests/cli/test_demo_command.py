"""`ipmicra demo` as a newcomer meets it."""

from __future__ import annotations

from pathlib import Path

from ipmicra import Hierarchy
from ipmicra.app.demo import DEMO_ADDRESSES
from tests.cli.command_line import DUMP, dump_file, invoked, ran, told


def test_demo_builds_the_samples_and_looks_addresses_up() -> None:
    done = ran("demo")
    text = done.stdout.decode()
    assert done.returncode == 0
    assert "building a hierarchy from" in told(done)
    for address in DEMO_ADDRESSES:
        assert f"$ ipmicra lookup {address}" in text
    assert "\x1b" not in text


def test_demo_addresses_lie_deep_in_the_samples(tmp_path: Path) -> None:
    output = tmp_path / "kept.ipm"
    result = invoked("demo", "--keep", output)
    assert result.exit_code == 0
    assert f"ipmicra lookup --hierarchy {output}" in result.stderr
    hierarchy = Hierarchy.open(output)
    assert DEMO_ADDRESSES
    assert all(hierarchy.lookup(address).depth >= 3 for address in DEMO_ADDRESSES)


def test_demo_of_a_folder_of_ones_own(tmp_path: Path) -> None:
    folder = tmp_path / "dumps"
    folder.mkdir()
    dump_file(folder, DUMP)
    assert "3 subnets of 2 organisations" in invoked("demo", "--dumps", folder).stdout


def test_folder_without_dumps_is_told(tmp_path: Path) -> None:
    done = ran("demo", "--dumps", tmp_path)
    assert done.returncode == 2
    assert str(tmp_path) in told(done)
    assert invoked("demo", "--dumps", tmp_path / "none").exit_code == 2
