"""The progress bars of all commands: drawn on standard error, and only if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from ipmicra.cli.output import say
from ipmicra.model.foreign_text import printable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Show(Protocol):
    """Moves a bar; the first call for a `key` draws it."""

    def __call__(self, text: str, done: float, total: float | None, *, key: str = "") -> None:
        """Show a text and how much is done; a total of None is not known yet."""


@contextmanager
def progress_bar(*, is_bytes: bool = False, stays: bool = False) -> Iterator[Show]:
    """Provide the call that moves bars, one for each `key`; they disappear at the end unless `stays`.

    Nothing is drawn before the first call, so that a command may print messages before its long part.
    """
    if not is_watched():
        yield _show_nothing
        return
    bars = _make_bars(is_bytes=is_bytes, stays=stays)
    tasks: dict[str, TaskID] = {}

    def show(text: str, done: float, total: float | None, *, key: str = "") -> None:
        if not tasks:
            bars.start()
        if key not in tasks:
            tasks[key] = bars.add_task("", total=total)
        bars.update(tasks[key], description=printable(text), completed=done, total=total)

    try:
        yield show
    finally:
        if tasks:
            bars.stop()


def show_message(message: str) -> None:
    """Report a stage of a long simulation, if standard error is a terminal."""
    if is_watched():
        say(message)


def is_watched() -> bool:
    """Return whether progress is shown to anybody."""
    return sys.stderr.isatty()


def _show_nothing(text: str, done: float, total: float | None, *, key: str = "") -> None:
    pass


def _make_bars(*, is_bytes: bool, stays: bool) -> Progress:
    # rich takes a tenth of a second to load: a command whose progress is not shown does without it.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    counts = (DownloadColumn(), TransferSpeedColumn()) if is_bytes else (MofNCompleteColumn(),)
    # Names of dumps and hosts may contain brackets, which must not be read as markup.
    text = TextColumn("{task.description}", markup=False)
    return Progress(
        text, BarColumn(), *counts, TimeRemainingColumn(), console=Console(stderr=True), transient=not stays
    )
