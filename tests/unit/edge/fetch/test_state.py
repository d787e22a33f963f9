"""What is remembered between runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.edge.fetch.state import (
    FileState,
    finished_state,
    forget_state,
    read_state,
    sidecar_of,
    write_state,
)

if TYPE_CHECKING:
    from pathlib import Path

URL = "https://example.org/dump.gz"
STATE = FileState(url=URL, etag='"v1"', last_modified="then", bytes_total=4, checksum="abc")


def test_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_state(tmp_path / "dump.gz", STATE)
    assert read_state(tmp_path / "dump.gz") == STATE
    assert [path.name for path in tmp_path.iterdir()] == [".dump.gz.json"]


def test_draft_that_is_a_link_is_replaced_and_its_target_left_alone(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / ".dump.gz.json.new").symlink_to(victim)
    write_state(tmp_path / "dump.gz", STATE)
    assert victim.read_text() == "precious"
    assert read_state(tmp_path / "dump.gz") == STATE
    assert not sidecar_of(tmp_path / "dump.gz").is_symlink()


def test_forgotten_state_is_gone(tmp_path: Path) -> None:
    write_state(tmp_path / "dump.gz", STATE)
    forget_state(tmp_path / "dump.gz")
    forget_state(tmp_path / "dump.gz")
    assert read_state(tmp_path / "dump.gz") is None


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"url": null}',
        b'{"etag": "x"}',
        b'{"url": "u", "etag": 7}',
        b'{"url": "u", "etag": "a\\r\\nEvil: yes"}',
        b'{"url": "u", "bytes_total": -1}',
        b'{"url": "u", "bytes_total": true}',
        b'{"url": "u", "bytes_total": "4"}',
        b'{"url": "u", "unheard_of": "x"}',
    ],
)
def test_damaged_state_counts_as_none(tmp_path: Path, damaged: bytes) -> None:
    sidecar_of(tmp_path / "dump.gz").write_bytes(damaged)
    assert read_state(tmp_path / "dump.gz") is None


@given(damaged=st.binary() | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(json.dumps))
def test_no_content_of_a_sidecar_raises(
    tmp_path_factory: pytest.TempPathFactory, damaged: bytes | str
) -> None:
    dump = tmp_path_factory.getbasetemp() / "dump.gz"
    sidecar_of(dump).write_bytes(damaged if isinstance(damaged, bytes) else damaged.encode())
    read_state(dump)


def test_finished_state_needs_the_file_in_its_recorded_size_and_from_the_same_place(tmp_path: Path) -> None:
    dump = tmp_path / "dump.gz"
    write_state(dump, STATE)
    assert finished_state(dump, URL) is None
    dump.write_bytes(b"1234")
    assert finished_state(dump, URL) == STATE
    assert finished_state(dump, "https://mirror.example/dump.gz") is None
    dump.write_bytes(b"12345")
    assert finished_state(dump, URL) is None


@pytest.mark.parametrize(
    ("etag", "last_modified", "expected"),
    [
        ('"v1"', "then", '"v1"'),
        ('W/"v1"', "then", "then"),
        ('W/"v1"', None, None),
        (None, "then", "then"),
        (None, None, None),
    ],
)
def test_weak_tags_do_not_prove_that_bytes_are_the_same(
    etag: str | None, last_modified: str | None, expected: str | None
) -> None:
    assert FileState(url=URL, etag=etag, last_modified=last_modified).strong_validator == expected


def test_conditions_name_every_validator_there_is() -> None:
    assert STATE.conditions() == {"If-None-Match": '"v1"', "If-Modified-Since": "then"}
    assert FileState(url=URL).conditions() == {}
