"""What ipmicra promises to its users is a list somebody decided."""

from __future__ import annotations

from pathlib import Path

import ipmicra

PROMISED = (Path(__file__).parents[1] / "data" / "public_api.txt").read_text(encoding="utf-8").split()


def test_public_names_are_the_promised_ones() -> None:
    assert sorted(ipmicra.__all__) == PROMISED


def test_every_public_name_is_there() -> None:
    missing = [name for name in ipmicra.__all__ if not hasattr(ipmicra, name)]
    assert missing == []
