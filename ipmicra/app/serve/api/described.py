"""What the checked-in description of the API says; `docs/api.md` is made of it, too."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def document() -> bytes:
    """Return the description, as it is checked in."""
    return files("ipmicra.app.serve.api").joinpath("openapi.json").read_bytes()


@cache
def description() -> dict[str, Any]:
    """Return the description, read."""
    found: dict[str, Any] = json.loads(document())
    return found


@cache
def parameters_of(method: str, path: str) -> frozenset[str]:
    """Return the names of the parameters in the query of a resource."""
    operation = description()["paths"].get(path, {}).get(method.lower(), {})
    known = description()["components"]["parameters"]
    found = [
        known[one["$ref"].rpartition("/")[2]] if "$ref" in one else one
        for one in operation.get("parameters", ())
    ]
    return frozenset(one["name"] for one in found if one["in"] == "query")
