"""Matrices of round trips on disk: `.npz` with `rtt_ms`, or text in the form of p2psim's King measurements.

In a King text, lines `node N …` introduce nodes, numbered from 1; a line `A,B TIME` is the round trip of a
pair in microseconds. A pair that is not listed, or has a time of 0 or less, was not measured.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ipmicra.edge.files.lines import read_text
from ipmicra.edge.files.npz import read_npz
from ipmicra.edge.hierarchy_file import shown
from ipmicra.errors import InputError

_NODE = re.compile(r"node\s+(\d{1,18})\b.*")
_PAIR = re.compile(r"(\d{1,18})\s*,\s*(\d{1,18})\s+(-?\d+(?:\.\d+)?)\s*")
_US_PER_MS = 1000.0
MOST_NODES = 20_000
"""More would not fit into memory as a matrix."""


def read_matrix(path: Path) -> NDArray[np.float64]:
    """Read a matrix of round trips in milliseconds; its content decides the form."""
    try:
        with path.open("rb") as file:
            is_zip = file.read(2) == b"PK"
        if is_zip:
            return check_matrix(shown(path), _npz(path))
        return check_matrix(shown(path), _king(path))
    except (FileNotFoundError, IsADirectoryError) as error:
        raise InputError(f"{shown(path)}: no such file; use a .npz with `rtt_ms` or a King text") from error


def _king(path: Path) -> NDArray[np.float64]:
    try:
        return parse_king(read_text(path))
    except InputError as error:
        raise InputError(f"{shown(path)}: {error}") from error


def _npz(path: Path) -> NDArray[np.generic]:
    stored = read_npz(path)
    if "rtt_ms" not in stored:
        raise InputError(f"{shown(path)}: has no `rtt_ms`, but {', '.join(stored) or 'nothing'}")
    matrix: NDArray[np.generic] = stored["rtt_ms"]
    if matrix.dtype.kind not in "fiu":
        raise InputError(f"{shown(path)}: `rtt_ms` must be numbers, not {matrix.dtype}")
    return matrix


def check_matrix(name: str, rtt_ms: NDArray[np.generic]) -> NDArray[np.float64]:
    """Check a matrix of round trips and return it symmetric, in milliseconds, NaN where a pair is missing."""
    if rtt_ms.ndim != 2 or rtt_ms.shape[0] != rtt_ms.shape[1]:  # noqa: PLR2004
        raise InputError(f"{name}: round trips must be a square table, not {rtt_ms.shape}")
    values = rtt_ms.astype(np.float64)
    values = np.where(np.isfinite(values) & (values > 0), values, np.nan)
    both = np.where(np.isnan(values), values.T, values)
    back = np.where(np.isnan(values.T), values, values.T)
    mean = (both + back) / 2
    np.fill_diagonal(mean, 0)
    return mean


def parse_king(text: str) -> NDArray[np.float64]:
    """Read a King text; return round trips in milliseconds, NaN where a pair was not measured."""
    nodes, pairs = set[int](), list[tuple[int, int, float]]()
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#") or line.split()[0] in {"topology", "failure_model"}:
            continue
        if match := _NODE.fullmatch(line):
            nodes.add(int(match[1]))
        elif match := _PAIR.fullmatch(line):
            pairs.append((int(match[1]), int(match[2]), float(match[3])))
        else:
            raise InputError(f"line {number}: {line[:60]!r} is neither `node N` nor `A,B TIME`")
    return _king_matrix(nodes | {one for pair in pairs for one in pair[:2]}, pairs)


def _king_matrix(nodes: set[int], pairs: list[tuple[int, int, float]]) -> NDArray[np.float64]:
    if not pairs or len(nodes) > MOST_NODES:
        raise InputError(f"a King text needs pairs and at most {MOST_NODES:,} nodes; it has {len(nodes):,}")
    place = {node: number for number, node in enumerate(sorted(nodes))}
    matrix = np.full((len(nodes), len(nodes)), np.nan)
    first = [place[pair[0]] for pair in pairs]
    second = [place[pair[1]] for pair in pairs]
    times = np.array([pair[2] for pair in pairs]) / _US_PER_MS
    matrix[first, second] = np.where(times > 0, times, np.nan)
    return matrix
