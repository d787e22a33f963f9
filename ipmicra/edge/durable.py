"""Files that survive a power cut.

A file is on the disk once it was synced, and its name once its folder was: a file that is written beside its
place and renamed needs both, in this order.
"""

from __future__ import annotations

import os
from pathlib import Path


def settle(part: Path, target: Path) -> None:
    """Let a finished file take its name, durably."""
    with part.open("rb") as written:
        os.fsync(written.fileno())
    part.replace(target)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Make new names of files in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
