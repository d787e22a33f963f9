"""Generated dumps are used again; half-made files are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.scratch import Scratch


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def scratch(tmp_path: Path, said: list[str]) -> Scratch:
    return Scratch(tmp_path / "scratch", said.append)


def test_a_dump_is_generated_once(scratch: Scratch, said: list[str]) -> None:
    first, again = scratch.dump("apnic", 50, 1), scratch.dump("apnic", 50, 1)
    assert first == again
    assert said == ["generating apnic-50-1.gz"]
    assert (first.objects, first.gz_bytes) == (50, first.path.stat().st_size)


def test_other_parameters_give_another_dump(scratch: Scratch) -> None:
    paths = {scratch.dump("apnic", objects, seed).path for objects in (50, 60) for seed in (1, 2)}
    assert len(paths) == 4


def test_a_file_whose_making_failed_is_made_again(scratch: Scratch) -> None:
    def fail(path: Path) -> None:
        path.write_text("half", encoding="utf-8")
        raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError, match="interrupted"):
        scratch.made("file", fail)
    made = scratch.made("file", lambda path: path.write_text("whole", encoding="utf-8"))
    assert made.read_text(encoding="utf-8") == "whole"


def test_tidying_leaves_the_dumps(scratch: Scratch) -> None:
    dump = scratch.dump("apnic", 50, 1)
    made = scratch.made("file", lambda path: path.touch())
    scratch.tidy()
    assert dump.path.exists()
    assert not made.exists()
