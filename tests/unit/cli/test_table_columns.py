"""Tables that must fit a terminal lose what can be spared, and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ipmicra.cli.delegate import COLUMNS as OF_DELEGATE
from ipmicra.cli.delegate import SPARED, WIDTHS
from ipmicra.cli.demo import COLUMNS as OF_DEMO
from ipmicra.cli.table_columns import BETWEEN, TableColumn, fitting_columns, shortened, streamed_columns

HEADINGS = ("target", "rtt_ms", "tls_ms", "first_byte_ms", "detail")
ROWS = [("a.example", 105.37, None, 105.37, "status 200"), ("b.example", 7.0, None, 8.5, "no answer")]


def width(columns: list[TableColumn]) -> int:
    return sum(column.width + BETWEEN for column in columns) - BETWEEN


def test_wide_terminal_shows_every_column_under_its_whole_heading() -> None:
    assert tuple(column.heading for column in fitting_columns(HEADINGS, ROWS, 80)) == HEADINGS


def test_narrow_terminal_spares_empty_columns_and_wide_headings() -> None:
    shown = fitting_columns(HEADINGS, ROWS, 45)
    assert [column.heading for column in shown] == ["target", "rtt_ms", "first_\nbyte_\nms", "detail"]
    assert width(shown) <= 45


def test_texts_are_shortened_but_no_numbers() -> None:
    rows = [("2001:db8::1", 1234.5, "Example University of Somewhere", "x" * 40)]
    shown = fitting_columns(("address", "rtt_ms", "organisation", "long"), rows, 70)
    assert [column.cells[0] for column in shown] == [
        "2001:db8::1",
        "1234.5",
        "Example University of…",
        "xxxxxxxxxxx…xxxxxxxxxxxx",
    ]


def test_columns_that_can_be_spared_go_first_then_the_last_ones() -> None:
    headings, rows = ("host", "crawler", "a_ms", "b_ms", "loss"), [("h" * 12, "c" * 8, 1.5, 2.5, "timeout")]
    assert [one.name for one in fitting_columns(headings, rows, 36, ["b_ms"])] == [
        "host",
        "crawler",
        "a_ms",
        "loss",
    ]
    assert [one.name for one in fitting_columns(headings, rows, 24, ["b_ms"])] == ["host", "crawler"]


CELLS = st.one_of(st.none(), st.integers(), st.floats(0, 1e6).map(lambda x: f"{x:.1f}"), st.text(max_size=40))


@given(rows=st.lists(st.lists(CELLS, min_size=5, max_size=5), max_size=5), columns=st.integers(70, 120))
def test_any_table_of_texts_and_numbers_fits_and_numbers_stay_whole(
    rows: list[list[object]], columns: int
) -> None:
    shown = fitting_columns(HEADINGS, rows, columns)
    assert width(shown) <= columns
    whole = fitting_columns(HEADINGS, rows, 10_000)
    for column in shown:
        (same,) = [one for one in whole if one.name == column.name]
        assert column.is_number == same.is_number
        assert not column.is_number or column.cells == same.cells
        assert all("…" in cell or cell == full for cell, full in zip(column.cells, same.cells, strict=True))


def test_table_without_rows_keeps_its_headings() -> None:
    assert [column.heading for column in fitting_columns(("name", "agent_url"), [], 5)] == [
        "name",
        "agent_\nurl",
    ]


def test_table_of_the_demo_fits_eighty_columns() -> None:
    row = ("predict + fair load", "100.0 %", "12.00", "171", "1.0", "1,709,136", "1.25")
    assert width(fitting_columns(OF_DEMO, [row], 400)) <= 80


@given(width=st.integers(80, 300))
def test_rows_of_delegate_fit_on_one_line_from_eighty_columns_on(width: int) -> None:
    left = streamed_columns(dict(zip(OF_DELEGATE, WIDTHS, strict=True)), SPARED, width)
    assert sum(left.values()) + BETWEEN * (len(left) - 1) <= width
    assert {"host", "subnet", "crawler", "rtt_ms", "evidence"} <= left.keys()
    assert width < 115 or tuple(left) == OF_DELEGATE


@given(text=st.text(min_size=1), width=st.integers(3, 60))
def test_shortened_texts_keep_both_ends(text: str, width: int) -> None:
    short = shortened(text, width)
    assert len(short) <= width
    if short != text:
        head, tail = short.split("…", 1) if "…" not in text else (short[:1], short[-1:])
        assert text.startswith(head)
        assert text.endswith(tail)
