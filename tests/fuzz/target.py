"""Fuzz targets: what is done with bytes from outside, and the errors in which that may end.

A target is one function. It raises one of its declared errors for bytes that make no sense, returns for the
rest, and asserts whatever law holds of what it read; anything else that leaves it is a finding.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.cli.command_line import ROOT

Check = Callable[[bytes], object]
CORPUS = ROOT / "fuzz" / "corpus"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Something that reads bytes from outside."""

    name: str
    check: Check
    errors: tuple[type[Exception], ...]
    """Errors that ipmicra declares for bytes that make no sense."""
    longest: int
    """Bytes of the longest input that is tried."""

    def run(self, data: bytes) -> None:
        """Do what the target does; whatever is raised is a finding."""
        with suppress(*self.errors):
            self.check(data)

    def corpus(self) -> list[Path]:
        """Return the inputs that are kept."""
        return sorted((CORPUS / self.name).iterdir())


TARGETS: dict[str, Target] = {}


def target(name: str, *errors: type[Exception], longest: int = 1024) -> Callable[[Check], Check]:
    """Register a function as the target of a name; only these errors may leave it."""

    def register(check: Check) -> Check:
        TARGETS[name] = Target(name=name, check=check, errors=errors, longest=longest)
        return check

    return register
