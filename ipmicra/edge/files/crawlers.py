"""Lists of crawlers: the one reader for all commands, so that a file means the same to each of them.

A list is a table with a row per crawler (`name,address[,latitude,longitude,…]`) in any form that `tables.py`
reads, or TOML with a `[[crawler]]` each. `read_crawlers` is lenient: a field that makes no sense is a
finding and counts as missing. `import_crawlers` is strict, for a fleet that is about to be stored: any
finding refuses the file.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ipmicra.edge.files.fields import Fields
from ipmicra.edge.files.lines import Note, name_of, read_text
from ipmicra.edge.files.tables import Record, read_records
from ipmicra.errors import AddressError, InputError
from ipmicra.model.address import Address, read_address
from ipmicra.model.crawler import Capacity, Crawler
from ipmicra.model.location import Location

RADIUS_KM = 25.0
"""How far a crawler may be from its coordinates if the file does not say: an operator means a city."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
LABELS = ("region", "provider")
"""Labels that have a column of their own."""
COLUMNS = (
    *("name", "address", "agent_url", "latitude", "longitude", "radius_km", "city", "country", "labels"),
    *("bandwidth_mbps", "memory_gb", "max_pieces", "connections", "holder", "capacity", "load"),
    *LABELS,
)
PRINTED = frozenset({"crawler", "subnet", "state", "joined", "changed"})
"""Further columns that our own commands print; they are read over, so that their output can be imported."""
LARGEST_TOML = 16_000_000
"""Characters; far beyond any fleet."""
_PROBLEMS_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlerRow:
    """One crawler of a list."""

    where: str
    """Where it stands, in words."""
    name: str
    address: Address | None
    """None if the list has none, or a wrong one: most commands need it, some do not."""
    agent_url: str | None = None
    location: Location | None = None
    country: str | None = None
    """Also where there are no coordinates."""
    labels: dict[str, str] = field(default_factory=dict)
    capacity: Capacity = field(default_factory=Capacity)
    holder: str = ""
    """Who holds its subnet, if the list says."""
    share: float = 1.0
    """How much it can take beside the others; the column is called `capacity`."""
    load: float | None = None

    @property
    def lacks_address(self) -> str:
        """The message about a crawler without an address."""
        return f"{self.where}: crawler {self.name} has no address; add its public address"

    @property
    def crawler(self) -> Crawler:
        """The crawler, as the fleet has it."""
        if self.address is None:
            raise InputError(self.lacks_address)
        return Crawler(
            name=self.name,
            address=self.address,
            agent_url=self.agent_url,
            location=self.location,
            labels=self.labels,
            capacity=self.capacity,
        )


def read_crawlers(path: Path, note: Note, *, radius_km: float = RADIUS_KM) -> list[CrawlerRow]:
    """Read a list of crawlers; rows without a name are left out, and of a repeated name the first counts.

    Raises:
        InputError: It cannot be read, or there is no crawler in it.
    """
    rows = crawler_rows(_records(path, note), note, radius_km=radius_km)
    if not rows:
        raise InputError(
            f"{name_of(path)}: there are no crawlers in it; expected a header `name,address,…` and a row each"
        )
    return rows


def crawler_rows(
    records: Iterable[tuple[str, Record]], note: Note, *, radius_km: float = RADIUS_KM
) -> list[CrawlerRow]:
    """Read crawlers from records, each with where it stands."""
    rows: dict[str, CrawlerRow] = {}
    for where, record in records:
        row = _row(Fields(record, where, note), radius_km)
        if row is None:
            note(f"{where}: a crawler without a name")
        elif row.name in rows:
            note(f"{where}: crawler {row.name!r} is listed twice")
        else:
            rows[row.name] = row
    return list(rows.values())


def import_crawlers(path: Path) -> list[Crawler]:
    """Read a list of crawlers that is to be stored; problems are reported together, and none is taken.

    Raises:
        InputError: Something in the list makes no sense.
    """
    problems: list[str] = []
    file_name = name_of(path)
    records = list(_records(path, problems.append))
    if not any(record.get("name") for _, record in records):
        raise InputError(
            f"{file_name}: there are no crawlers in it; "
            "expected a table `name,address,…` or a .toml file with [[crawler]]"
        )
    for where, record in records:
        problems += [f"{where}: {one}" for one in _objections(record)]
    rows = crawler_rows(records, problems.append)
    addressed = {where for where, record in records if record.get("address")}
    # An address that cannot be read has been reported by now.
    problems += [row.lacks_address for row in rows if row.where not in addressed]
    if problems:
        shown = [problem.removeprefix(f"{file_name}, ") for problem in problems[:_PROBLEMS_SHOWN]]
        more = f"; and {len(problems) - _PROBLEMS_SHOWN} more" if len(problems) > _PROBLEMS_SHOWN else ""
        raise InputError(f"{file_name}: nothing was imported: " + "; ".join(shown) + more)
    return [row.crawler for row in rows]


