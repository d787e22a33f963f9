"""Writes docs/library.md, the reference of the public names, from their own docstrings."""

from __future__ import annotations

import ast
import dataclasses
import enum
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import ipmicra

PAGE = Path(__file__).with_name("library.md")
HEAD = """# The library

Written by `bin/make-library-docs` from the docstrings of the public names; `bin/lint` compares the two. Every
name is imported from `ipmicra` itself and loaded when it is first used: `from ipmicra import Hierarchy` needs
neither the compiler nor the network. What is not on this page may change without notice.

Times are in milliseconds (`_ms`) or seconds (`_s`), distances in kilometres (`_km`). Calls in `_many` or with
an array are the quick ones; those for one wrap them. In signatures an `Address` is an `IPv4Address` or
`IPv6Address` of the standard library, `AnyAddress` takes text and IPv4 numbers too.
"""
SECTIONS = {
    "The hierarchy": "Hierarchy Subnet Organisation HolderEvidence Registry Edition DumpRecord",
    "Building": "build BuildOptions BuildProgress BuildReport Tally Finding Fate Reason",
    "Delegating": "Delegator RemoteDelegator BlockingDelegator Decision DelegateOptions AgentAccess Evidence "
    "Delegation Assignment Owner OwnerProblem",
    "Fleet and probes": "Fleet Crawler CrawlerState Capacity Site Probe Sample Timings Rung Loss",
    "Locating": "LocateRun LocateOptions Locator Clues Located Location Hint Heuristic DistanceSource",
    "Coordinates and overlay": "Coordinates Space Overlay",
    "Load balancing": "assign_sites Demand AssignedSites cut_site Piece",
    "Comparing policies": "evaluate EvaluateOptions Evaluation",
    "Exchanging URLs": "UrlExchange ExchangeConfig",
    "Reports": "write_report ReportData ReportCrawler ReportSite ReportConfig",
}
"""Errors have a section of their own; a public name that is in none stands under *More*."""


PLACE = re.compile(r"<[^ ]+ .*? at 0x[0-9a-f]+>")
"""A default that is written as where it lies in memory."""
MEMBER = re.compile(r"<(\w+\.\w+): [^>]+>")
"""A member of an enumeration, with its value."""


def page() -> str:
    """Give the text of the page."""
    errors = [name for name in ipmicra.__all__ if _is_error(getattr(ipmicra, name))]
    placed = {name for names in SECTIONS.values() for name in names.split()} | set(errors)
    sections = {
        title: [n for n in names.split() if n in ipmicra.__all__] for title, names in SECTIONS.items()
    }
    sections["More"] = [name for name in ipmicra.__all__ if name not in placed]
    parts = [HEAD, _contents(sections)]
    for title, names in sections.items():
        if names:
            parts.append(f"## {title}\n")
            parts.extend(_entry(name) for name in names)
    parts.extend(("## Errors\n", _errors(errors)))
    return "\n".join(parts)


def _contents(sections: dict[str, list[str]]) -> str:
    rows = [
        f"| [{title}](#{_anchor(title)}) | {', '.join(f'[`{name}`](#{name.lower()})' for name in names)} |"
        for title, names in sections.items()
        if names
    ]
    return "\n".join(
        ["| part | names |", "|---|---|", *rows, "| [Errors](#errors) | what goes wrong on purpose |", ""]
    )


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _is_error(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, Exception)


def _errors(names: list[str]) -> str:
    rows = []
    for name in names:
        error = getattr(ipmicra, name)
        above = ", ".join(f"`{base.__name__}`" for base in error.__bases__)
        rows.append(f"| `{name}` | {above} | {_cell(_docstring(error))} |")
    return "\n".join(["| error | is a | means |", "|---|---|---|", *rows, ""])


def _entry(name: str) -> str:
    """Describe one public name."""
    thing = getattr(ipmicra, name)
    parts = [f"### `{name}`\n"]
    is_plain = isinstance(thing, type) and not issubclass(thing, enum.Enum)
    if isinstance(thing, FunctionType) or (is_plain and not dataclasses.is_dataclass(thing)):
        parts.append(f"```text\n{name}{_signature(thing)}\n```\n")
    parts.append(_docstring(thing) + "\n")
    if isinstance(thing, type):
        parts.extend(_members(thing))
    return "\n".join(parts)


