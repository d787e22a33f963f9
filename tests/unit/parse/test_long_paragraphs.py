"""Paragraphs that are longer than a chunk, and the breaks between them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ipmicra.edge.dumps import reading as dumps
from ipmicra.errors import DumpError
from ipmicra.model.finding import Tally
from ipmicra.parse.columns import Columns
from tests.reference.fast_reading import in_order, spelled_out
from tests.reference.slow_parser import read_paragraphs

ROOT = Path(__file__).parents[3]


def read(path: Path, text: bytes) -> Columns:
    path.write_bytes(text)
    return dumps.read_dump(dumps.inspect(path))


def long_paragraph(first: int, size: int, end: bytes = b"\n") -> bytes:
    line = b"remarks: " + b"r" * 50 + end
    return b"inetnum: %d.0.0.0/8" % first + end + line * (size // len(line))


def continued(first: int, size: int, end: bytes) -> bytes:
    """Return a paragraph whose values are joined of very many lines, so that much is copied to join them."""
    line = b"+ " + b"d" * 50 + end
    return b"inetnum: %d.0.0.0/8" % first + end + b"descr: a" + end + line * (size // len(line))


@pytest.mark.parametrize("size", [2**12, 2**12 + 1, 2**14, 2**16])
def test_paragraph_longer_than_a_chunk_is_read_whole(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dumps, "CHUNK_BYTES", 2**12)
    text = long_paragraph(10, size) + b"\n" + continued(11, size, b"\n") + b"\n" + long_paragraph(12, 10)
    assert spelled_out(read(tmp_path / "a.db", text)) == in_order(read_paragraphs(text))


CHILD = """
import sys
from pathlib import Path
from ipmicra.edge.dumps import reading as dumps
dumps.CHUNK_BYTES = 1 << 12
print(dumps.read_dump(dumps.inspect(Path(sys.argv[1]))).tally.paragraphs)
"""


def test_text_left_over_from_a_long_paragraph_has_room_to_be_joined(tmp_path: Path) -> None:
    """What is left of a chunk that had to grow may be longer than a chunk and hold a break of another kind.

    In a process of its own: without room the compiled reader writes into memory that is not its own.
    """
    text = long_paragraph(10, 2**16 + 2**10) + b"\n" + continued(11, 2**15, b"\r\n") + b"\r\n"
    text += long_paragraph(12, 2**13, b"\r\n") + b"\r\n" + long_paragraph(13, 2**17, b"\r\n")
    path = tmp_path / "a.db"
    path.write_bytes(text)
    environment = {**os.environ, "PYTHONMALLOC": "debug"}
    command = [sys.executable, "-c", CHILD, str(path)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, b"4")


def test_text_without_a_break_is_no_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumps, "CHUNK_BYTES", 2**10)
    monkeypatch.setattr(dumps, "LONGEST_PARAGRAPH", 2**14)
    with pytest.raises(DumpError, match="without a blank line") as caught:
        read(tmp_path / "a.db", long_paragraph(10, 2**16))
    assert caught.value.byte == 0


def test_blank_lines_of_spaces_end_paragraphs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumps, "CHUNK_BYTES", 2**10)
    text = b" \t\n".join(long_paragraph(first, 500) for first in range(10, 20))
    assert read(tmp_path / "a.db", text).tally == Tally(kept=10)


def test_line_numbers_run_on_over_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumps, "CHUNK_BYTES", 64)
    read_back = read(tmp_path / "a.db", b"inetnum: 10.0.0.0/8\n\n" * 50 + b"strange: thing\n")
    assert read_back.rows4.line.tolist() == list(range(1, 101, 2))
    assert read_back.spell_findings("a.db")[0].line == 101
