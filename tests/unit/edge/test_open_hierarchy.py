"""A hierarchy file that is replaced, truncated or overwritten while it is open."""

from __future__ import annotations

import json
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
    "lookup": "lookup('10.0.0.1')",
    "lookup_many": "lookup_many(['10.0.0.1'])",
    "lineage": "lineage('10.0.0.1')",
    "lineage_rows": "lineage_rows(1)",
    "subnet": "subnet(1)",
    "subnets": "subnets([0, 1])",
    "search": "search('old')",
    "verify": "verify()",
    "meta": "meta",
    "edition": "edition",
    "organisations": "organisations[1]",
    "parent_many": "parent_many(np.array([1]))",
    "children": "children(0)",
    "descendants": "descendants(0)",
    "siblings": "siblings(1)",
    "subnets_of": "subnets_of(1)",
    "organisation_many": "organisation_many(np.array([1]))",
    "registry_many": "registry_many(np.array([1]))",
    "bounds_array": "bounds_array(4)",
    "registered_range": "registered_range(1)",
    "renderer": "renderer",
    "row_texts": "row_texts",
}
UNCHECKED = {
    *("row_of", "parent", "bounds", "country"),
    *("organisation_number", "registry_number", "status_number"),
}
"""Questions that take less time than the check of a size."""
NO_QUESTIONS = {"open", "close", "content_hash"}
"""Neither reads what is mapped."""
TRUNCATED = """
import json, os, sys
import numpy as np
from ipmicra import CorruptHierarchyError, Hierarchy
hierarchy = Hierarchy.open(sys.argv[1])
os.truncate(sys.argv[1], 100)
for question in json.loads(sys.argv[2]):
    try:
        eval(f"hierarchy.{question}")
    except CorruptHierarchyError as error:
        print(error)
"""


def test_every_question_is_known_to_check_the_size_or_not_to(path: Path) -> None:
    with Hierarchy.open(path) as hierarchy:
        names = {name for name in dir(hierarchy) if not name.startswith("_")}
    assert names == QUESTIONS.keys() | UNCHECKED | NO_QUESTIONS


def test_file_truncated_between_questions_is_an_error_and_no_signal(path: Path) -> None:
    """In a process of its own: it would end with SIGBUS."""
    words = [sys.executable, "-c", TRUNCATED, str(path), json.dumps(list(QUESTIONS.values()))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done
    assert done.stdout.count("truncated while it was open") == len(QUESTIONS)


def test_file_overwritten_in_place_is_read_as_it_is_now(path: Path) -> None:
    with Hierarchy.open(path) as hierarchy:
        data = file_bytes(NEW)
        assert len(data) == path.stat().st_size
        with path.open("r+b") as file:
            file.write(data)
        assert hierarchy.lookup("10.0.0.1").netname in {"OLD", "NEW"}
