"""Kernels compiled side by side."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from ipmicra.app.build import compiling
from ipmicra.app.build.compiling import AUCTION, HIERARCHY, PARAGRAPHS, STATISTICS
from ipmicra.parse.dialect import Dialect

GROUPS = (PARAGRAPHS, STATISTICS, HIERARCHY, AUCTION)


def test_every_dialect_has_its_kernels() -> None:
    assert {compiling.group_of(dialect) for dialect in Dialect} == {PARAGRAPHS, STATISTICS}


@pytest.mark.parametrize("group", GROUPS)
def test_group_that_was_used_is_in_the_cache(group: str) -> None:
    compiling.compile_group(group)
    assert compiling.is_compiled(group)


def test_nothing_is_said_or_started_where_all_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    for group in GROUPS:
        compiling.compile_group(group)
    monkeypatch.setattr("subprocess.Popen", None)
    said: list[str] = []
    compiling.compile_missing(GROUPS, said.append)
    assert said == []


def test_missing_groups_are_compiled_in_processes_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "is_compiled", lambda group: group not in {STATISTICS, AUCTION})
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    started: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, words: list[str], **options: Any) -> None:
            super().__init__(words, **options)
            started.append(self)

    monkeypatch.setattr("subprocess.Popen", Noted)
    said: list[str] = []
    compiling.compile_missing(GROUPS, said.append)
    assert [child.returncode for child in started] == [0, 0]
    assert len(said) == 1
    assert "once" in said[0]
