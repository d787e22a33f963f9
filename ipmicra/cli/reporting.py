"""Reports that commands write at their end when they are asked to."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import TYPE_CHECKING

from ipmicra.cli.output import say
from ipmicra.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from ipmicra.app.report.data import ReportData


def check_report(path: Path) -> None:
    """Refuse a file that cannot be written, before the work begins."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        place = path if path.is_dir() else path.absolute().parent
        problem = "is a folder" if path.is_dir() else "is no folder"
        raise InputError(f"--report {path}: {place} {problem}; name a file such as report.html")


def now_text() -> str:
    """Write the time as reports do."""
    return f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC"


def report_written(data: ReportData, path: Path, words: str) -> None:
    """Write a report, and say where it is; `words` is the command that it is about."""
    from ipmicra.app.report.write import write_report

    write_report(replace(data, when=now_text(), command=f"ipmicra {words}"), path)
    say(f"report: {path}")
