"""Where ipmicra keeps its files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The folder with the hierarchy and the state."""

    folder: Path

    @property
    def hierarchy(self) -> Path:
        """The hierarchy that commands use unless told otherwise."""
        return self.folder / "hierarchy.ipm"

    @property
    def store(self) -> str:
        """The store that commands use unless told otherwise."""
        return str(self.folder / "state.db")


def find_home(folder: Path | None = None) -> Home:
    """Choose the folder: as given, else IPMICRA_HOME, else the platform's place for user data."""
    chosen = (
        folder or os.environ.get("IPMICRA_HOME") or platformdirs.user_data_dir("ipmicra", appauthor=False)
    )
    return Home(folder=Path(chosen).expanduser())