def _members(kind: type) -> Iterator[str]:
    notes = _notes(kind)
    if issubclass(kind, enum.Enum):
        told = {one.name: notes.get(one.name, getattr(one, "text", "")) for one in kind}
        rows = [f"| `{one.name}` | `{one.value!r}` | {_cell(told[one.name])} |" for one in kind]
        yield "\n".join(["| member | value | meaning |", "|---|---|---|", *rows, ""])
    elif dataclasses.is_dataclass(kind):
        fields = [field for field in dataclasses.fields(kind) if not field.name.startswith("_")]
        rows = [
            f"| `{field.name}` | `{_cell(str(field.type))}` | {_cell(notes.get(field.name, ''))} |"
            for field in fields
        ]
        if rows:
            yield "\n".join(["| field | type | meaning |", "|---|---|---|", *rows, ""])
    methods = [
        f"| {shown} | {_cell(_docstring(member).split(chr(10) * 2)[0])} |" for shown, member in _methods(kind)
    ]
    if methods:
        yield "\n".join(["| call | does |", "|---|---|", *methods, ""])


def _methods(kind: type) -> Iterator[tuple[str, object]]:
    """List the public methods and properties of a class, with those of its own bases, in their order."""
    seen: dict[str, object] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("ipmicra"):
            seen.update(vars(base))
    for name, member in seen.items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield f"`{name}`", member.fget
        elif isinstance(member, FunctionType | classmethod | staticmethod):
            call = inspect.unwrap(getattr(member, "__func__", member))
            start = "async " if inspect.iscoroutinefunction(call) else ""
            owner = f"{kind.__name__}." if isinstance(member, classmethod | staticmethod) else ""
            yield f"`{start}{owner}{name}{_cell(_signature(getattr(kind, name)))}`", call


def _signature(thing: object) -> str:
    """Give parameters and result, without `self`."""
    assert callable(thing)  # noqa: S101 - for the type checker
    signature = inspect.signature(thing)
    shown = [
        one.replace(annotation=_Plain(one.annotation)) if isinstance(one.annotation, str) else one
        for one in signature.parameters.values()
        if one.name != "self"
    ]
    result = signature.return_annotation
    result = _Plain(result) if isinstance(result, str) else result
    if isinstance(thing, type):
        result = signature.empty
    text = str(signature.replace(parameters=shown, return_annotation=result))
    return MEMBER.sub(r"\1", PLACE.sub("...", text))


class _Plain:
    """A text that a signature shows without quotes."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _docstring(thing: object) -> str:
    text = inspect.cleandoc(getattr(thing, "__doc__", None) or "")
    if not text:
        sys.exit(f"{thing!r} has no docstring")
    return text


def _cell(text: str) -> str:
    """Fit a text into a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def _notes(kind: type) -> dict[str, str]:
    """Read the texts that stand under the fields of a class."""
    notes: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if not base.__module__.startswith("ipmicra"):
            continue
        (body,) = ast.parse(inspect.cleandoc("\n" + inspect.getsource(base))).body
        assert isinstance(body, ast.ClassDef)  # noqa: S101 - for the type checker
        for above, below in zip(body.body, body.body[1:], strict=False):
            target = (
                above.target if isinstance(above, ast.AnnAssign) else getattr(above, "targets", [None])[0]
            )
            if (
                isinstance(target, ast.Name)
                and isinstance(below, ast.Expr)
                and isinstance(below.value, ast.Constant)
            ):
                notes[target.id] = inspect.cleandoc(str(below.value.value))
    return notes


def main() -> None:
    """Write the page, or with `--check` tell whether it is up to date."""
    if "--check" not in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
        sys.exit("docs/library.md is out of date: run bin/make-library-docs")


if __name__ == "__main__":
    main()
