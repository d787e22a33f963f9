"""The pages hang together: as a site, and where the repository is browsed."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ipmicra
from tests.docs.code_blocks import PAGES, ROOT

LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)
CODE = re.compile(r"^(```+).*?^\1$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
PARTS = (
    "## What the paper says",
    "## How we interpret it",
    "## What we changed, and its effect",
    "## Limitations and open questions",
)
LARGEST_PICTURE = 300_000


def read(page: Path) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def anchors(text: str) -> Iterator[str]:
    """Name the headings of a page as GitHub does."""
    for found in HEADING.finditer(re.sub(r"^(```+).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", found["text"]).replace("`", "")
        yield re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def section(text: str, title: str) -> str:
    """Cut a section of the map out."""
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    words = [
        "-m",
        "sphinx",
        "--quiet",
        "--fail-on-warning",
        "--keep-going",
        "-c",
        "docs",
        "-d",
        tmp_path / "doctrees",
    ]
    done = subprocess.run(
        [sys.executable, *map(str, words), ".", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    front = (tmp_path / "site" / "docs" / "README.html").read_text(encoding="utf-8")
    assert "tutorial.html" in front
    index = (tmp_path / "site" / "searchindex.js").read_text(encoding="utf-8")
    assert all(f'"docs/{page}"' in index for page in ("json", "how-to/install", "how-to/troubleshooting"))
    assert (tmp_path / "site" / "search.html").is_file()
    assert not re.search(r'(?:src|href)="https?://[^"]*\.(?:js|css|woff2?)"', front), (
        "the site needs the network"
    )


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_of_a_page_lead_to_files_and_headings_that_exist(page: Path) -> None:
    broken = []
    text = CODE.sub("", read(page))
    for found in LINK.finditer(text):
        target, _, anchor = found["target"].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        path = (ROOT / page.parent / target).resolve() if target else ROOT / page
        if not path.is_file() or (anchor and anchor not in anchors(path.read_text(encoding="utf-8"))):
            broken.append(found["target"])
    assert broken == []


def test_a_missing_heading_is_noticed() -> None:
    assert list(anchors("# The `.ipm` file, version 1\n```\n# no heading\n```\n## [A](b.md) & B\n")) == [
        "the-ipm-file-version-1",
        "a--b",
    ]


def test_the_map_leads_to_every_page() -> None:
    text = read(Path("docs/README.md"))
    found = {(ROOT / "docs" / link["target"]).resolve() for link in LINK.finditer(text)}
    pages = {path for path in (ROOT / "docs").glob("**/*.md") if path.parent.name != "decisions"}
    assert pages - found - {ROOT / "docs" / "README.md"} == set()


def test_the_list_of_decisions_is_complete() -> None:
    text = read(Path("docs/decisions/README.md"))
    names = {path.name for path in (ROOT / "docs" / "decisions").glob("*.md")} - {"README.md"}
    assert names == {link["target"] for link in LINK.finditer(text)}


def test_pages_on_algorithms_have_the_same_four_parts() -> None:
    links = [link["target"] for link in LINK.finditer(section(read(Path("docs/README.md")), "Algorithms"))]
    assert len(links) >= 7
    for link in links:
        text = read(Path("docs") / link)
        at = [text.find(f"\n{part}\n") for part in PARTS]
        assert -1 not in at, (link, at)
        assert at == sorted(at), link


def test_every_public_name_and_method_has_a_docstring() -> None:
    missing = []
    for name in ipmicra.__all__:
        thing = getattr(ipmicra, name)
        own = vars(thing).items() if isinstance(thing, type) else ()
        members = {name: thing, **{f"{name}.{key}": value for key, value in own if not key.startswith("_")}}
        for label, member in members.items():
            called = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            told = (called.__doc__ or "").strip()
            is_made = told.startswith(f"{name}(")  # by `dataclass`, for want of another
            if (label == name or inspect.isfunction(called)) and (not told or is_made):
                missing.append(label)
    assert missing == []


def test_pictures_are_small() -> None:
    pictures = list((ROOT / "docs" / "pictures").iterdir())
    assert pictures
    assert [one.name for one in pictures if one.stat().st_size > LARGEST_PICTURE] == []
