"""The reader of tables: every form, every encoding, and bad rows as findings with their line."""

from __future__ import annotations

import gzip
import io
import json
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from ipmicra.cli.options import Format
from ipmicra.cli.output import print_records
from ipmicra.edge.files.crawled import read_crawled
from ipmicra.edge.files.crawlers import import_crawlers, read_crawlers
from ipmicra.edge.files.lines import LONGEST_LINE, ignore
from ipmicra.edge.files.links import read_links
from ipmicra.edge.files.locations import read_places, read_samples
from ipmicra.edge.files.matrices import read_matrix
from ipmicra.edge.files.measurements.reading import read_measurements
from ipmicra.edge.files.pages import read_pages, read_urls
from ipmicra.edge.files.prefixes import read_prefixes
from ipmicra.edge.files.seeds import read_seeds
from ipmicra.edge.files.sites import read_assigned, read_sites
from ipmicra.edge.files.tables import open_table, read_records
from ipmicra.errors import InputError

ROWS = [{"host": "a.example", "pages": "3"}, {"host": "b.example", "pages": ""}]


def written(folder: Path, content: str | bytes, name: str = "table") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def records(path: Path, *needed: str, findings: list[str] | None = None, **more: Any) -> list[dict[str, str]]:
    note = (findings if findings is not None else []).append
    return [record for _, record in read_records(path, needed, note, **more)]


def parquet_of(rows: list[dict[str, str]]) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("host,pages\na.example,3\nb.example,\n", id="CSV"),
        pytest.param("\ufeffHost, Pages\r\na.example, 3\r\nb.example\r\n", id="a mark, blanks, a short row"),
        pytest.param("host;pages\ra.example;3\rb.example;\r", id="semicolons, line ends of old"),
        pytest.param("host\tpages\na.example\t3\nb.example\t\n".encode("utf-16"), id="tabs, UTF-16"),
        pytest.param("host|pages\na.example|3\nb.example|\n".encode("utf-16-be"), id="no mark"),
        pytest.param('# by hand\n\n"host","pages"\n"a.example","3"\n"b.example",""\n', id="quotes, comments"),
        pytest.param(json.dumps(ROWS), id="JSON"),
        pytest.param(json.dumps(ROWS, indent=2), id="JSON over several lines"),
        pytest.param("\n".join(map(json.dumps, ROWS)), id="JSON lines"),
        pytest.param(gzip.compress(json.dumps(ROWS).encode(), mtime=0), id="packed"),
        pytest.param(parquet_of(ROWS), id="Parquet, whatever the name"),
    ],
)
def test_forms_say_the_same(content: str | bytes, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if "no mark" in request.node.name:
        with pytest.raises(InputError, match="zero bytes"):
            records(written(tmp_path, content), "host")
        return
    assert records(written(tmp_path, content), "host") == ROWS


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(
    "form", [b"host,pages\na.example,3\nb.example,\n", parquet_of(ROWS)], ids=["CSV", "Parquet"]
)
def test_pipe_is_a_table_too(tmp_path: Path, form: bytes, pack: Callable[[bytes], bytes]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    thread = threading.Thread(target=lambda: pipe.write_bytes(pack(form)))
    thread.start()
    assert records(pipe, "host") == ROWS
    thread.join()


def test_quoted_cell_may_hold_separators_quotes_and_lines(tmp_path: Path) -> None:
    path = written(tmp_path, 'host,note\na.example,"one, ""two""\n\n# three"\nb.example,four\n')
    assert records(path, "host") == [
        {"host": "a.example", "note": 'one, "two"\n\n# three'},
        {"host": "b.example", "note": "four"},
    ]


def test_quote_that_is_never_closed_costs_one_row(tmp_path: Path) -> None:
    path = written(tmp_path, 'host,note\na.example,"open\nb.example,2\nc.example,3\n')
    assert [record["host"] for record in records(path, "host")] == ["a.example", "b.example", "c.example"]


def test_formula_of_a_spreadsheet_is_passed_on_untouched(tmp_path: Path) -> None:
    path = written(tmp_path, 'host,note\na.example,"=HYPERLINK(""http://x"")"\nb.example,-1+2\n')
    assert [record["note"] for record in records(path, "host")] == ['=HYPERLINK("http://x")', "-1+2"]


def test_bad_rows_are_findings_with_their_line(tmp_path: Path) -> None:
    findings: list[str] = []
    long_line = "x" * (LONGEST_LINE + 10)
    path = written(tmp_path, f"host,pages\na.example,1,2\n{long_line}\nb.example,2\n")
    assert [record["host"] for record in records(path, "host", findings=findings)] == [
        "a.example",
        "b.example",
    ]
    assert sorted(findings) == [
        f"{path}, line 2: more cells than the header",
        f"{path}, line 3: longer than {LONGEST_LINE:,} characters; skipped",
    ]


def test_broken_line_of_json_is_a_finding(tmp_path: Path) -> None:
    findings: list[str] = []
    path = written(tmp_path, '{"host": "a.example"}\n{"host": \n[1]\n{"host": "b.example", "late": 1}\n')
    assert records(path, "host", findings=findings)[-1] == {"host": "b.example", "late": "1"}
    assert findings == [f"{path}, line 2: no object", f"{path}, line 3: no object"]


def test_columns_have_an_order_where_the_file_names_none(tmp_path: Path) -> None:
    path = written(tmp_path, "a.example,3\n")
    assert records(path, "host", order=("host", "pages")) == [{"host": "a.example", "pages": "3"}]
    with pytest.raises(InputError, match="lacks the columns host"):
        records(path, "host")


def test_document_may_keep_its_list_under_a_key(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps({"version": 1, "crawlers": ROWS}))
    assert records(path, within=("crawlers",)) == ROWS


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\0\1\2\3", "zero bytes"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"PAR1 and no more", "cannot be read as Parquet"),
        (gzip.compress(b"host\n" * 900, mtime=0)[:30], "truncated or damaged"),
        (b"[1, 2", "is no JSON"),
        (b"{", "is no JSON"),
    ],
)
def test_file_that_is_no_table_is_refused(content: bytes, reason: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=reason):
        records(written(tmp_path, content))


