"""Prints the folder of the operators' files."""

from __future__ import annotations

from pathlib import Path

if __name__ == "__main__":
    print(Path(__file__).parent)  # noqa: T201 - what it is for
