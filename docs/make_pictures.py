"""Draws the pictures of the documentation anew, from a run of the demonstration."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from PIL import Image

from ipmicra.app.describe.delegation import describe_decision
from ipmicra.cli.main import run as ipmicra
from ipmicra.lab.demo.config import DemoConfig
from ipmicra.lab.demo.run import Demo, DemoFiles

FOLDER = Path(__file__).with_name("pictures")
KEPT = {"map.png": 0.925, "rtt.png": 1.0}
"""Of all plots of the report, and how much of each from the top: the names on the map are legend enough."""
WIDTH = 1400
"""Of a picture at most: sharp where pages are read, small where repositories are cloned."""


def main() -> None:
    """Run the demonstration, and keep some plots of what it delegated."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = DemoFiles(folder=folder / "home")
        files.folder.mkdir()
        demo = Demo(
            files=files,
            report=folder / "demo.html",
            config=DemoConfig(),
            is_crawled=False,
            say=lambda said: print(said, file=sys.stderr),
        )
        with demo.running() as outcome:
            rows = [describe_decision(result) for result in outcome.results.values()]
        results = folder / "results.json"
        results.write_text(json.dumps(rows), encoding="utf-8")
        words = ["--home", files.folder, "report", "--world", files.world, "--assignment", results]
        sys.argv = [
            "ipmicra",
            *map(str, words),
            "--plots",
            str(folder / "plots"),
            "-o",
            str(folder / "report.html"),
        ]
        try:
            ipmicra()
        except SystemExit as end:
            if end.code:
                raise
        FOLDER.mkdir(exist_ok=True)
        for kept, share in KEPT.items():
            _shrink(folder / "plots" / kept, FOLDER / kept, share)


def _shrink(source: Path, target: Path, share: float) -> None:
    with Image.open(source) as image:
        cut = image.convert("RGB").crop((0, 0, image.width, round(image.height * share)))
    cut.thumbnail((WIDTH, WIDTH))
    cut.save(target, optimize=True)


if __name__ == "__main__":
    main()
