"""The dumps that the demonstration starts from."""

from __future__ import annotations

from pathlib import Path

from ipmicra.errors import InputError


def sample_dumps(folder: Path | None) -> list[Path]:
    """List the dumps of a folder, by default of the samples in the checkout that ipmicra runs from."""
    folder = folder or Path(__file__).parents[3] / "rir_dumps" / "sample"
    paths = sorted(path for path in folder.glob("*") if path.is_file() and path.suffix != ".md")
    if not paths:
        raise InputError(
            f"no dumps in {folder}: run from a checkout of ipmicra, or name a folder with --dumps"
        )
    return paths