def test_missing_file_and_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        records(tmp_path / "none.csv")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        records(tmp_path)


def test_error_of_the_user_of_rows_is_not_taken_for_one_of_the_file(tmp_path: Path) -> None:
    def fail() -> None:
        with open_table(written(tmp_path, "host,pages\na.example,3\n")) as table:
            next(table.rows)
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        fail()


# --- laws

READERS: dict[str, Callable[[Path], object]] = {
    "records": lambda path: list(read_records(path, ())),
    "crawled": read_crawled,
    "crawlers": lambda path: read_crawlers(path, ignore),
    "fleet": import_crawlers,
    "links": read_links,
    "places": lambda path: read_places(path, []),
    "samples": lambda path: read_samples(path, []),
    "measurements": read_measurements,
    "matrix": read_matrix,
    "pages": read_pages,
    "urls": lambda path: read_urls([path]),
    "prefixes": lambda path: read_prefixes(path, ignore),
    "seeds": lambda path: list(read_seeds([str(path)])),
    "sites": read_sites,
    "assigned": read_assigned,
}
HEADERS = (
    *("", "host,address,pages,crawler\n", "name,address,latitude,longitude,capacity\n"),
    *("source;target;links\n", "crawler\taddress\trtt_ms\n", '[{"host": "a"}, ', '{"name": "a"}\n', "\ufeff"),
)
CONTENTS = st.one_of(
    st.binary(max_size=200),
    st.builds(
        lambda head, rest: (head + rest).encode("utf-8", "replace"),
        st.sampled_from(HEADERS),
        st.text(alphabet=st.sampled_from('a1.,;:|\t\n\r"#-{}[]e/@\0é '), max_size=120),
    ),
)


@pytest.mark.parametrize("reader", READERS)
@given(content=CONTENTS)
def test_any_bytes_are_read_or_refused(
    reader: str, content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / f"any_bytes_{reader}"
    path.write_bytes(content)
    with suppress(InputError):
        READERS[reader](path)


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=12).map(
    str.strip
)
PRINTED = st.lists(
    st.fixed_dictionaries(
        {"host": st.from_regex(r"[a-z]{1,5}\.example", fullmatch=True), "b": CELLS, "c": CELLS}
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize("form", [Format.CSV, Format.JSON, Format.JSONL])
@given(rows=PRINTED)
def test_own_output_is_read_back(
    form: Format, rows: list[dict[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", text)
        print_records(rows, form)
    path = tmp_path_factory.getbasetemp() / f"own_output_{form.value}"
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    assert records(path, "host") == rows
