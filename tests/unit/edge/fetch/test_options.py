"""Patience and limits make sense."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ipmicra.edge.fetch.options import FetchOptions
from ipmicra.errors import InputError


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("timeout_s", 0),
        ("attempts", 0),
        ("max_bytes", -1),
        ("at_once", 0),
        ("backoff_s", -1),
        ("max_wait_s", -0.5),
    ],
)
def test_options_without_sense_are_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(InputError, match=name):
        replace(FetchOptions(), **{name: value})  # type: ignore[arg-type]  # names come from the table
