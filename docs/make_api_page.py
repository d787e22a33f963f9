"""Writes docs/api.md, the reference of the HTTP API, from its OpenAPI description."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ipmicra.app.serve.api.app import RESOURCES
from ipmicra.app.serve.api.described import description
from ipmicra.app.serve.refusals import KINDS

PAGE = Path(__file__).with_name("api.md")
HEAD = """# The HTTP API

Written by `bin/make-api-docs` from `ipmicra/app/serve/api/openapi.json`, which a coordinator serves at
`/v1/openapi.json` (OpenAPI 3.1); `bin/lint` compares the two.
[Connect other programs](how-to/connect-programs.md) shows how it is used.

Everything is under `/v1`. Requests carry `Authorization: Bearer TOKEN`; an operator may do everything, a
crawler may ask, an agent may measure. Answers are JSON, lists are streamed as JSON lines
(`application/x-ndjson`). Pages have `limit` and `next`; lists and exports have an `ETag`. Parameters that are
not known are refused.
"""


def main() -> None:
    """Write the page; with --check only compare it."""
    text = "\n".join(page()) + "\n"
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != text:
        print("docs/api.md is out of date: run bin/make-api-docs", file=sys.stderr)
        sys.exit(1)


def page() -> Iterator[str]:
    """Return the lines of the page."""
    document = description()
    yield HEAD
    for tag in document["tags"]:
        yield f"## {tag['description'].rstrip('.')}\n"
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                if tag["name"] in operation["tags"]:
                    yield from resource(document, path, method, operation)
    yield "## Answers\n"
    for name, schema in document["components"]["schemas"].items():
        yield from answer(name, schema)
    yield "## Problems\n"
    yield "Errors are `application/problem+json` (RFC 9457): `type` ends in one of these; see `next`."
    yield ""
    for kind in KINDS.values():
        again = f" May be tried again, after {kind.retry_s} s." if kind.retry_s is not None else ""
        yield f"### {kind.name}\n\n{kind.status}: {kind.title}. {kind.next_step}{again}\n"


def resource(document: dict[str, Any], path: str, method: str, operation: dict[str, Any]) -> Iterator[str]:
    """Return the lines of one method of one path."""
    yield f"### {method.upper()} {path}\n"
    role = next(one.role for one in RESOURCES if (one.method, one.path) == (method.upper(), path))
    who = "Needs no token." if role is None else f"For role {role.value}."
    yield f"{operation['summary']}. {operation.get('description', '')} {who}".replace("  ", " ") + "\n"
    known = document["components"]["parameters"]
    given = operation.get("parameters", ())
    parameters = [known[one["$ref"].rpartition("/")[2]] if "$ref" in one else one for one in given]
    if parameters:
        yield "| parameter | type | meaning |\n|---|---|---|"
        for one in parameters:
            needed = ", needed" if one["required"] else ""
            yield f"| `{one['name']}` | {type_of(one['schema'])}{needed} | {one.get('description', '')} |"
        yield ""
    body = operation.get("requestBody")
    if body:
        kinds = ", ".join(f"`{kind}` ({type_of(of['schema'])})" for kind, of in body["content"].items())
        yield f"Body: {kinds}. {body.get('description', '')}".rstrip() + "\n"
    for status, found in operation["responses"].items():
        if "$ref" not in found:
            kinds = [f"`{kind}` ({type_of(of['schema'])})" for kind, of in found.get("content", {}).items()]
            yield f"- {status}: {found['description']} {', '.join(kinds)}".rstrip()
    yield ""


def answer(name: str, schema: dict[str, Any]) -> Iterator[str]:
    """Return the lines of a schema."""
    yield f"### {name}\n"
    if "description" in schema:
        yield f"{schema['description']}\n"
    if "properties" in schema:
        yield "| field | type |\n|---|---|"
        for field, of in schema["properties"].items():
            needed = "" if field in schema.get("required", ()) else ", may be missing"
            yield f"| `{field}` | {type_of(of)}{needed} |"
        yield ""


def type_of(schema: dict[str, Any]) -> str:
    """Write a type in words."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(map(type_of, schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(f"`{word}`" for word in schema["enum"])
    kinds = schema.get("type", "lines")
    if kinds == "array":
        return f"list of {type_of(schema['items'])}"
    text = " or ".join(kinds) if isinstance(kinds, list) else str(kinds)
    return "date and time" if schema.get("format") == "date-time" else text


if __name__ == "__main__":
    main()
