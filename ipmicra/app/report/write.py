"""Reports on disk: the page, and the plots as files of their own."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import ReportData
from ipmicra.app.report.page import Report, render
from ipmicra.app.report.plots.legend import with_key
from ipmicra.app.report.plots.raster import to_png
from ipmicra.app.report.plots.svg import to_svg
from ipmicra.edge.hierarchy_file import write_atomically


def write_report(data: ReportData, output: Path, config: ReportConfig | None = None) -> Report:
    """Render a report and write its page, whole or not at all."""
    report = render(data, config)
    write_atomically(output, [report.html.encode()])
    return report


def has_png() -> bool:
    """Tell whether plots can be written as PNG."""
    return find_spec("matplotlib") is not None


def write_plots(report: Report, folder: Path) -> list[Path]:
    """Write every plot as SVG, and as PNG where matplotlib is installed; give the files."""
    written = []
    for scene in (with_key(scene, report.crawlers) for scene in report.scenes):
        path = folder / f"{scene.name}.svg"
        write_atomically(path, [to_svg(scene).encode()])
        written.append(path)
        if has_png():
            write_atomically(path.with_suffix(".png"), [to_png(scene)])
            written.append(path.with_suffix(".png"))
    return written
