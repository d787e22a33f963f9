"""Writes the table of fields of docs/json.md from the schemas in docs/schemas; `--check` only compares."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("schemas")
PAGE = Path(__file__).with_name("json.md")
BEGIN, END = "<!-- made by docs/make_json_page.py -->", "<!-- end -->"


def fields(schema: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """List the names of a record, those of records inside after a dot."""
    for name, inner in schema.get("properties", {}).items():
        yield f"`{prefix}{name}`"
        inside = inner.get("items", inner)
        yield from fields(inside, f"{prefix}{name}.")


def table() -> str:
    """Write a row per command."""
    rows = ["| command | prints | fields |", "|---|---|---|"]
    for path in sorted(FOLDER.glob("*.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        command = schema["title"].removesuffix(" --json")
        is_list = "array" in schema["type"]
        record = schema.get("items", {}) if is_list else schema
        names = ", ".join(fields(record))
        rows.append(f"| [`{command}`](schemas/{path.name}) | {'list' if is_list else 'object'} | {names} |")
    return "\n".join(rows)


def main() -> None:
    """Write the page, or complain that it is out of date."""
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    made = f"{head}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"
    if "--check" not in sys.argv:
        PAGE.write_text(made, encoding="utf-8")
    elif made != text:
        sys.exit("docs/json.md is out of date: run docs/make_json_page.py")


if __name__ == "__main__":
    main()
