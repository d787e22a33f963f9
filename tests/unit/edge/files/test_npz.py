"""Damaged `.npz` files: an array or `InputError`, nothing else."""

from __future__ import annotations

import io
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest

from ipmicra.edge.files.npz import read_npz
from ipmicra.errors import InputError


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.filterwarnings("ignore:.*:UserWarning")
def test_damaged_archives_are_arrays_or_input_errors(save: object, tmp_path: Path) -> None:
    rng = random.Random(14)
    stream = io.BytesIO()
    save(stream, rtt_ms=np.arange(36.0).reshape(6, 6))  # type: ignore[operator]
    path = tmp_path / "damaged.npz"
    refused = 0
    for _ in range(600):
        data = bytearray(stream.getvalue())
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(2, len(data))] = rng.choice([0, 255, rng.randrange(256)])
        path.write_bytes(data)
        try:
            read_npz(path)
        except InputError as error:
            refused += 1
            assert str(path) in str(error)  # noqa: PT017 - not every damage is seen
    assert refused > 100


def test_arrays_are_read_by_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "sound.npz", one=np.arange(3), two=np.zeros(2))
    assert {name: len(array) for name, array in read_npz(tmp_path / "sound.npz").items()} == {
        "one": 3,
        "two": 2,
    }


def test_objects_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "objects.npz", one=np.array([{}], object))
    with pytest.raises(InputError, match="Object arrays"):
        read_npz(tmp_path / "objects.npz")


def test_lone_array_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "lone.npy", np.arange(3))
    with pytest.raises(InputError, match=r"cannot be read as \.npz"):
        read_npz(tmp_path / "lone.npy")


def test_file_that_unpacks_to_gigabytes_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(210):  # a matrix of 20,000 nodes has 3.2 GB
            archive.writestr(f"a{i}.npy", b"")
        for member in archive.infolist():
            member.file_size = 1 << 24
    with pytest.raises(InputError, match=r"it unpacks to 3,523,215,360 bytes, more than 3,200,000,000"):
        read_npz(path)


@pytest.mark.parametrize("shape", [(10**8, 10**8), (2**62, 2**4)])
def test_array_that_claims_to_be_larger_than_memory_is_refused(
    shape: tuple[int, int], tmp_path: Path
) -> None:
    header = io.BytesIO()
    facts = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, facts)
    with zipfile.ZipFile(tmp_path / "claim.npz", "w") as archive:
        archive.writestr("rtt_ms.npy", header.getvalue())
    with pytest.raises(InputError, match=r"claim\.npz"):
        read_npz(tmp_path / "claim.npz")
