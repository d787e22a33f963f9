"""Walks the way of a newcomer in an empty environment, and times each step.

The wheel of this checkout is installed into a fresh environment, outside the checkout. From there every
command is one that the README, the tutorial or the demonstration itself prints. Times go to
`docs/newcomer.md`, screens to a folder; an ending other than 0 stops the walk.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "newcomer.md"
BEGIN, END = "<!-- measured by bin/walk -->", "<!-- end -->"
WIDTHS = (1400, 800, 380)
PATIENCE_S = 1800.0


@dataclass(slots=True)
class Walk:
    """A newcomer's folder, and what was timed."""

    folder: Path
    steps: list[tuple[str, str, float]] = field(default_factory=list)

    @property
    def program(self) -> Path:
        """The installed command."""
        return self.folder / "venv" / "bin" / "ipmicra"

    @property
    def environment(self) -> dict[str, str]:
        """Variables of somebody who has never heard of ipmicra."""
        kept = {
            name: os.environ[name] for name in ("HOME", "LANG", "PIP_INDEX_URL", "TERM") if name in os.environ
        }
        return {**kept, "PATH": f"{self.program.parent}:/usr/bin:/bin", "COLUMNS": "80"}

    def run(self, what: str, shown: str, words: list[str]) -> str:
        """Run and time one command; return what it printed."""
        begun_s = time.monotonic()
        done = subprocess.run(  # noqa: S603 - our own words
            words,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        taken_s = time.monotonic() - begun_s
        if done.returncode:
            raise SystemExit(f"walk: {shown} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
        self.steps.append((what, shown, taken_s))
        print(f"walk: {taken_s:6.1f} s  {shown}", file=sys.stderr)
        return done.stdout


def main() -> None:
    """Walk, then write the times and take pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", default="300", help="sites of the demonstration")
    parser.add_argument("--screens", type=Path, default=ROOT / "build" / "walk", help="folder for screens")
    parser.add_argument(
        "--no-page", action="store_true", help="do not write the times into the documentation"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="walk-") as name:
        walk = Walk(Path(name))
        install(walk)
        with demonstration(walk, options.sites) as commands:
            follow(walk, commands)
        lines(walk)
        if not options.no_page:
            write_page(walk.steps)
        screens(walk.folder / "demo" / "report.html", options.screens)


def install(walk: Walk) -> None:
    """Build the wheel, then install it where nothing else is."""
    wheels = walk.folder / "wheels"
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run(  # noqa: S603 - as above
        [*pip, "--wheel-dir", str(wheels), str(ROOT)],
        check=True,
        capture_output=True,
    )
    (wheel,) = wheels.glob("ipmicra-*.whl")
    venv = walk.folder / "venv"
    base = Path(sys.base_prefix) / "bin" / "python3"
    walk.run("empty environment", "python3 -m venv venv", [str(base), "-m", "venv", str(venv)])
    words = [str(venv / "bin" / "pip"), "install", "--disable-pip-version-check", f"{wheel}[scrapy]"]
    walk.run("install", "pip install 'ipmicra[scrapy]'", words)
    walk.run("first answer", "ipmicra --help", [str(walk.program), "--help"])


@contextmanager
def demonstration(walk: Walk, sites: str) -> Iterator[list[list[str]]]:
    """Run the demonstration as the tutorial does, and give the commands that it prints."""
    words = ["demo", "--keep", "--home", "demo", "--sites", sites]
    begun_s = time.monotonic()
    child = subprocess.Popen(  # noqa: S603 - as above
        [str(walk.program), *words],
        cwd=walk.folder,
        env=walk.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    commands: list[list[str]] = []
    assert child.stderr is not None  # noqa: S101 - it is a pipe
    for line in child.stderr:
        if re.match(r"  ipmicra ", line):
            commands.append(shlex.split(line))
        if "until Ctrl-C" in line:
            break
    else:
        raise SystemExit(f"walk: the demonstration ended with {child.wait()}")
    walk.steps.append(
        (
            "the demo: look-ups, delegation, crawls, report",
            "ipmicra demo --keep --home demo",
            time.monotonic() - begun_s,
        )
    )
    print(f"walk: {walk.steps[-1][2]:6.1f} s  ipmicra demo", file=sys.stderr)
    try:
        yield commands
    finally:
        child.terminate()
        child.communicate(timeout=60)


FOLLOWED = {
    "lookup": "first look-up",
    "explain": "first explanation",
    "delegate": "first delegation",
    "assign": "first assignment",
    "crawl": "first crawl",
    "report": "first report",
}


def follow(walk: Walk, commands: list[list[str]]) -> None:
    """Type what the demonstration prints, each kind of command once."""
    for verb, what in FOLLOWED.items():
        words = next(one for one in commands if verb in one)
        shown = " ".join(Path(word).name if word.startswith("/") else word for word in words)
        walk.run(what, shown.replace("--home demo ", ""), [str(walk.program), *words[1:]])


def lines(walk: Walk) -> None:
    """Run the Python of the README, in the folder of the demonstration."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert code is not None  # noqa: S101 - a test runs it
    (walk.folder / "lines.py").write_text(code[1], encoding="utf-8")
    python = walk.program.with_name("python")
    printed = walk.run("the README's Python", "python lines.py", [str(python), "lines.py"])
    print(printed, file=sys.stderr)


def write_page(steps: list[tuple[str, str, float]]) -> None:
    """Put the times between the marks of the page."""
    total_s = sum(taken_s for _, _, taken_s in steps)
    rows = [f"| {what} | `{shown}` | {taken_s:.1f} |" for what, shown, taken_s in steps]
    table = "\n".join(["| step | command | seconds |", "|---|---|---|", *rows, f"| all | | {total_s:.0f} |"])
    head, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def screens(page: Path, folder: Path) -> None:
    """Take pictures of the report, light and dark, at three widths; nothing without Chromium."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("walk: no Chromium, no screens", file=sys.stderr)
        return
    folder.mkdir(parents=True, exist_ok=True)
    for theme in ("light", "dark"):
        for width in WIDTHS:
            target = folder / f"report-{theme}-{width}.png"
            dark = ["--blink-settings=preferredColorScheme=0"] if theme == "dark" else []
            flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *dark]
            size = f"--window-size={max(width, 500)},2400"
            words = [chromium, *flags, size, f"--screenshot={target}", page.as_uri()]
            subprocess.run(words, check=True, capture_output=True, timeout=PATIENCE_S)  # noqa: S603
    print(f"walk: screens in {folder}", file=sys.stderr)


if __name__ == "__main__":
    main()
