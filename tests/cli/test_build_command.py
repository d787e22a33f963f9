"""`ipmicra build` as a user meets it."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ipmicra import DumpError, Hierarchy, TruncatedDumpError, UnknownDialectError
from tests.cli.command_line import DUMP, ROOT, SAMPLE, dump_file, invoked, ran, told
from tests.patience import PATIENCE_S

TALLY = {"kept": 4, "repaired": 0, "skipped": 1, "unknown": 1}


def test_json_has_the_promised_keys(tmp_path: Path) -> None:
    output = tmp_path / "a.ipm"
    result = invoked("build", dump_file(tmp_path), "-o", output, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    report = json.loads(result.stdout)
    assert {key: report[key] for key in TALLY} == TALLY
    assert report["dialects"] == {"rpsl": TALLY}
    (file,) = report["files"]
    assert {key: file[key] for key in TALLY} == TALLY
    assert (file["file"], file["dialect"], file["date"]) == ("a.db", "rpsl", "2020-01-02")
    assert (report["subnets"], report["organisations"], report["max_depth"]) == (3, 2, 2)
    assert (report["overlaps"], report["duplicates"]) == (0, 0)
    assert report["findings"] == {"other_class": 1, "unknown_class": 1}
    assert report["edition"]["content_hash"] == Hierarchy.open(output).content_hash
    assert report["edition"]["dumps"][0]["name"] == "a.db"
    assert (report["output"], report["size_bytes"]) == (str(output), output.stat().st_size)


def test_a_pipe_gets_json_and_a_table_can_be_asked_for(tmp_path: Path) -> None:
    dump = dump_file(tmp_path)
    piped = ran("build", dump, "-o", tmp_path / "a.ipm")
    assert (piped.returncode, json.loads(piped.stdout)["subnets"]) == (0, 3)
    table = ran("build", dump, "-o", tmp_path / "b.ipm", "--format", "table").stdout.decode()
    assert "3 subnets of 2 organisations, 2 deep; 0 duplicates, 0 overlaps" in table
    assert "a.db" in table
    assert "\x1b" not in table


def test_home_folder_is_the_default_place(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    assert invoked("--home", home, "build", dump_file(tmp_path)).exit_code == 0
    assert ran("info", "--json", IPMICRA_HOME=str(home)).returncode == 0
    assert [path.name for path in home.iterdir()] == ["hierarchy.ipm"]


def packed(data: bytes, how: str) -> bytes:
    if how == "gzip":
        return gzip.compress(data)
    if how == "two gzips":
        half = data.index(b"\n\n") + 2
        return gzip.compress(data[:half]) + gzip.compress(data[half:])
    if how == "zip":
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("folder/", b"")
            archive.writestr("folder/arin_db.txt", data)
        return file.getvalue()
    return {"byte order mark": b"\xef\xbb\xbf" + data, "crlf": data.replace(b"\n", b"\r\n")}.get(how, data)


@pytest.mark.parametrize("how", ["plain", "gzip", "two gzips", "zip", "byte order mark", "crlf"])
def test_content_and_not_the_name_says_how_a_dump_is_packed(how: str, tmp_path: Path) -> None:
    dump = dump_file(tmp_path, packed(DUMP.encode(), how), "strange.name")
    report = json.loads(invoked("build", dump, "-o", tmp_path / "a.ipm", "--json").stdout)
    assert {key: report[key] for key in TALLY} == TALLY


def test_names_order_and_repetition_of_dumps_do_not_change_the_content(tmp_path: Path) -> None:
    first, second = DUMP.split("\n\n", 1)
    parts = [dump_file(tmp_path, first + "\n", "a.db"), dump_file(tmp_path, second, "b.db")]
    renamed = [dump_file(tmp_path, first + "\n", "y.db"), dump_file(tmp_path, second, "x.db")]
    hashes = set()
    for dumps in (parts, parts[::-1], [*parts, *parts], renamed):
        invoked("build", *dumps, "-o", tmp_path / "a.ipm")
        hashes.add(Hierarchy.open(tmp_path / "a.ipm").content_hash)
    assert len(hashes) == 1


def test_same_dumps_give_the_same_bytes_however_many_are_read_at_once(tmp_path: Path) -> None:
    samples = sorted(SAMPLE.iterdir())
    for jobs in ("1", "4"):
        assert invoked("build", *samples, "-o", tmp_path / f"{jobs}.ipm", "-j", jobs).exit_code == 0
    assert (tmp_path / "1.ipm").read_bytes() == (tmp_path / "4.ipm").read_bytes()


def test_findings_are_written_one_a_line(tmp_path: Path) -> None:
    text = DUMP + "\ninetnum: 10.0.0.0/8\n\ninetnum: 10.1.2.0 - 10.1.3.255\n"
    findings = tmp_path / "findings.jsonl"
    result = invoked("build", dump_file(tmp_path, text), "-o", tmp_path / "a.ipm", "--findings", findings)
    assert result.exit_code == 0
    told_of = [json.loads(line) for line in findings.read_text().splitlines()]
    assert [(each["line"], each["fate"], each["reason"]) for each in told_of] == [
        (22, "skipped", "other_class"),
        (24, "unknown", "unknown_class"),
        (26, "kept", "duplicate"),
        (28, "kept", "overlap"),
    ]
    assert {each["dump"] for each in told_of} == {"a.db"}
    assert told_of[2]["detail"] == "a.db:1"
    assert told_of[3]["detail"] == "a.db:9"
    assert told_of[1]["detail"] == "strange: thing"
    assert json.loads(result.stdout)["findings"] == {
        "other_class": 1,
        "unknown_class": 1,
        "duplicate": 1,
        "overlap": 1,
    }


def test_names_that_are_no_text_do_not_stop_a_build(tmp_path: Path) -> None:
    """File names may be any bytes; those that are no UTF-8 are shown with a replacement."""
    dump = dump_file(tmp_path, DUMP, os.fsdecode(b"\xff.db"))
    findings = tmp_path / "findings.jsonl"
    for how in ("json", "table", "csv"):
        done = ran(
            "build", dump, "-o", tmp_path / "a.ipm", "--findings", findings, "--format", how, PYTHONUTF8="1"
        )
        assert (done.returncode, told(done)) == (0, "")
    assert len(findings.read_text().splitlines()) == 2


class TestMistakes:
    """What cannot be built ends in one line, and the old hierarchy stays."""

    @pytest.fixture
    def output(self, tmp_path: Path) -> Path:
        path = tmp_path / "hierarchy.ipm"
        path.write_bytes(b"the old one")
        return path

    def failed(self, output: Path, *dumps: str | Path, code: int = 1) -> str:
        """Build, see it fail and the old file stay; give what was told."""
        before = sorted(output.parent.iterdir())
        done = ran("build", *dumps, "-o", output)
        said = told(done)
        assert (done.returncode, done.stdout) == (code, b"")
        assert len(said.strip().splitlines()) == 1
        assert output.read_bytes() == b"the old one"
        assert sorted(output.parent.iterdir()) == before
        return said

    def test_missing_dump_is_named(self, output: Path, tmp_path: Path) -> None:
        assert "none.gz: there is no such file" in self.failed(output, tmp_path / "none.gz")

    def test_folder_is_no_dump(self, output: Path, tmp_path: Path) -> None:
        assert "folder" in self.failed(output, tmp_path)

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b"", "empty"),
            (gzip.compress(b"", mtime=0), "empty"),
            (b"\x7fELF\0\1\2" * 100, "byte 4: a binary file"),
            (b"Hello,\nworld\n", "no registry dialect"),
            (bz2.compress(DUMP.encode()), "bzip2"),
            (gzip.compress(DUMP.encode(), mtime=0)[:-20], "cut or damaged"),
            (gzip.compress(DUMP.encode(), mtime=0)[:40] + bytes(40), "cut or damaged"),
            (packed(DUMP.encode(), "zip")[:-30], "cut or damaged"),
        ],
        ids=["empty", "empty gzip", "binary", "other text", "bzip2", "cut gzip", "damaged gzip", "cut zip"],
    )
    def test_what_is_no_dump_is_refused(
        self, content: bytes, reason: str, output: Path, tmp_path: Path
    ) -> None:
        dump = dump_file(tmp_path, content, "bad.gz")
        said = self.failed(output, dump)
        assert str(dump) in said
        assert reason in said

    def test_gzip_cut_far_behind_the_first_bytes_is_refused(self, output: Path, tmp_path: Path) -> None:
        body = "".join(
            f"inetnum: 10.{i >> 8}.{i & 255}.0/24\nnetname: N{i * 7919}\n\n" for i in range(20_000)
        )
        said = self.failed(output, dump_file(tmp_path, gzip.compress(body.encode())[:-9], "cut.gz"))
        assert "cut or damaged" in said

    @pytest.mark.parametrize("kind", ["encrypted", "packed in another way"])
    def test_zip_that_cannot_be_unpacked_is_refused(self, kind: str, output: Path, tmp_path: Path) -> None:
        content = bytearray(packed(DUMP.encode(), "zip"))
        for mark, flags, method in ((b"PK\3\4", 6, 8), (b"PK\1\2", 8, 10)):
            at = content.rindex(mark)
            if kind == "encrypted":
                content[at + flags] |= 1
            else:
                content[at + method] = 9
        assert "bad.zip" in self.failed(output, dump_file(tmp_path, bytes(content), "bad.zip"))

    def test_archive_of_several_files_names_them(self, output: Path, tmp_path: Path) -> None:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("one.txt", DUMP)
            archive.writestr("two.txt", DUMP)
        said = self.failed(output, dump_file(tmp_path, file.getvalue(), "two.zip"))
        assert "one.txt, two.txt" in said

    def test_pipe_is_told_to_be_no_file(self, output: Path, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        assert "save it in a file" in self.failed(output, pipe)

    def test_one_bad_dump_stops_all_of_them(self, output: Path, tmp_path: Path) -> None:
        assert "bad.db" in self.failed(output, dump_file(tmp_path), dump_file(tmp_path, b"", "bad.db"))

    def test_output_that_cannot_be_written_is_named(self, output: Path, tmp_path: Path) -> None:
        folder = tmp_path / "folder"
        folder.mkdir()
        done = ran("build", dump_file(tmp_path), "-o", folder)
        assert done.returncode == 1
        assert "folder" in told(done)
        done = ran("build", dump_file(tmp_path), "-o", output / "below" / "a.ipm")
        assert done.returncode == 1
        assert len(told(done).splitlines()) == 1
        assert not list(tmp_path.glob("*.part")) + list(tmp_path.glob(".*.part"))

    def test_dumps_have_to_be_named(self, output: Path) -> None:
        done = ran("build", "-o", output)
        assert done.returncode == 2
        assert "DUMP" in told(done)

    @pytest.mark.parametrize("option", [("--jobs", "0"), ("--jobs", "x"), ("--format", "xml"), ("--bogus",)])
    def test_wrong_options_are_wrong_usage(
        self, option: tuple[str, ...], output: Path, tmp_path: Path
    ) -> None:
        result = invoked("build", dump_file(tmp_path), "-o", output, *option)
        assert result.exit_code == 2
        assert option[0] in result.stderr

    def test_formats_that_exclude_each_other_are_wrong_usage(self, output: Path, tmp_path: Path) -> None:
        assert invoked("build", dump_file(tmp_path), "-o", output, "--json", "--format", "csv").exit_code == 2
        assert output.read_bytes() == b"the old one"


def test_errors_name_dump_and_byte_in_the_library_too(tmp_path: Path) -> None:
    for content, kind in ((b"\0", UnknownDialectError), (gzip.compress(b"x" * 999)[:-5], TruncatedDumpError)):
        result = invoked("build", dump_file(tmp_path, content), "-o", tmp_path / "a.ipm")
        assert isinstance(result.exception, kind)
        assert isinstance(result.exception, DumpError)
        assert result.exception.dump == str(tmp_path / "a.db")


class TestKeepGoing:
    """Bad dumps are left out if that is wanted."""

    def test_rest_is_built_and_the_exit_code_says_so(self, tmp_path: Path) -> None:
        good, bad = dump_file(tmp_path), dump_file(tmp_path, gzip.compress(DUMP.encode())[:-20], "bad.gz")
        done = ran("build", good, bad, "-o", tmp_path / "a.ipm", "--keep-going")
        assert done.returncode == 3
        report = json.loads(done.stdout)
        assert [file["file"] for file in report["files"]] == ["a.db"]
        (failure,) = report["failures"]
        assert failure["file"] == str(bad)
        assert failure["byte"] >= 0
        assert told(done).startswith(f"left out: {bad}: byte")
        assert Hierarchy.open(tmp_path / "a.ipm").lookup("10.1.1.1").netname == "NO-PREFIX"

    def test_damage_far_into_a_dump_leaves_none_of_it(self, tmp_path: Path) -> None:
        """Several chunks are in the columns when the damage is found."""
        long = "x" * 200
        body = "".join(
            f"inetnum: 11.{i >> 8}.{i & 255}.0/24\ndescr: {long} {i * 7919}\n\n" for i in range(65_536)
        )
        good, more = dump_file(tmp_path), dump_file(tmp_path, DUMP.encode(), "c.db")
        bad = dump_file(tmp_path, gzip.compress(body.encode(), 1)[:-9], "bad.gz")
        for jobs in ("1", "3"):
            output, findings = tmp_path / f"{jobs}.ipm", tmp_path / f"{jobs}.jsonl"
            dumps = (good, bad, more)
            options = ("--keep-going", "-j", jobs, "--findings", findings)
            assert invoked("build", *dumps, "-o", output, *options).exit_code == 3
            assert Hierarchy.open(output).lookup("11.0.0.1").row == 0
        done = invoked("build", good, more, "-o", tmp_path / "0.ipm", "--findings", tmp_path / "0.jsonl")
        assert done.exit_code == 0
        assert {Hierarchy.open(tmp_path / f"{n}.ipm").content_hash for n in "013"} == {
            Hierarchy.open(tmp_path / "0.ipm").content_hash
        }
        assert {(tmp_path / f"{n}.jsonl").read_text() for n in "13"} == {(tmp_path / "0.jsonl").read_text()}

    def test_nothing_but_bad_dumps_is_failed(self, tmp_path: Path) -> None:
        done = ran("build", dump_file(tmp_path, b"", "bad.db"), "-o", tmp_path / "a.ipm", "--keep-going")
        assert done.returncode == 1
        assert "bad.db" in told(done)
        assert not (tmp_path / "a.ipm").exists()


CHILD = """
import os, signal, sys
from ipmicra.edge import hierarchy_file
from ipmicra.cli.main import app

