"""`ipmicra lookup` as a user meets it."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ipmicra import MissingHierarchyError
from ipmicra.edge.files.tables import LOOKED_AT
from tests.cli.command_line import ROOT, SAMPLE, built_file, invoked, ran, told
from tests.cli.terminal import Terminal
from tests.patience import PATIENCE_S


@pytest.fixture(scope="module")
def hierarchy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_file(tmp_path_factory.mktemp("lookup"))


def found(hierarchy: Path, *targets: str, stdin: str | None = None) -> list[dict[str, Any]]:
    """Look targets up and read the answer."""
    result = invoked("lookup", "--hierarchy", hierarchy, "--json", *targets, stdin=stdin)
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    rows: list[dict[str, Any]] = json.loads(result.stdout)
    return rows


def test_json_has_the_promised_keys(hierarchy: Path) -> None:
    (answer,) = found(hierarchy, "10.1.0.7")
    assert (answer["target"], answer["address"]) == ("10.1.0.7", "10.1.0.7")
    root, wide, narrow = answer["lineage"]
    assert root == {
        "first": "0.0.0.0",
        "last": "255.255.255.255",
        "prefix": "0.0.0.0/0",
        "netname": None,
        "organisation": None,
        "registry": None,
        "country": None,
        "status": None,
        "depth": 0,
        "date": None,
        "geoloc": None,
        "geofeed": None,
        "postal_address": None,
    }
    assert {
        key: wide[key] for key in ("prefix", "netname", "registry", "country", "status", "depth", "date")
    } == {
        "prefix": "10.0.0.0/8",
        "netname": "EXAMPLE-NET",
        "registry": "ripe",
        "country": "GR",
        "status": "ALLOCATED PA",
        "depth": 1,
        "date": "2020-01-02",
    }
    assert wide["organisation"] == {"handle": "ORG-A1-RIPE", "name": "Alpha Carrier"}
    assert (narrow["first"], narrow["last"], narrow["prefix"]) == ("10.1.0.0", "10.1.2.255", None)
    assert narrow["organisation"] == {"handle": None, "name": "Someone else"}


@pytest.mark.parametrize(
    ("target", "address", "depth"),
    [
        ("10.1.0.7", "10.1.0.7", 2),
        ("10.1.0.0/24", "10.1.0.0 - 10.1.0.255", 2),
        ("10.1.0.9/24", "10.1.0.0 - 10.1.0.255", 2),
        ("10.1.0.0/16", "10.1.0.0 - 10.1.255.255", 1),
        ("10.1.2.0 - 10.1.3.0", "10.1.2.0 - 10.1.3.0", 1),
        ("10.0.0.0/7", "10.0.0.0 - 11.255.255.255", 0),
        ("2001:db8::1", "2001:db8::1", 1),
        ("[2001:db8::1]", "2001:db8::1", 1),
        ("2001:db8::/31", "2001:db8:: - 2001:db9:ffff:ffff:ffff:ffff:ffff:ffff", 0),
        ("::ffff:10.1.0.7", "10.1.0.7", 2),
        ("http://10.1.0.7:8080/path?query#part", "10.1.0.7", 2),
        ("https://[2001:db8::1]/", "2001:db8::1", 1),
        ("192.0.2.1", "192.0.2.1", 0),
    ],
)
def test_targets_have_many_forms(target: str, address: str, depth: int, hierarchy: Path) -> None:
    (answer,) = found(hierarchy, target)
    assert (answer["target"], answer["address"]) == (target, address)
    assert [each["depth"] for each in answer["lineage"]] == list(range(depth + 1))


@pytest.mark.parametrize("target", ["::ffff:10.1.0.0/120", "::ffff:10.1.0.0 - ::ffff:10.1.0.255"])
def test_mapped_prefixes_and_ranges_are_those_of_ipv4(target: str, hierarchy: Path) -> None:
    (answer,) = found(hierarchy, target)
    assert [each["netname"] for each in answer["lineage"]] == [None, "EXAMPLE-NET", "NO-PREFIX"]
    assert invoked("lookup", "--hierarchy", hierarchy, "--format", "csv", target).exit_code == 0


def test_standard_input_and_files_hold_targets(hierarchy: Path, tmp_path: Path) -> None:
    text = "10.1.0.7\n\n# a comment\n2001:db8::1 # another\r\n  10.0.0.0/8  \n"
    listed = ["10.1.0.7", "2001:db8::1", "10.0.0.0/8"]
    assert [each["target"] for each in found(hierarchy, "-", stdin=text)] == listed
    file = tmp_path / "targets.txt"
    file.write_text(text)
    answers = found(hierarchy, "192.0.2.1", str(file), "192.0.2.2")
    assert [each["target"] for each in answers] == ["192.0.2.1", *listed, "192.0.2.2"]


def test_empty_list_of_targets_is_a_mistake_that_is_said(hierarchy: Path) -> None:
    done = ran("lookup", "--hierarchy", hierarchy, "--json", "-", stdin=b"# nothing\n")
    assert (done.returncode, done.stdout) == (2, b"")
    assert "there are no seeds in standard input" in told(done)


def test_host_with_a_port_table_with_a_header_and_process_substitution_are_looked_up(
    hierarchy: Path, tmp_path: Path
) -> None:
    table = tmp_path / "sites.csv"
    table.write_bytes("\ufeffhost,pages\r\n10.1.0.7:8080,3\r\n".encode())
    assert [each["address"] for each in found(hierarchy, "10.1.0.7:443", str(table))] == ["10.1.0.7"] * 2
    command = f'"$0" -m ipmicra lookup --hierarchy "{hierarchy}" --json <(echo 10.1.0.7)'
    done = subprocess.run(["bash", "-c", command, sys.executable], capture_output=True, check=True, cwd=ROOT)
    assert [each["target"] for each in json.loads(done.stdout)] == ["10.1.0.7"]


def test_mistyped_file_is_said_to_be_missing(hierarchy: Path) -> None:
    done = ran("lookup", "--hierarchy", hierarchy, "10.1.0.7", "targets.txt")
    assert (done.returncode, told(done).strip()) == (2, "ipmicra: there is no file targets.txt")


def test_password_in_a_url_is_not_echoed(hierarchy: Path) -> None:
    words = ["http://me:secret@10.1.0.7/", "http://me:secret@10.0.0.256/"]
    done = ran("lookup", "--hierarchy", hierarchy, "--json", *words)
    assert done.returncode == 3
    assert "secret" not in f"{done.stdout!r}{done.stderr!r}"
    assert [each["target"] for each in json.loads(done.stdout)] == ["http://10.1.0.7/"]


@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
def test_input_that_is_no_text_is_told_and_the_rest_answered(locale: str, hierarchy: Path) -> None:
    done = ran(
        "lookup",
        "--hierarchy",
        hierarchy,
        "-",
        stdin=b"\xff\xfe\0\n10.1.0.7\n",
        LC_ALL=locale,
        PYTHONUTF8="0",
    )
    assert "no address" in told(done)
    assert done.returncode == 3
    assert [each["target"] for each in json.loads(done.stdout)] == ["10.1.0.7"]


@pytest.mark.parametrize("word", ["10.0.0.256", "10.0.0.0/33", "10.9.0.0-10.0.0.0", "a b", "x" * 300, "-1.2"])
def test_what_is_no_target_is_told(word: str, hierarchy: Path) -> None:
    result = invoked("lookup", "--hierarchy", hierarchy, "--json", "--", word)
    assert (result.exit_code, json.loads(result.stdout)) == (1, [])
    assert result.stderr == f"{word}: no address, prefix, range, host name or file\n"


def test_some_answers_are_done_in_part(hierarchy: Path) -> None:
    result = invoked("lookup", "--hierarchy", hierarchy, "--json", "10.0.0.256", "10.1.0.7")
    assert result.exit_code == 3
    assert [each["target"] for each in json.loads(result.stdout)] == ["10.1.0.7"]
    assert "10.0.0.256" in result.stderr


def test_unknown_host_name_is_told(hierarchy: Path) -> None:
    """Such a name never exists (RFC 2606); where no name server answers, the wait is bounded."""
    done = ran("lookup", "--hierarchy", hierarchy, "--json", "host.invalid", "10.1.0.7")
    assert told(done).startswith("host.invalid: ")
    assert done.returncode == 3
    assert [each["target"] for each in json.loads(done.stdout)] == ["10.1.0.7"]


def test_without_a_hierarchy_the_way_to_one_is_told(tmp_path: Path) -> None:
    done = ran("--home", tmp_path, "lookup", "10.1.0.7")
    assert (done.returncode, done.stdout) == (1, b"")
    assert f"ipmicra build DUMP… -o {tmp_path / 'hierarchy.ipm'}" in told(done)
    result = invoked("lookup", "--hierarchy", tmp_path, "10.1.0.7")
    assert isinstance(result.exception, MissingHierarchyError)


@pytest.mark.parametrize("content", [b"", b"hello", b"IPMICRA\0" + bytes(200)])
def test_foreign_file_is_no_hierarchy(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.ipm"
    path.write_bytes(content)
    done = ran("lookup", "--hierarchy", path, "10.1.0.7")
    assert (done.returncode, done.stdout) == (1, b"")
    assert str(path) in told(done)
    assert len(told(done).splitlines()) == 1


def test_targets_have_to_be_named() -> None:
    assert invoked("lookup").exit_code == 2


def test_csv_has_one_line_for_each_target(hierarchy: Path) -> None:
    result = invoked("lookup", "--hierarchy", hierarchy, "--format", "csv", "10.1.0.7", "2001:db8::1")
    rows = list(csv.DictReader(result.stdout.splitlines()))
    assert [row["netname"] for row in rows] == ["NO-PREFIX", "SIX"]
    assert rows[0]["organisation_name"] == "Someone else"


def test_json_lines_are_one_object_a_line(hierarchy: Path) -> None:
    result = invoked("lookup", "--hierarchy", hierarchy, "--format", "jsonl", "10.1.0.7", "2001:db8::1")
    assert [json.loads(line)["target"] for line in result.stdout.splitlines()] == ["10.1.0.7", "2001:db8::1"]


def test_table_is_indented_and_plain_in_a_pipe(hierarchy: Path) -> None:
    done = ran("lookup", "--hierarchy", hierarchy, "--format", "table", "10.1.0.7", FORCE_COLOR="")
    text = done.stdout.decode()
    assert "\n  10.0.0.0/8" in text
    assert "\n    10.1.0.0 - 10.1.2.255" in text
    assert "Alpha Carrier" in text
    assert "\x1b" not in text


ODD = "[red]B[/red] \x1b[31mC\x07\u202e\x9b2J"


def test_text_of_a_dump_is_shown_as_it_is_and_never_reaches_the_terminal_as_a_command(tmp_path: Path) -> None:
    path = built_file(tmp_path, f"inetnum: 10.0.0.0/8\nnetname: {ODD}\ndescr: {ODD}\ncountry: GR\n")
    for command, query in (("lookup", "10.0.0.1"), ("org", "[red]")):
        text = ran(command, query, "--hierarchy", path, "--format", "table").stdout.decode()
        assert "[red]B[/red]" in text
        assert all(letter.isprintable() or letter == "\n" for letter in text)


def test_terminal_gets_a_table(hierarchy: Path) -> None:
    command = [sys.executable, "-m", "ipmicra", "lookup", "--hierarchy", str(hierarchy), "10.1.0.7"]
    with Terminal() as terminal:
        environment = {**os.environ, "COLUMNS": "150", "TERM": "xterm"}
        subprocess.run(
            command, cwd=ROOT, env=environment, stdout=terminal.end, check=True, timeout=PATIENCE_S
        )
    shown = terminal.shown
    assert "EXAMPLE-NET" in shown
    assert "{" not in shown


@pytest.mark.parametrize("how", ["table", "json", "jsonl", "csv"])
def test_reader_that_goes_away_is_no_reason_to_complain(how: str, hierarchy: Path) -> None:
    script = f'"$0" -m ipmicra lookup --hierarchy "$1" --format {how} - | head -n 1'
    targets = "".join(f"10.{i >> 8}.{i & 255}.1\n" for i in range(3000)).encode()
    done = subprocess.run(
        ["/bin/sh", "-c", script, sys.executable, str(hierarchy)],
        cwd=ROOT,
        input=targets,
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.stderr == b""
    assert len(done.stdout.splitlines()) == 1


CHILD = """
import sys
from ipmicra.cli.main import app
try:
    app()