def crawler_of(record: Mapping[str, Any]) -> Crawler:
    """Make a crawler of its fields, as strictly as an import; None and empty texts count as missing."""
    texts = {key: _text(value) for key, value in record.items()}
    problems = list(_objections(texts))
    rows = crawler_rows([("crawler", texts)], problems.append)
    if problems:
        raise InputError("; ".join(problem.removeprefix("crawler: ") for problem in problems))
    return rows[0].crawler


def _row(fields: Fields, radius_km: float) -> CrawlerRow | None:
    name, country = fields.text("name", "crawler"), fields.country()
    if name is None:
        return None
    return CrawlerRow(
        where=fields.where,
        name=name,
        address=fields.attempt(_public_address, "address"),
        agent_url=fields.attempt(read_agent_url, "agent_url"),
        location=fields.place(radius_km, country),
        country=country,
        labels=(fields.attempt(_labels, "labels") or {}) | _own_labels(fields),
        capacity=Capacity(
            bandwidth_mbps=fields.positive("bandwidth_mbps"),
            memory_gb=fields.positive("memory_gb"),
            max_pieces=fields.whole("max_pieces"),
            connections=fields.whole("connections"),
        ),
        holder=fields.text("holder") or "",
        share=fields.positive("capacity") or 1.0,
        load=fields.number("load"),
    )


def _public_address(text: str) -> Address:
    try:
        return read_address(text)
    except AddressError as error:
        raise AddressError(text, f"{error.reason}; use the crawler's public address, not a name") from error


def _objections(record: Mapping[str, str]) -> Iterator[str]:
    """Say what a fleet does not take although it can be read."""
    unknown = sorted(record.keys() - {*COLUMNS, *PRINTED})
    if unknown:
        yield f"unknown: {', '.join(unknown)}; known are {', '.join(COLUMNS)}"
    name = record.get("name", "")
    if not NAME.fullmatch(name):
        yield f"name {name!r}: letters, digits, `.`, `_`, `-`, 64 at most, are a name"
    if not record.get("latitude") and any(record.get(key) for key in ("city", "country", "radius_km")):
        yield "a city or country needs latitude and longitude beside it"


def read_agent_url(text: str) -> str:
    """Check the URL of an agent: http or https, a host, nothing secret in it."""
    try:
        parts = urlsplit(text.strip())
        is_usable = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or 1) > 0
    except ValueError as error:
        raise InputError(f"agent URL: {error}; it must look like https://HOST:PORT") from error
    if parts.username or parts.password:
        raise InputError(
            "no names or passwords in an agent URL: the token comes from a file or the environment"
        )
    if not is_usable or parts.query or parts.fragment:
        raise InputError(f"agent URL {text!r} must look like https://HOST:PORT")
    return text.strip().rstrip("/")


def read_labels(texts: Iterable[str]) -> dict[str, str]:
    """Read `key=word` texts."""
    labels: dict[str, str] = {}
    for text in texts:
        key, is_pair, word = text.strip().partition("=")
        if not is_pair or not key.strip():
            raise InputError(f"label {text!r} is not of the form KEY=WORD")
        labels[key.strip()] = word.strip()
    return labels


def _labels(text: str) -> dict[str, str]:
    """Read labels: `region=south;provider=example`, or a JSON object."""
    if not text.startswith("{"):
        return read_labels(text.split(";"))
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"labels {text[:200]!r} are no JSON") from error
    if not all(isinstance(value, str | int | float) for value in content.values()):
        raise InputError("labels are words by key: region=south;provider=example")
    return {str(key): str(value) for key, value in content.items()}


def _own_labels(fields: Fields) -> dict[str, str]:
    return {key: text for key in LABELS if (text := fields.text(key))}


# --- TOML


def _records(path: Path, note: Note) -> Iterator[tuple[str, Record]]:
    if path.suffix.lower() == ".toml":
        return _toml(path)
    return read_records(path, (), note, within=("crawler", "crawlers"))


def _toml(path: Path) -> Iterator[tuple[str, Record]]:
    name = name_of(path)
    content = read_text(path, LARGEST_TOML + 1)
    if len(content) > LARGEST_TOML:
        raise InputError(f"{name} is larger than {LARGEST_TOML:,} characters; this is no list of crawlers")
    try:
        parsed = tomllib.loads(content.replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: {error}") from error
    listed = parsed.get("crawler", parsed.get("crawlers"))
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise InputError(f"{name}: expected a list of crawlers, a [[crawler]] each")
    for number, one in enumerate(listed, 1):
        yield f"{name}, crawler {number}", {key.lower(): _text(value) for key, value in one.items()}


def _text(value: object) -> str:
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, dict | list) else str(value)
