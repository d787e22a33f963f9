"""Damaged archives: whatever bytes they have, the dump is read or a `DumpError` says why not."""

from __future__ import annotations

import io
import struct
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from ipmicra.app.build.build import BuildOptions, build
from ipmicra.edge.dumps.reading import inspect
from ipmicra.errors import DumpError, UnknownDialectError

TEXT = b"".join(
    b"NetHandle: NET-10-%d\nOrgID: A\nNetRange: 10.%d.0.0 - 10.%d.255.255\n\n" % (i, i, i) for i in range(20)
)
UTF8_NAME = 0x800
LZMA = 14


def archive(text: bytes = TEXT) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr(zipfile.ZipInfo("arin_db.txt"), text, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def changed(data: bytes, at: int, value: bytes) -> bytes:
    """Replace bytes of the archive's directory, which starts with PK\\1\\2."""
    start = data.index(b"PK\x01\x02") + at
    return data[:start] + value + data[start + len(value) :]


def test_zip_of_a_later_version_is_refused_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "arin.zip"
    path.write_bytes(changed(archive(), 6, b"\x7f"))
    with pytest.raises(UnknownDialectError, match=r"zip file version 12\.7; unpack the archive"):
        inspect(path)


def test_zip_with_bad_lzma_data_is_refused(tmp_path: Path) -> None:
    """Properties of five bytes that no LZMA stream has."""
    path = tmp_path / "arin.zip"
    payload = b"\x09\x14\x05\x00" + b"\xff" * 100
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr(zipfile.ZipInfo("arin_db.txt"), payload, zipfile.ZIP_STORED)
    path.write_bytes(changed(file.getvalue(), 10, struct.pack("<H", LZMA)))
    with pytest.raises(DumpError):
        inspect(path)


def test_zip_with_a_name_that_is_not_the_utf_8_it_claims_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "arin.zip"
    data = changed(archive(), 8, struct.pack("<H", UTF8_NAME))
    path.write_bytes(changed(data, 46, b"\xff"))
    with pytest.raises(DumpError):
        inspect(path)


def test_any_changed_byte_of_a_zip_is_survived(tmp_path: Path) -> None:
    path, data = tmp_path / "arin.zip", archive()
    for at in range(len(data)):
        for value in {0, 0x7F, 0xFF, data[at] ^ 1}:
            path.write_bytes(data[:at] + bytes([value]) + data[at + 1 :])
            with suppress(DumpError):
                inspect(path)


def test_build_that_keeps_going_leaves_out_damaged_zips_and_nothing_else(tmp_path: Path) -> None:
    """Every third changed byte, to its end: damage may show only when the dump is read."""
    good, bad = tmp_path / "good.db", tmp_path / "bad.zip"
    good.write_bytes(b"inetnum: 192.0.2.0 - 192.0.2.255\nnetname: GOOD\nsource: RIPE\n")
    data = archive()
    left_out = 0
    for at in range(0, len(data), 3):
        bad.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        report = build([good, bad], tmp_path / "a.ipm", BuildOptions(keep_going=True))
        assert len(report.dumps) + len(report.failures) == 2
        assert report.dumps[-1].info.name == "good.db"
        left_out += len(report.failures)
    assert left_out > len(data) / 6