except SystemExit:
    print([name for name in ("numpy", "pandas", "requests") if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("command", "loaded"),
    [(["lookup", "10.1.0.7", "2001:db8::1"], []), (["info"], []), (["info", "--verify"], [])],
)
def test_a_look_loads_no_heavy_library(command: list[str], loaded: list[str], hierarchy: Path) -> None:
    words = [command[0], "--hierarchy", str(hierarchy), *command[1:], "--json"]
    done = subprocess.run([sys.executable, "-c", CHILD, *words], cwd=ROOT, capture_output=True, check=True)
    assert done.stderr.decode().strip() == str(loaded)
    assert json.loads(done.stdout)


def test_library_looks_up_one_address_without_numpy(hierarchy: Path) -> None:
    child = (
        "import sys, ipmicra; h = ipmicra.Hierarchy.open(sys.argv[1]); h.lookup('10.1.0.7'); h.row_of('::1');"
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", child, hierarchy], cwd=ROOT, capture_output=True, check=True)
    assert done.stdout.split() == [b"False"]


def test_samples_answer(tmp_path: Path) -> None:
    output = tmp_path / "sample.ipm"
    assert invoked("build", *sorted(SAMPLE.iterdir()), "-o", output).exit_code == 0
    (answer,) = found(output, "62.240.18.73")
    assert len(answer["lineage"]) > 3
    assert answer["lineage"][-1]["registry"] == "ripe"


def test_range_that_a_cut_registration_holds_is_found_in_it(tmp_path: Path) -> None:
    """WIDE cuts NARROW at 20; a target on both sides of the cut still lies in what was registered."""
    text = "inetnum: 0.0.0.0 - 0.0.0.19\nnetname: WIDE\n\ninetnum: 0.0.0.15 - 0.0.0.24\nnetname: NARROW\n"
    (answer,) = found(built_file(tmp_path, text), "0.0.0.16 - 0.0.0.22")
    assert [each["netname"] for each in answer["lineage"]] == [None, "NARROW"]


@pytest.mark.parametrize("print_format", ["jsonl", "csv"])
def test_first_answer_is_printed_before_the_last_target_is_read(print_format: str, hierarchy: Path) -> None:
    """Whoever reads the pipe gets answers while targets are still being written into it."""
    command = [sys.executable, "-m", "ipmicra", "lookup", "--hierarchy", str(hierarchy), "-"]
    with subprocess.Popen(
        [*command, "--format", print_format], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(b"10.1.0.7\n" * 5000)
        running.stdin.flush()
        assert running.stdout.readline()  # the standard input is still open
        running.stdin.close()
        lines = running.stdout.read().splitlines()
    assert len(lines) == (4999 if print_format == "jsonl" else 5000)


@pytest.mark.parametrize("print_format", ["jsonl", "csv"])
def test_a_slow_pipe_gets_an_answer_per_line(print_format: str, hierarchy: Path) -> None:
    """Behind the first lines, which tell what the list is, no answer waits for the next target."""
    command = [sys.executable, "-m", "ipmicra", "lookup", "--hierarchy", str(hierarchy), "-"]
    with subprocess.Popen(
        [*command, "--format", print_format], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(b"10.1.0.7\n" * LOOKED_AT)
        running.stdin.flush()
        for _ in range(LOOKED_AT + (print_format == "csv")):
            assert running.stdout.readline()
        for target in (b"10.2.0.1", b"2001:db8::7", b"10.1.0.0/28", b"10.3.0.1"):
            running.stdin.write(target + b"\n")
            running.stdin.flush()
            assert target in running.stdout.readline()


def test_parquet_of_runs_has_groups_of_the_same_size(hierarchy: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    code = "import ipmicra.cli.parquet as o; o.PARQUET_ROWS = 40; from ipmicra.cli.main import run; run()"
    words = ["lookup", "--hierarchy", str(hierarchy), "--format", "parquet", "-"]
    targets = ["10.1.0.7", "192.0.2.1"] * 50
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        input="\n".join(targets).encode(),
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    (tmp_path / "rows.parquet").write_bytes(done.stdout)
    file = parquet.ParquetFile(tmp_path / "rows.parquet")
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [40, 40, 20]
    assert file.read().column("target").to_pylist() == targets


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk to write to")
def test_a_full_disk_ends_a_long_look_up_with_a_message(hierarchy: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "ipmicra",
        "lookup",
        "--hierarchy",
        str(hierarchy),
        "--format",
        "csv",
        "-",
    ]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command, input=b"10.1.0.7\n" * 5000, stdout=full, stderr=subprocess.PIPE, cwd=ROOT, check=False
        )
    assert done.returncode != 0
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


def test_parquet_of_several_groups_of_rows_is_one_table(hierarchy: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    code = "import ipmicra.cli.parquet as o; o.PARQUET_ROWS = 3; from ipmicra.cli.main import run; run()"
    words = ["lookup", "--hierarchy", str(hierarchy), "--format", "parquet", *["10.1.0.7", "192.0.2.1"] * 4]
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, check=True)
    (tmp_path / "rows.parquet").write_bytes(done.stdout)
    table = parquet.read_table(tmp_path / "rows.parquet")
    assert table.column("netname").to_pylist() == ["NO-PREFIX", None] * 4
    assert parquet.ParquetFile(tmp_path / "rows.parquet").num_row_groups == 3


PRINTS = """
import ipmicra.cli.output as o
import ipmicra.cli.parquet
from ipmicra.cli.options import Format
ipmicra.cli.parquet.PARQUET_ROWS = 3
rows = [{"host": f"h{i}", "rtt_ms": i + 0.5 if i > 4 else None, "never": None} for i in range(8)]
"""
AT_ONCE = "o.print_records(rows, Format.PARQUET)"
ONE_BY_ONE = """
with o.RecordStream(["host", "rtt_ms", "never"], [0, 0, 0], Format.PARQUET) as stream:
    for row in rows:
        stream.add(row)
"""


@pytest.mark.parametrize(
    ("way", "last", "kind"),
    [(AT_ONCE, 7.5, "double"), (ONE_BY_ONE, "7.5", "string")],
    ids=["known", "stream"],
)
def test_parquet_column_that_starts_with_a_group_of_blanks_keeps_its_values(
    way: str, last: object, kind: str, tmp_path: Path
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    code = PRINTS + way
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    (tmp_path / "rows.parquet").write_bytes(done.stdout)
    table = parquet.read_table(tmp_path / "rows.parquet")
    assert table.column("rtt_ms").to_pylist()[-1] == last
    assert str(table.schema.field("rtt_ms").type) == kind
    assert table.num_rows == 8


def test_parquet_column_without_a_value_has_no_type(hierarchy: Path, tmp_path: Path) -> None:
    """A text type would keep it from being joined with the numbers of another run."""
    parquet = pytest.importorskip("pyarrow.parquet")
    done = ran("lookup", "--hierarchy", hierarchy, "--format", "parquet", "10.1.0.7")
    (tmp_path / "rows.parquet").write_bytes(done.stdout)
    assert str(parquet.read_table(tmp_path / "rows.parquet").schema.field("geofeed").type) == "null"
