"""Reports on disk: the page, and the plots as files of their own."""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import ReportData
from ipmicra.app.report.loaders.choose import ReportInput
from ipmicra.app.report.page import Report, render
from ipmicra.app.report.plots.legend import with_key
from ipmicra.app.report.plots.raster import to_png
from ipmicra.app.report.plots.svg import to_svg
from ipmicra.edge.hierarchy_file import write_atomically
from ipmicra.errors import InputError


def check_page(path: Path) -> None:
    """Refuse a file that cannot be written, before the work begins."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        place = path if path.is_dir() else path.absolute().parent
        problem = "is a folder" if path.is_dir() else "is no folder"
        raise InputError(f"--report {path}: {place} {problem}; name a file such as report.html")


def write_page(data: ReportData, output: Path, command: str) -> Report:
    """Write a report that names the time and the command that made it."""
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return write_report(replace(data, when=when, command=command), output)


def write_input(given: ReportInput, output: Path, plots: Path | None, title: str | None) -> dict[str, Any]:
    """Write page and plots of what a user named; return the figures that the command prints."""
    if output.resolve() in {path.resolve() for path in given.files}:
        raise InputError(f"{output} is one of the inputs: name another file with -o")
    data = given.load()
    done = write_page(replace(data, title=title or data.title), output, _command(given, output))
    files = write_plots(done, plots) if plots else []
    return {
        "report": str(output),
        "size_bytes": output.stat().st_size,
        **done.summary.as_record(),
        "plots": [str(path) for path in files],
    }


def _command(given: ReportInput, output: Path) -> str:
    """Write the command that makes this report again."""
    words = ["ipmicra", "report", *map(str, given.results), *(["--last"] if given.only_last else [])]
    for option in ("crawlers", "world", "assignment", "hierarchy"):
        if path := getattr(given, option):
            words += [f"--{option}", str(path)]
    if given.store and not (given.results or given.world):
        words += ["--store", given.store]
    return shlex.join([*words, "-o", str(output)])


def write_report(data: ReportData, output: Path, config: ReportConfig | None = None) -> Report:
    """Render a report and write its page, whole or not at all."""
    report = render(data, config)
    write_atomically(output, [report.html.encode()])
    return report


def has_png() -> bool:
    """Return whether plots can be written as PNG."""
    return find_spec("matplotlib") is not None


def write_plots(report: Report, folder: Path) -> list[Path]:
    """Write every plot as SVG, and as PNG where matplotlib is installed; return the files."""
    written = []
    for scene in (with_key(scene, report.crawlers) for scene in report.scenes):
        path = folder / f"{scene.name}.svg"
        write_atomically(path, [to_svg(scene).encode()])
        written.append(path)
        if has_png():
            write_atomically(path.with_suffix(".png"), [to_png(scene)])
            written.append(path.with_suffix(".png"))
    return written
