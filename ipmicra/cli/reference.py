"""Writes the reference page of the command line from the commands' own help."""

from __future__ import annotations

import sys
from pathlib import Path

from typer.testing import CliRunner

from ipmicra.cli.main import app, command_names

PAGE = Path("docs/cli.md")
HEAD = """# The command line

Written by `bin/make-cli-docs` from `ipmicra COMMAND --help`; `bin/lint` compares the two.

Data goes to standard output, progress and messages to standard error. To a pipe, commands print JSON
unless `--format` says otherwise. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done in part (standard
error says what is missing), 130 interrupted (standard error says what is left, and how to resume).

`ipmicra --install-completion` lets bash, zsh and fish complete commands, options, names and the crawlers of
the store. `--log-level` and `--log-format` come before the command, as in `ipmicra --log-level info
--log-format json delegate sites.txt`: each event is then one line of JSON on standard error, with
`time`, `level`, `part`, `event`, `message` and its own fields. Tokens, keys, passwords and queries of URLs
are never written. `--log-level debug` shows where an error came from.
"""


def reference() -> str:
    """Return the text of the page."""
    parts = [HEAD, _section([])]
    parts.extend(_section(name.split()) for name in command_names())
    return "\n".join(parts)


def _section(words: list[str]) -> str:
    """Show the help of one command."""
    result = CliRunner().invoke(app, [*words, "--help"], prog_name="ipmicra", env={"COLUMNS": "100"})
    title = " ".join(["ipmicra", *words])
    lines = "\n".join(line.rstrip() for line in result.output.strip().splitlines())
    return f"## `{title}`\n\n```text\n{lines}\n```\n"


def main() -> None:
    """Write the page, or with `--check` fail if it is out of date."""
    if "--check" not in sys.argv:
        PAGE.write_text(reference(), encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != reference():
        sys.exit(f"{PAGE} is out of date: run bin/make-cli-docs")


if __name__ == "__main__":
    main()
