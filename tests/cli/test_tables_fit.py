"""Every command that prints a table, in a terminal of 80 columns: a line per row, and no broken word."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from typer import Exit

from ipmicra.cli import output
from ipmicra.cli.main import app
from ipmicra.cli.table_columns import TableColumn, fitting_columns
from tests.cli.prepared import Prepared, prepared
from tests.cli.terminal import Terminal
from tests.cli.test_installed_commands import CALLS, Call

COLUMNS = 80
MORE: dict[str, Call] = {
    "probe of a name that is long": lambda at: (
        f"--home {at.home} probe {at.host} --allow 10.0.0.0/8 --from all --first-rung head --samples 1"
    ),
    "partition by all methods": lambda at: f"partition --world {at.folder}/world --generate-links 1",
    "evaluate all policies": lambda at: f"--home {at.home} evaluate {at.folder}/world --seeds 1",
    "evaluate load": lambda at: f"--home {at.home} evaluate {at.folder}/world --load",
    "delegate nothing": lambda at: f"--home {at.home} delegate {at.folder}/seeds.txt --dry-run",
    "fetch everything": lambda _: "fetch --list",
    "locate tables": lambda at: f"--home {at.home} locate --offline --tables {at.host} par1.example.net",
    "locate names": lambda _: "locate --offline ae3.fra-core2.example.net cr1-sfo2.example.org",
}
"""Beside one call of each command, those with the widest tables."""
WITHOUT_TABLE = {"explain", "forget", "simulate variation"}
"""`explain` and `--claims` write prose, and `forget --dry-run --json` is called as JSON."""
Drawn = list[tuple[list[TableColumn], list[TableColumn]]]
"""Columns as printed, and as they are without a limit."""


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    with prepared(tmp_path_factory.mktemp("tables")) as made:
        yield made


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    """Note each table that is printed, beside printing it."""
    noted: Drawn = []

    def fitted(
        headings: Sequence[str], rows: Sequence[Sequence[Any]], width: int, spared: Sequence[str]
    ) -> list[TableColumn]:
        columns = fitting_columns(headings, rows, width, spared)
        noted.append((columns, fitting_columns(headings, rows, 10_000)))
        return columns

    monkeypatch.setattr(output, "fitting_columns", fitted)
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.setenv("TERM", "xterm")
    return noted


def shown_by(words: str) -> list[str]:
    """Run a command in this process, its output into a terminal; return the lines."""
    usual = sys.stdout
    with Terminal() as terminal:
        sys.stdout = os.fdopen(os.dup(terminal.end), "w", encoding="utf-8")
        try:
            app(words.split(), standalone_mode=False)
        except Exit:
            pass  # done in part: some targets have no answer
        finally:
            sys.stdout.close()
            sys.stdout = usual
    plain = re.sub(r"\x1b\[[0-9;]*m", "", terminal.shown)
    return [line.rstrip() for line in plain.splitlines()]


@pytest.mark.slow
def test_every_row_of_every_command_takes_one_line_of_eighty_columns(
    ready: Prepared, drawn: Drawn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("IPMICRA_AGENT_TOKEN", ready.internet.token)
    monkeypatch.chdir(tmp_path)
    for name, call in {**CALLS, **MORE}.items():
        drawn.clear()
        lines = shown_by(call(ready).removesuffix(" --json"))
        assert drawn or name in {*WITHOUT_TABLE, "delegate", "store prune"}, name
        for columns, whole in drawn:
            follows(name, lines, columns)
            keeps_its_words(name, columns, whole)


def follows(name: str, lines: list[str], columns: list[TableColumn]) -> None:
    """See that each row is on one line, its cells in order."""
    for row in zip(*(column.cells for column in columns), strict=True):
        pattern = r"\s+".join(re.escape(cell.strip()) for cell in row if cell.strip())
        found = [line for line in lines if re.search(pattern, line)]
        assert found, (name, row)
        assert all(cell_len(line) <= COLUMNS for line in found), (name, row)


def keeps_its_words(name: str, columns: list[TableColumn], whole: list[TableColumn]) -> None:
    """See that words are complete, or that a mark says they are not."""
    rest = list(whole)
    for column in columns:
        while rest[0].name != column.name:
            rest.pop(0)
        full = rest.pop(0)
        assert re.sub(r"\s", "", column.heading) == re.sub(r"\s", "", column.name), name
        for cell, complete in zip(column.cells, full.cells, strict=True):
            assert cell == complete or "…" in cell, (name, column.name, cell)
            assert cell == complete or not column.is_number, (name, column.name, cell)
