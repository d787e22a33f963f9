"""Read `.npz` files; whatever is wrong with one is an `InputError`."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.edge.hierarchy_file import shown
from ipmicra.errors import InputError

_DAMAGE = (
    ValueError,
    OSError,
    EOFError,
    KeyError,
    RuntimeError,  # NotImplementedError is one: an archive of a later version, or encrypted
    SyntaxError,
    TypeError,  # a lone array
    MemoryError,  # an array that claims to be larger than any memory
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)
"""What zipfile and numpy raise on archives that are damaged or unusual; found by changing bytes."""

MOST_BYTES = 8 * 20_000**2
"""Size of all arrays together: a matrix of 20,000 nodes. A file of megabytes can unpack to terabytes."""
_HEADERS = 1 << 20
"""Room for what describes the arrays."""


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """Read all arrays of a file.

    Raises:
        InputError: It is damaged, or has objects instead of numbers.
        FileNotFoundError: There is no such file.
    """
    try:
        # numpy forgets to close a file that it opened itself if the archive is broken.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            size = sum(member.file_size for member in stored.zip.infolist())
            if size > MOST_BYTES + _HEADERS:
                raise ValueError(f"it unpacks to {size:,} bytes, more than {MOST_BYTES:,}")
            return {name: stored[name] for name in stored.files}
    except FileNotFoundError:
        raise
    except _DAMAGE as error:
        raise InputError(f"{shown(path)}: cannot be read as .npz: {error}") from error
