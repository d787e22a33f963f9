"""Check commands in pages against the command line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import dropwhile

from typer.core import TyperGroup
from typer.main import get_command

from ipmicra.cli.main import app

SUBSTITUTION = re.compile(r"<\([^)]*\)")
ENDS = re.compile(r"\s*(?:\||>>?|;|&&)\s*")
ROOT_COMMAND = get_command(app)


def commands_in(text: str) -> Iterator[list[str]]:
    """Yield the calls of `ipmicra` in shell lines."""
    for line in text.replace("\\\n", " ").splitlines():
        plain = SUBSTITUTION.sub("FILE", line.removeprefix("$ "))
        words = shlex.split(plain, comments=True)
        for part in _parts(words):
            call = list(dropwhile(lambda word: "=" in word, part))
            if call and call[0] == "ipmicra":
                yield call[1:]


def _parts(words: list[str]) -> Iterator[list[str]]:
    part: list[str] = []
    for word in words:
        if ENDS.fullmatch(word):
            yield part
            part = []
        else:
            part.append(word)
    yield part


def mistakes(words: list[str]) -> list[str]:
    """Return the commands and options of a call that do not exist."""
    command, place, wrong = ROOT_COMMAND, "ipmicra", []
    options = _options(command)
    takes_word = False
    for word in words:
        if takes_word:
            takes_word = False
        elif word.startswith("-") and word != "-":
            name = word.split("=")[0]
            if name not in options:
                wrong.append(f"{place} has no option {name}")
            takes_word = options.get(name, False) and "=" not in word
        elif isinstance(command, TyperGroup):
            if word.isupper() or not word.isascii():
                break  # a placeholder
            found = command.commands.get(word)
            if found is None:
                return [*wrong, f"{place} has no command {word}"]
            command, place = found, f"{place} {word}"
            options = _options(command)
    return wrong


def _options(command: object) -> dict[str, bool]:
    """Return the options of a command, and whether each takes a value."""
    known = {"--help": False, "-h": False}
    for parameter in command.params:  # type: ignore[attr-defined]
        if parameter.param_type_name == "option":
            for name in (*parameter.opts, *parameter.secondary_opts):
                known[name] = not parameter.is_flag
    return known


def all_options() -> set[str]:
    """Return every option of every command."""
    found: set[str] = set()

    def look(command: object) -> None:
        found.update(_options(command))
        for inner in getattr(command, "commands", {}).values():
            look(inner)

    look(ROOT_COMMAND)
    return found
