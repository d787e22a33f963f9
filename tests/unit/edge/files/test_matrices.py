"""Files of round trips: matrices that cannot be read."""

from __future__ import annotations

import gc
import gzip
import warnings
from pathlib import Path

import pytest

from ipmicra.edge.files.matrices import read_matrix
from ipmicra.errors import InputError


def test_broken_archive_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "broken.npz"
    path.write_bytes(b"PK\x03\x04 broken")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(InputError, match=r"cannot be read as \.npz"):
            read_matrix(path)
        gc.collect()
    assert [str(one.message) for one in caught if issubclass(one.category, ResourceWarning)] == []


def test_text_that_unpacks_to_more_than_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ipmicra.edge.files.lines.LONGEST_TEXT", 1_000)
    (tmp_path / "king.gz").write_bytes(gzip.compress(b"\n" * 1_001))
    with pytest.raises(InputError, match="more than 1,000 characters"):
        read_matrix(tmp_path / "king.gz")
