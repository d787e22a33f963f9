"""A hierarchy file that is replaced, truncated or overwritten while it is open."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ipmicra.edge.hierarchy_file import Hierarchy, write_atomically
from tests.patience import PATIENCE_S
from tests.reference.fast_building import file_bytes

OLD = b"inetnum: 10.0.0.0 - 10.0.0.255\nnetname: OLD\nsource: RIPE\n"
NEW = b"inetnum: 10.0.0.0 - 10.0.0.255\nnetname: NEW\nsource: RIPE\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "a.ipm").write_bytes(file_bytes(OLD))
    return tmp_path / "a.ipm"


def test_replaced_file_keeps_answering_and_the_new_one_is_seen_when_opened(path: Path) -> None:
    with Hierarchy.open(path) as old:
        write_atomically(path, [file_bytes(NEW)])
        assert old.lookup("10.0.0.1").netname == "OLD"
        old.verify()
        with Hierarchy.open(path) as new:
            assert new.lookup("10.0.0.1").netname == "NEW"
        path.unlink()
        assert old.lookup_many(np.array([10 << 24], np.uint32)).tolist() == [1]


QUESTIONS = {
    "lookup": "hierarchy.lookup('10.0.0.1')",
    "lookup_many": "hierarchy.lookup_many(['10.0.0.1'])",
    "lineage": "hierarchy.lineage('10.0.0.1')",
    "subnets": "hierarchy.subnets([0, 1])",
    "search": "hierarchy.search('old')",
    "verify": "hierarchy.verify()",
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_file_truncated_between_questions_is_an_error_and_no_signal(question: str, path: Path) -> None:
    """In a process of its own: it would end with SIGBUS."""
    code = f"""
import os, sys
from ipmicra import CorruptHierarchyError, Hierarchy
hierarchy = Hierarchy.open(sys.argv[1])
os.truncate(sys.argv[1], 100)
try:
    {question}
except CorruptHierarchyError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done
    assert "truncated while it was open" in done.stdout


def test_file_overwritten_in_place_is_read_as_it_is_now(path: Path) -> None:
    with Hierarchy.open(path) as hierarchy:
        data = file_bytes(NEW)
        assert len(data) == path.stat().st_size
        with path.open("r+b") as file:
            file.write(data)
        assert hierarchy.lookup("10.0.0.1").netname in {"OLD", "NEW"}
