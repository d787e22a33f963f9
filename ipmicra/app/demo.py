"""What the demonstration shows."""

from __future__ import annotations

from pathlib import Path

from ipmicra.errors import InputError

DEMO_ADDRESSES = ("62.240.18.73", "105.4.170.29", "2600:5:19:5d97::1")
"""Addresses that the sample dumps hold several levels deep."""


def sample_dumps(folder: Path | None) -> list[Path]:
    """List the dumps of a folder, by default of the samples in the checkout that ipmicra runs from."""
    folder = folder or Path(__file__).parents[2] / "rir_dumps" / "sample"
    paths = sorted(path for path in folder.glob("*") if path.is_file() and path.suffix != ".md")
    if not paths:
        raise InputError(
            f"no dumps in {folder}: run from a checkout of ipmicra, or name a folder with --dumps"
        )
    return paths
