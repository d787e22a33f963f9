"""What ipmicra promises to its users is a list somebody decided."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import ipmicra

PROMISED = (Path(__file__).parents[1] / "data" / "public_api.txt").read_text(encoding="utf-8").split()


def test_public_names_are_the_promised_ones() -> None:
    assert sorted(ipmicra.__all__) == PROMISED


def test_every_public_name_is_there() -> None:
    missing = [name for name in ipmicra.__all__ if not hasattr(ipmicra, name)]
    assert missing == []


def test_importing_the_package_loads_neither_its_parts_nor_numpy() -> None:
    code = "import sys, ipmicra; print([m for m in sys.modules if m.startswith(('ipmicra.', 'numpy'))])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        ipmicra.no_such_name  # type: ignore[attr-defined] # noqa: B018
