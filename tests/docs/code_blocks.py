"""Code blocks of Markdown pages, and what a comment above a block says of it.

A block that cannot be run has `<!-- not run: reason -->` above it; code that a block takes for granted
stands in `<!-- given` … `-->` above it. Neither is shown to readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path.relative_to(ROOT)
    for path in (
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        ROOT / "benchmarks" / "RESULTS.md",
        ROOT / "rir_dumps" / "README.md",
    )
)
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^>]*?) ?-->\n\n?)?^(?P<fence>```+)(?P<language>\w*)\n(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
NOT_RUN = re.compile(r"not run: \S.*")
ANYTHING = re.compile(r"\.\.\.|…")


@dataclass(frozen=True, slots=True)
class Block:
    """One block between fences."""

    page: Path
    line: int
    language: str
    text: str
    mark: str
    """What the comment above it says, empty if there is none."""

    @property
    def is_run(self) -> bool:
        """Whether it is to be run."""
        return not NOT_RUN.fullmatch(self.mark)

    @property
    def given(self) -> str:
        """Code that the block takes for granted."""
        return self.mark.removeprefix("given\n") if self.mark.startswith("given\n") else ""


@dataclass(frozen=True, slots=True)
class Call:
    """A command of a console block with the output that the page shows, empty if it shows none."""

    command: str
    output: str


def blocks_of(page: Path) -> Iterator[Block]:
    """Find the blocks of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        line = text.count("\n", 0, found.start("fence")) + 1
        yield Block(page, line, found["language"], found["text"], (found["mark"] or "").strip(" "))


def calls_of(block: Block) -> Iterator[Call]:
    """Take a console block apart: lines with a `$`, each with what follows it."""
    assert block.text.startswith("$ "), f"{block.page}:{block.line}: a console block starts with `$ `"
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        end = next(i for i, line in enumerate(lines) if not line.endswith("\\"))
        yield Call("\n".join(lines[: end + 1]), "\n".join(lines[end + 1 :]).strip())


def fits(shown: str, printed: str) -> bool:
    """Tell whether output is as shown, where `...` and `…` stand for anything; blanks at ends are free."""
    parts = (re.escape(part) for part in ANYTHING.split(_trimmed(shown)))
    return re.fullmatch(".*".join(parts), _trimmed(printed), re.DOTALL) is not None


def without_messages(shown: str, told: str) -> str:
    """Leave out of what a page shows the lines that a command told on standard error."""
    lines = [line for line in told.splitlines() if line]

    def is_told(line: str) -> bool:
        return ANYTHING.fullmatch(line.strip()) is None and any(fits(line, one) for one in lines)

    return "\n".join(line for line in shown.splitlines() if not is_told(line))


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
