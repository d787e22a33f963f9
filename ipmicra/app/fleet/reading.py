"""Crawlers from what a user wrote: options, TOML, CSV and JSON files."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ipmicra.errors import AddressError, InputError
from ipmicra.model.address import read_address
from ipmicra.model.crawler import Capacity, Crawler
from ipmicra.model.location import Location

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
LABELS = ("region", "provider")
"""Labels that have a column of their own in files."""
FIELDS = (
    *("name", "address", "agent_url", "latitude", "longitude", "radius_km", "city", "country", "labels"),
    *("bandwidth_mbps", "memory_gb", "max_pieces", "connections"),
    *LABELS,
)
_PROBLEMS_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportConfig:
    """What is assumed of a crawler whose file does not say."""

    radius_km: float = 25.0
    """An operator who gives a place means a city."""
    max_bytes: int = 16_000_000
    """Largest file; a crawler takes some 200 bytes, so this is far beyond any fleet."""


def read_crawlers(path: Path, config: ImportConfig | None = None) -> list[Crawler]:
    """Read a file of crawlers; problems are told together, and then none is taken."""
    records = _records(path, config or ImportConfig())
    crawlers: list[Crawler] = []
    problems: list[str] = []
    for number, record in enumerate(records, 1):
        try:
            crawlers.append(crawler_of(record))
        except InputError as error:
            problems.append(f"crawler {number}: {error}")
    problems += [f"crawler {name!r} is there twice" for name in _repeated(one.name for one in crawlers)]
    if problems:
        more = f"; and {len(problems) - _PROBLEMS_SHOWN} more" if len(problems) > _PROBLEMS_SHOWN else ""
        raise InputError(f"{path}: nothing was imported: " + "; ".join(problems[:_PROBLEMS_SHOWN]) + more)
    if not crawlers:
        raise InputError(f"{path}: there are no crawlers in it")
    return crawlers


def crawler_of(record: Mapping[str, Any], config: ImportConfig | None = None) -> Crawler:
    """Make a crawler of its fields; empty texts count as missing."""
    fields = {key: value for key, value in record.items() if value is not None and value != ""}
    unknown = sorted(str(key) for key in fields.keys() - set(FIELDS))
    if unknown:
        raise InputError(f"unknown: {', '.join(unknown)}; known are {', '.join(FIELDS)}")
    return Crawler(
        name=_name(fields),
        address=_address(fields),
        agent_url=read_agent_url(fields["agent_url"]) if "agent_url" in fields else None,
        location=_location(fields, config or ImportConfig()),
        labels=_labels(fields),
        capacity=Capacity(
            bandwidth_mbps=_positive(fields, "bandwidth_mbps"),
            memory_gb=_positive(fields, "memory_gb"),
            max_pieces=_whole(fields, "max_pieces"),
            connections=_whole(fields, "connections"),
        ),
    )


def read_agent_url(text: object) -> str:
    """Check the address of an agent: http or https, a host, nothing secret in it."""
    try:
        parts = urlsplit(str(text).strip())
        is_usable = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or 1) > 0
    except ValueError as error:
        raise InputError(f"agent URL {text!r}: {error}") from error
    if not is_usable or parts.query or parts.fragment:
        raise InputError(f"agent URL {text!r} must look like https://HOST:PORT")
    if parts.username or parts.password:
        raise InputError(
            "no names or passwords in an agent URL: the token comes from a file or the environment"
        )
    return str(text).strip().rstrip("/")


def _records(path: Path, config: ImportConfig) -> list[Mapping[str, Any]]:
    if path.stat().st_size > config.max_bytes:
        raise InputError(f"{path} is larger than {config.max_bytes:,} bytes; this is no file of crawlers")
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix.lower() == ".csv":
            return _csv_records(text)
        if path.suffix.lower() not in {".toml", ".json"}:
            raise InputError(f"{path}: crawlers are read from .toml, .csv and .json files")
        content = tomllib.loads(text) if path.suffix.lower() == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: {error}") from error
    if isinstance(content, dict):
        content = content.get("crawler", content.get("crawlers"))
    if not isinstance(content, list) or not all(isinstance(one, dict) for one in content):
        raise InputError(f"{path}: expected a list of crawlers: [[crawler]] in TOML, [{{…}}, …] in JSON")
    return content


def _csv_records(text: str) -> list[Mapping[str, Any]]:
    reader = csv.DictReader(text.splitlines(), strict=True)
    try:
        rows = list(reader)
    except csv.Error as error:
        raise InputError(f"line {reader.line_num}: {error}") from error
    for row in rows:
        if None in row:
            raise InputError(f"a line has more cells than the header: {row[None]}")
    return rows  # type: ignore[return-value]


def _name(fields: Mapping[str, Any]) -> str:
    name = fields.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InputError(f"name {name!r}: letters, digits, `.`, `_`, `-`, 64 at most, are a name")
    return name


def _address(fields: Mapping[str, Any]) -> Any:  # noqa: ANN401 - IPv4Address or IPv6Address
    if "address" not in fields:
        raise InputError("the address is missing")
    try:
        return read_address(str(fields["address"]))
    except AddressError as error:
        raise InputError(f"address {error}; give the crawler's public address, not a name") from error


def _location(fields: Mapping[str, Any], config: ImportConfig) -> Location | None:
    if ("latitude" in fields) != ("longitude" in fields):
        raise InputError("latitude and longitude go together")
    if "latitude" not in fields:
        if {"city", "country", "radius_km"} & fields.keys():
            raise InputError("a city or country needs latitude and longitude beside it")
        return None
    country = str(fields["country"]).upper() if "country" in fields else None
    if country is not None and not re.fullmatch("[A-Z]{2}", country):
        raise InputError(f"country {country!r} is not two letters")
    return Location(
        latitude=_number(fields, "latitude", -90, 90),
        longitude=_number(fields, "longitude", -180, 180),
        radius_km=_positive(fields, "radius_km") or config.radius_km,
        city=str(fields["city"]) if "city" in fields else None,
        country=country,
    )


def _labels(fields: Mapping[str, Any]) -> dict[str, str]:
    given = fields.get("labels", {})
    if isinstance(given, str):
        given = read_labels(given.split(";"))
    if not isinstance(given, dict) or not all(isinstance(v, str | int | float) for v in given.values()):
        raise InputError("labels are words by key: region=south;provider=example")
    own = {key: fields[key] for key in LABELS if key in fields}
    return {str(key): str(value) for key, value in {**given, **own}.items()}


def read_labels(texts: Iterable[str]) -> dict[str, str]:
    """Read `key=word` texts."""
    labels: dict[str, str] = {}
    for text in texts:
        key, is_pair, word = text.strip().partition("=")
        if not is_pair or not key.strip():
            raise InputError(f"label {text!r} is not of the form KEY=WORD")
        labels[key.strip()] = word.strip()
    return labels


def _number(fields: Mapping[str, Any], key: str, low: float, high: float) -> float:
    try:
        number = float(fields[key])
    except (TypeError, ValueError) as error:
        raise InputError(f"{key} {fields[key]!r} is no number") from error
    if not low <= number <= high:
        raise InputError(f"{key} {fields[key]!r} is not between {low} and {high}")
    return number


def _positive(fields: Mapping[str, Any], key: str) -> float | None:
    if key not in fields:
        return None
    number = _number(fields, key, 0, 1e9)
    if number <= 0:
        raise InputError(f"{key} must be above zero")
    return number


def _whole(fields: Mapping[str, Any], key: str) -> int | None:
    number = _positive(fields, key)
    if number is not None and number != int(number):
        raise InputError(f"{key} {fields[key]!r} is no whole number")
    return None if number is None else int(number)


def _repeated(names: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    return [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
