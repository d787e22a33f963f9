"""The dumps that the demonstration starts from."""

from __future__ import annotations

from pathlib import Path

from ipmicra.errors import InputError

PACKAGED = Path(__file__).parent / "sample"
"""Where a wheel has the samples; a checkout has them in `rir_dumps`."""


def sample_dumps(folder: Path | None) -> list[Path]:
    """List the dumps of a folder, by default the samples that ipmicra brings along."""
    if folder is None:
        folder = PACKAGED if PACKAGED.is_dir() else Path(__file__).parents[3] / "rir_dumps" / "sample"
    paths = sorted(path for path in folder.glob("*") if path.is_file() and path.suffix != ".md")
    if not paths:
        raise InputError(
            f"no dumps in {folder}: name a folder that has some with --dumps, or leave it out for the samples"
        )
    return paths
