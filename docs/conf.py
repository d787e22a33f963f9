"""How the pages become a site: `bin/docs` builds it. Every page is plain Markdown that reads well without it.

The whole checkout is the source folder, so that links between pages and to files outside `docs` are the same
here and where the repository is browsed. `docs/README.md` is the map: its lists of links are the navigation.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ipmicra

ROOT = Path(__file__).parents[1]
MAP = "docs/README"
DECISION = "docs/decisions/0"

project = "ipmicra"
author = "the ipmicra authors"
version = release = ipmicra.__version__
root_doc = MAP
extensions = ["myst_parser"]
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "benchmarks/README.md",
    "benchmarks/RESULTS.md",
    "docs/**.md",
    "rir_dumps/README.md",
]
exclude_patterns = [".*", "build", "dist", "ipmicra", "tests", "newsfragments", "rir_dumps/sample"]

myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # the page of changes starts at whatever level its tool writes

html_theme = "furo"
html_title = f"ipmicra {release}"
html_copy_source = False
html_show_copyright = False
html_last_updated_fmt = None  # the same pages give the same site
pygments_style = "friendly"
pygments_dark_style = "monokai"

SECTION = re.compile(r"^## (?P<title>.+)$", re.MULTILINE)
ENTRY = re.compile(r"^ *- \[(?P<title>[^\]]+)\]\((?P<page>[^)#:]+)\.md\)", re.MULTILINE)


def _navigation(text: str) -> str:
    """Make a hidden table of contents of each section's list of links."""
    parts = SECTION.split(text)[1:]
    blocks = []
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        pages = "\n".join(f"{entry['title']} <{entry['page']}>" for entry in ENTRY.finditer(body))
        if pages:
            blocks.append(f"```{{toctree}}\n:hidden:\n:caption: {title}\n:maxdepth: 1\n\n{pages}\n```\n")
    return "\n".join(blocks)


def _with_navigation(_app: Any, name: str, source: list[str]) -> None:  # noqa: ANN401 - Sphinx is not typed here
    if name == MAP:
        source[0] += "\n" + _navigation(source[0])
    elif name.startswith(DECISION):
        # Their own page lists them. In the navigation of all pages they would bury the rest, and most of the
        # time that building takes would go into writing them there.
        source[0] = f"---\norphan: true\n---\n{source[0]}"


def setup(app: Any) -> dict[str, bool]:  # noqa: ANN401 - as above
    """Let Sphinx call us for each page it reads."""
    app.connect("source-read", _with_navigation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
