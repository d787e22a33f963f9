"""Matrices of round trips on disk: `.npz` with `rtt_ms`, or text in the p2psim King form."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ipmicra.edge.files.king import parse_king
from ipmicra.edge.hierarchy_file import shown
from ipmicra.errors import InputError


def read_matrix(path: Path) -> NDArray[np.float64]:
    """Read a matrix of round trips in milliseconds; its form is told by its content."""
    try:
        with path.open("rb") as file:
            is_zip = file.read(2) == b"PK"
        if is_zip:
            return check_matrix(shown(path), _npz(path))
        return check_matrix(shown(path), _king(path))
    except (FileNotFoundError, IsADirectoryError) as error:
        raise InputError(f"{shown(path)}: no such file; give a .npz with `rtt_ms` or a King text") from error


def _king(path: Path) -> NDArray[np.float64]:
    try:
        return parse_king(path.read_text(encoding="utf-8", errors="replace"))
    except InputError as error:
        raise InputError(f"{shown(path)}: {error}") from error


def _npz(path: Path) -> NDArray[np.generic]:
    try:
        with np.load(path, allow_pickle=False) as stored:
            if "rtt_ms" not in stored:
                raise InputError(
                    f"{shown(path)}: has no `rtt_ms`, but {', '.join(stored.files) or 'nothing'}"
                )
            matrix: NDArray[np.generic] = stored["rtt_ms"]
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{shown(path)}: cannot be read as .npz: {error}") from error
    if matrix.dtype.kind not in "fiu":
        raise InputError(f"{shown(path)}: `rtt_ms` must be numbers, not {matrix.dtype}")
    return matrix


def check_matrix(name: str, rtt_ms: NDArray[np.generic]) -> NDArray[np.float64]:
    """Check a matrix of round trips and give it symmetric, in milliseconds, NaN where a pair is missing."""
    if rtt_ms.ndim != 2 or rtt_ms.shape[0] != rtt_ms.shape[1]:  # noqa: PLR2004
        raise InputError(f"{name}: round trips must be a square table, not {rtt_ms.shape}")
    values = rtt_ms.astype(np.float64)
    values = np.where(np.isfinite(values) & (values > 0), values, np.nan)
    both = np.where(np.isnan(values), values.T, values)
    back = np.where(np.isnan(values.T), values, values.T)
    mean = (both + back) / 2
    np.fill_diagonal(mean, 0)
    return mean
