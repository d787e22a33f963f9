"""Look after a store: what it holds, copies, backups, and what need not be kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ipmicra.app.home import Home
from ipmicra.edge.durable import settle
from ipmicra.edge.store.backup import backup_file
from ipmicra.edge.store.copying import copy_rows, count_rows
from ipmicra.edge.store.lock import one_at_a_time
from ipmicra.edge.store.migrations import MIGRATIONS
from ipmicra.edge.store.places import exact_path, is_postgres, is_there, path_of, shown
from ipmicra.edge.store.retention import Pruning, Retention
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError, StoreError

__all__ = ["Retention", "StoreInfo", "backup_store", "copy_store", "describe_store", "prune_store"]
Progress = Callable[[str, int, int], object]
"""Called with what is copied, how much of it is, and how much there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreInfo:
    """What a store holds."""

    store: str
    """Its file or URL, without a password."""
    kind: str
    schema: int
    """The number of its last migration."""
    size_bytes: int
    rows: dict[str, int]
    """By table."""
    holders: dict[str, str]
    """Who holds it for which purpose; PostgreSQL only, where holders are written down."""


def describe_store(home: Home) -> StoreInfo:
    """Count what a store holds."""
    _need(home.store)
    with home.open_store() as store:
        now_s = store.connection.now_s()
        return StoreInfo(
            store=store.connection.path,
            kind="PostgreSQL" if is_postgres(home.store) else "SQLite",
            schema=MIGRATIONS[-1].number,
            size_bytes=store.connection.size_bytes(),
            rows=dict(count_rows(store.connection)),
            holders={
                one.name: one.holder for one in store.leases.all() if one.holder and one.expires_s > now_s
            },
        )


def copy_store(source: str, target: str, progress: Progress, *, replaces: bool = False) -> dict[str, int]:
    """Copy a store as it is now into another one, which nobody else may use meanwhile; return rows by table.

    Raises:
        InputError: Both are the same, or the target holds something and is not to be replaced.
        StoreBusyError: Somebody works in the target.
    """
    _need(source)
    if shown(source) == shown(target):
        raise InputError(f"{shown(source)} cannot be copied into itself")
    with ExitStack() as stack:
        taken = stack.enter_context(Store.open(source))
        for purpose in ("delegate", "assign"):
            stack.enter_context(one_at_a_time(target, purpose, f"ipmicra store copy {shown(source)}"))
        made = stack.enter_context(Store.open(target, is_copied_into=True))
        return copy_rows(taken, made, progress, replaces=replaces)


def backup_store(home: Home, target: Path, progress: Progress, *, replaces: bool = False) -> int:
    """Copy a store into one SQLite file while others write to it; return the bytes of the file."""
    _need(home.store)
    if target.exists() and not replaces:
        raise InputError(f"{target} exists: name another file, or use --replace")
    target.parent.mkdir(parents=True, exist_ok=True)
    if is_postgres(home.store):
        _copy_to_file(home.store, target, progress)
    else:
        backup_file(exact_path(home.store), target, lambda done, total: progress("pages", done, total))
    return target.stat().st_size


def _copy_to_file(source: str, target: Path, progress: Progress) -> None:
    with _part_of(target) as part:
        with Store.open(source) as taken, Store.open(str(part), is_copied_into=True) as made:
            copy_rows(taken, made, progress, replaces=False)
        settle(part, target)


@contextmanager
def _part_of(target: Path) -> Iterator[Path]:
    """Name a file beside the target, for what is not finished; nothing of it stays."""
    part = target.with_name(f".{target.name}.part")
    try:
        _remove(part)
        yield part
    finally:
        _remove(part)


def _remove(part: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        part.with_name(f"{part.name}{ending}").unlink(missing_ok=True)


def prune_store(home: Home, keeps: Retention, *, dry_run: bool = False) -> dict[str, int]:
    """Remove what is older or more than is to be kept; return how much of each kind went, or would go."""
    _need(home.store)
    with home.open_store() as store:
        return dict(Pruning(store.connection, keeps, store.connection.now_s(), dry_run=dry_run).run())


def _need(url: str) -> None:
    """See that a store exists: opening one would create it."""
    if not is_postgres(url) and path_of(url) == ":memory:":
        raise InputError("a store in memory is gone with its process: name a file or a database")
    if not is_there(url):
        raise StoreError(shown(url), "there is no such store")
