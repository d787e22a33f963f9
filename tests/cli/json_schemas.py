"""The JSON that commands print, compared with the schemas in `docs/schemas`.

A schema has the names that a command promises and the type of each; `null` stands for what is unknown.
Further names are allowed: they come with new versions. With `UPDATE_SCHEMAS=1` new names are added
to the schemas instead; names and types that are there stay.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from jsonschema_rs import validator_for

FOLDER = Path(__file__).parents[2] / "docs" / "schemas"
Schema = dict[str, Any]
KEYED = {"labels", "options", "unprobed_by_evidence", "tally", "counts", "published", "rows", "places"}
"""Objects whose keys are data: no key of theirs is promised."""


def path_of(command: str) -> Path:
    """Return the file with the schema of a command."""
    return FOLDER / f"{command.replace(' ', '-')}.json"


def check_output(command: str, value: Any) -> None:
    """See that what a command printed is as its schema says."""
    path = path_of(command)
    if os.environ.get("UPDATE_SCHEMAS"):
        known = json.loads(path.read_text()) if path.exists() else {}
        title = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": f"ipmicra {command} --json",
        }
        FOLDER.mkdir(exist_ok=True)
        path.write_text(
            json.dumps(title | merged(known, schema_of(value)), indent=1, ensure_ascii=False) + "\n"
        )
    schema = json.loads(path.read_text())
    problems = [
        f"{'/'.join(map(str, one.instance_path))}: {one.message}"
        for one in validator_for(schema).iter_errors(value)
    ]
    assert problems == [], f"ipmicra {command} --json: {problems[:5]}"


def schema_of(value: Any, name: str = "") -> Schema:
    """Describe a value: names and types."""
    if isinstance(value, dict):
        if name in KEYED:
            return {"type": ["object", "null"]}
        fields = {key: schema_of(one, key) for key, one in value.items()}
        return {"type": ["object", "null"], "properties": fields, "required": sorted(fields)}
    if isinstance(value, list):
        items: Schema = {}
        for one in value:
            items = merged(items, schema_of(one))
        return {"type": ["array", "null"], **({"items": items} if items else {})}
    if value is None:
        return {}
    kinds = {bool: "boolean", int: "number", float: "number", str: "string"}
    return {"type": [kinds[type(value)], "null"]}


def merged(one: Schema, other: Schema) -> Schema:
    """Join what two values of the same place show; what only some have is not required."""
    if not one or not other:
        return one or other
    both = dict(one)
    both["type"] = [*one["type"], *(kind for kind in other["type"] if kind not in one["type"])]
    if "properties" in one and "properties" in other:
        names = {**one["properties"], **other["properties"]}
        both["properties"] = {
            name: merged(one["properties"].get(name, {}), other["properties"].get(name, {})) for name in names
        }
        both["required"] = sorted(set(one["required"]) & set(other["required"]))
    elif "properties" in other:
        both |= {key: other[key] for key in ("properties", "required")}
    if "items" in one or "items" in other:
        both["items"] = merged(one.get("items", {}), other.get("items", {}))
    return both
