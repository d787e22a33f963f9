"""Find the code blocks of Markdown pages, with the comments above them.

A block that cannot run has `<!-- not run: reason -->` above it; set-up code for a block is in
`<!-- given` … `-->` above it. Readers see neither.
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
    """The comment above it, empty if there is none."""

    @property
    def is_run(self) -> bool:
        """Whether the test runs it."""
        return not NOT_RUN.fullmatch(self.mark)

    @property
    def given(self) -> str:
        """Set-up code for the block."""
        return self.mark.removeprefix("given\n") if self.mark.startswith("given\n") else ""


@dataclass(frozen=True, slots=True)
class Call:
    """A command of a console block with the output that the page shows, empty if it shows none."""

    command: str
    output: str


def blocks_of(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        line = text.count("\n", 0, found.start("fence")) + 1
        yield Block(page, line, found["language"], found["text"], (found["mark"] or "").strip(" "))


def calls_of(block: Block) -> Iterator[Call]:
    """Yield the commands of a console block (lines with a `$`), each with the output that follows it."""
    assert block.text.startswith("$ "), f"{block.page}:{block.line}: a console block starts with `$ `"
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        end = next(i for i, line in enumerate(lines) if not line.endswith("\\"))
        yield Call("\n".join(lines[: end + 1]), "\n".join(lines[end + 1 :]).strip())


def fits(shown: str, printed: str) -> bool:
    """Return whether output is as shown; `...` and `…` match anything, trailing blanks are ignored."""
    parts = (re.escape(part) for part in ANYTHING.split(_trimmed(shown)))
    return re.fullmatch(".*".join(parts), _trimmed(printed), re.DOTALL) is not None


def without_messages(shown: str, messages: str) -> str:
    """Remove lines from shown output that the command printed on standard error."""
    lines = [line for line in messages.splitlines() if line]

    def is_message(line: str) -> bool:
        return ANYTHING.fullmatch(line.strip()) is None and any(fits(line, one) for one in lines)

    return "\n".join(line for line in shown.splitlines() if not is_message(line))


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
