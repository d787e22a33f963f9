"""Untrusted text: printed, it cannot control a terminal, and what our CSV escapes is read back exactly."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ipmicra
from ipmicra.edge.files.tables import open_table
from ipmicra.model.foreign_text import csv_line, csv_text, from_csv_cell, json_text, printable

ODD = "'=+-@#\\ \t\r\n\0\x07\x1b\x7f\x9b\u202e\u2028\ufeff,;|\"x20u=1.é\U000e0001"
"""Characters that mean something to somebody."""
texts = st.text(st.one_of(st.sampled_from(ODD), st.characters(exclude_categories=["Cs"])), max_size=12)
values = st.one_of(texts, st.integers(), st.floats(allow_nan=False), st.none())
"""Of cells; half of a surrogate pair cannot be written to any file, and has its own test."""
tables = st.integers(2, 5).flatmap(
    lambda width: st.lists(st.lists(values, min_size=width, max_size=width), min_size=1, max_size=8)
)


def read_back(path: Path, text: str) -> list[list[str]]:
    path.write_bytes(text.encode())
    with open_table(path) as table:
        return [cells for _, cells in table.rows]


@given(rows=tables)
def test_own_reader_reads_back_every_value(
    rows: list[list[object]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    columns = [f"column {i}" for i in range(len(rows[0]))]
    path = tmp_path_factory.getbasetemp() / "table.csv"
    found = read_back(path, csv_text(columns, rows))
    assert found == [columns, *([("" if cell is None else str(cell)) for cell in row] for row in rows)]


@given(rows=tables)
def test_csv_has_neither_control_characters_nor_formulas(rows: list[list[object]]) -> None:
    text = csv_text([], rows)
    assert all(line.isprintable() for line in text.split("\n"))
    assert text.count("\n") == len(rows) + 1
    for line, row in zip(csv.reader(io.StringIO(text)), [[], *rows], strict=True):
        for cell, value in zip(line, row, strict=True):
            if isinstance(value, str) and cell[:1] in set("=+-@"):
                float(cell.split(",")[0].split()[0].strip("-+.") or 0)


@given(cell=texts)
def test_cells_that_we_did_not_escape_are_left_alone_or_have_one_meaning(cell: str) -> None:
    text = from_csv_cell(cell)
    assert text == cell or next(csv.reader([csv_line([text])]))[0] == cell


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("plain", "plain"),
        ("Größe", "Größe"),
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+cmd|' /C calc'!A0", "\"'+cmd|' /C calc'!A0\""),
        ("-2+3", "'-2+3"),
        ("-", "-"),
        ("-33.9 18.4", "-33.9 18.4"),
        (-1.5, "-1.5"),
        ("-1.5", "-1.5"),
        ("\x1b[31mred", r"'\x1b[31mred"),
        ("a\nforged,row", '"\'a\\x0aforged,row"'),
        ("a\u009b2J", r"'a\x9b2J"),
        ("evil\u202egpj", r"'evil\u202egpj"),
        ("a\ud800b", r"'a\ud800b"),
        (r"C:\new", r"C:\new"),
        ("'tis", "''tis"),
        ({"a": ["=1\x1b"]}, '"{""a"": [""=1\\u001b""]}"'),
    ],
)
def test_cell_is_escaped_only_where_it_must_be(value: object, cell: str) -> None:
    assert csv_line([value]) == cell + "\n"


@pytest.mark.parametrize(
    "cell", ["'tis", "'", "'n Beetje", r"'\x41", r"'\q", "'plain", r"C:\new", r"'\x0A", r"'\Uffffffff"]
)
def test_apostrophes_and_backslashes_of_other_programs_mean_themselves(cell: str, tmp_path: Path) -> None:
    assert read_back(tmp_path / "foreign.csv", f"a,b,c\n{cell},2,3\n")[1] == [cell, "2", "3"]


@given(value=st.dictionaries(texts, st.lists(texts)), indent=st.sampled_from([None, 2]))
def test_json_is_printable_and_means_the_same(value: dict[str, list[str]], indent: int | None) -> None:
    text = json_text(value, indent)
    assert all(line.isprintable() for line in text.split("\n"))
    assert json.loads(text) == value


def test_json_of_half_a_surrogate_pair_can_be_printed() -> None:
    assert json_text("a\ud800b").encode() == b'"a\\ud800b"'


@given(text=texts)
def test_printable_text_has_the_same_length(text: str) -> None:
    assert printable(text).isprintable()
    assert len(printable(text)) == len(text)


def test_everything_that_prints_uses_these_functions() -> None:
    rooms = [Path(ipmicra.__file__).parent / room for room in ("cli", "app", "lab")]
    written = [
        path for room in rooms for path in sorted(room.rglob("*.py")) if _writes_by_itself(path.read_text())
    ]
    assert written == []


def _writes_by_itself(code: str) -> bool:
    return any(call in code for call in ("csv.writer", "csv.DictWriter", "ensure_ascii=False"))