def killed_at(event, arguments):
    if event == "os.rename":
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(killed_at)
app()
"""


def test_build_killed_before_its_last_step_leaves_the_old_hierarchy(tmp_path: Path) -> None:
    output = tmp_path / "hierarchy.ipm"
    output.write_bytes(b"the old one")
    command = [sys.executable, "-c", CHILD, "build", str(dump_file(tmp_path)), "-o", str(output)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == -signal.SIGKILL
    assert output.read_bytes() == b"the old one"
    assert invoked("build", tmp_path / "a.db", "-o", output).exit_code == 0
    Hierarchy.open(output).verify()


INTERRUPTED = """
import os, signal, sys
from ipmicra.cli.main import run

opened = []

def interrupted_at(event, arguments):
    if event == "open" and str(arguments[0]).endswith("large.gz"):
        opened.append(arguments)
        if len(opened) == 2:  # the first time only its kind is looked at
            os.kill(os.getpid(), signal.SIGINT)

sys.addaudithook(interrupted_at)
run()
"""


def test_interrupted_build_says_so_and_leaves_the_old_hierarchy(tmp_path: Path) -> None:
    output = tmp_path / "hierarchy.ipm"
    output.write_bytes(b"the old one")
    body = "".join(f"inetnum: 11.{i >> 8}.{i & 255}.0/24\nnetname: N{i}\n\n" for i in range(40_000)) * 4
    dump = dump_file(tmp_path, gzip.compress(body.encode(), 1), "large.gz")
    command = [sys.executable, "-c", INTERRUPTED, "build", str(dump), "-o", str(output)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=PATIENCE_S)
    assert b"Traceback" not in done.stderr
    assert (done.returncode, done.stdout) == (130, b"")
    assert output.read_bytes() == b"the old one"
    assert not list(tmp_path.glob(".*.part"))
