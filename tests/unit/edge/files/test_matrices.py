"""Files of round trips: matrices that cannot be read."""

from __future__ import annotations

import gc
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
