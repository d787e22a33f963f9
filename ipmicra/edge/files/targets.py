"""What users name on the command line: addresses, prefixes, ranges, host names, URLs, files, `-`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ipmicra.errors import AddressError, InputError
from ipmicra.model.address import Address, read_range

LONGEST_LINE = 4096
"""Characters of a line in a file of targets; a longer one is no target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One thing to look up."""

    text: str
    """As the user wrote it."""
    first: Address
    last: Address
    """The same as first, unless it is a prefix or range."""

    @property
    def address(self) -> str:
        """The address, or the range's two ends."""
        return str(self.first) if self.first == self.last else f"{self.first} - {self.last}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved:
    """A target that stands for no address."""

    text: str
    reason: str


Resolve = Callable[[str], list[Address]]


def read_targets(words: Iterable[str], resolve: Resolve) -> Iterator[Target | Unresolved]:
    """Turn what the user wrote into targets, in order."""
    for text in read_texts(words):
        yield from read_target(text, resolve)


def read_target(text: str, resolve: Resolve) -> list[Target | Unresolved]:
    """Read one target; a host name may have several addresses."""
    name = host_of(text)
    try:
        first, last = read_range(name)
    except AddressError:
        pass
    else:
        return [Target(text=text, first=first, last=last)]
    if not is_host_name(name):
        return [Unresolved(text=text, reason="no address, prefix, range, host name or file")]
    try:
        return [Target(text=text, first=address, last=address) for address in resolve(name)]
    except InputError as error:
        return [Unresolved(text=text, reason=str(error))]


def host_of(text: str) -> str:
    """Give the host of a URL; anything else as it is."""
    if "://" not in text:
        return text.strip().strip("[]")
    try:
        return urlsplit(text.strip()).hostname or text
    except ValueError:
        return text


def is_host_name(name: str) -> bool:
    """Tell whether a text may be asked of the DNS: letters with a dot, and no numbers only."""
    labels = name.rstrip(".").split(".")
    if not 0 < len(name) <= 253 or labels[-1].isdigit():  # noqa: PLR2004 - RFC 1035
        return False
    return all(0 < len(label) < 64 and label.replace("-", "").replace("_", "").isalnum() for label in labels)  # noqa: PLR2004


def read_texts(words: Iterable[str]) -> Iterator[str]:
    """Replace files and `-` by their lines."""
    for word in words:
        if word == "-":
            yield from _lines(sys.stdin)
        elif "://" not in word and _is_file(word):
            yield from _lines_of(Path(word))
        else:
            yield word


def count_texts(words: Iterable[str]) -> int | None:
    """Count what `read_texts` gives, about: lines of files are not looked into; None for standard input."""
    count = 0
    for word in words:
        if word == "-":
            return None
        if "://" not in word and _is_file(word):
            with Path(word).open("rb") as file:
                count += sum(piece.count(b"\n") for piece in iter(lambda: file.read(1 << 20), b""))
        else:
            count += 1
    return count


def _is_file(word: str) -> bool:
    try:
        return Path(word).is_file()
    except (OSError, ValueError):
        return False


def _lines_of(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", errors="replace") as file:
        lines = _lines(file)
        while True:
            try:
                text = next(lines, None)
            except OSError as error:
                raise InputError(f"{path} cannot be read: {error.strerror}") from error
            if text is None:
                return
            yield text


def _lines(file: Iterable[str]) -> Iterator[str]:
    """Give the first word or range of each line; `#` starts a comment."""
    for line in file:
        text = line[:LONGEST_LINE].split("#")[0].strip()
        if text:
            yield text
