"""The home folder: where the hierarchy and the store are, and how they are opened."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

if TYPE_CHECKING:
    from ipmicra.assign.rules.rules import Rules
    from ipmicra.edge.hierarchy_file import Hierarchy
    from ipmicra.edge.store.lock import HeldLock
    from ipmicra.edge.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The folder with the hierarchy and the state, or the files that a user named instead.

    The methods import what they open: a shell completes names through this module, and must not wait for
    numpy.
    """

    folder: Path
    named_hierarchy: Path | None = None
    """A hierarchy outside the folder; it must exist."""
    named_store: str | None = None
    """The URL of a store outside the folder: a file's, or that of a PostgreSQL database."""
    named_rules: Path | None = None
    """A file of rules outside the folder; it must exist."""
    coordinator: str | None = None
    """The URL of a coordinator to ask instead of the folder; None for that of the folder, if one runs."""
    coordinator_token: Path | None = None
    """A file with a token of that coordinator."""
    coordinator_authority: Path | None = None
    """Whose certificates to trust for it, besides the system's."""

    @property
    def hierarchy(self) -> Path:
        """The hierarchy's file."""
        return self.named_hierarchy or self.folder / "hierarchy.ipm"

    @property
    def store(self) -> str:
        """The URL of the store."""
        return self.named_store or str(self.folder / "state.db")

    @property
    def rules(self) -> Path:
        """The file of rules."""
        return self.named_rules or self.folder / "rules.txt"

    def using(
        self, *, store: str | None = None, hierarchy: Path | None = None, rules: Path | None = None
    ) -> Home:
        """Return the same home with other files; None keeps what it has."""
        return replace(
            self,
            named_store=store or self.named_store,
            named_hierarchy=hierarchy or self.named_hierarchy,
            named_rules=rules or self.named_rules,
        )

    @property
    def hierarchy_if_any(self) -> Path | None:
        """The hierarchy's file; None if none was named and the folder has none."""
        return self.hierarchy if self.named_hierarchy or self.hierarchy.is_file() else None

    def open_hierarchy(self) -> Hierarchy:
        """Open the hierarchy; use as a context."""
        from ipmicra.edge.hierarchy_file import Hierarchy

        return Hierarchy.open(self.hierarchy)

    def open_hierarchy_if_any(self) -> Hierarchy | None:
        """Open the hierarchy; None if none was named and the folder has none."""
        return self.open_hierarchy() if self.hierarchy_if_any else None

    def load_rules_if_any(self) -> Rules | None:
        """Read and check the rules; None if none were named and the folder has none."""
        if self.named_rules is None and not self.rules.is_file():
            return None
        from ipmicra.app.rules import load_rules

        return load_rules(self.rules)

    def open_store(self) -> Store:
        """Open the store; use as a context."""
        from ipmicra.edge.store.store import Store

        return Store.open(self.store)

    def lock(self, purpose: str, command: str) -> AbstractContextManager[HeldLock]:
        """Hold the store's lock for a purpose; `command` is shown to others who want it."""
        from ipmicra.edge.store.lock import one_at_a_time

        return one_at_a_time(self.store, purpose, command)

    def crawler_names(self) -> list[str]:
        """List the crawlers that have not left, quickly; none if the store cannot be read."""
        from ipmicra.edge.store.glance import crawler_names

        return crawler_names(self.store)


def find_home(folder: Path | None = None) -> Home:
    """Choose the folder: as given, else IPMICRA_HOME, else the platform's place for user data.

    IPMICRA_STORE names the store; a password in it is not seen by others, as one on a command line is.
    """
    chosen = (
        folder or os.environ.get("IPMICRA_HOME") or platformdirs.user_data_dir("ipmicra", appauthor=False)
    )
    return Home(folder=Path(chosen).expanduser(), named_store=os.environ.get("IPMICRA_STORE") or None)


def home_at(place: Home | Path | str | None) -> Home:
    """Return a home as it is, or that of a folder."""
    return place if isinstance(place, Home) else find_home(None if place is None else Path(place))
