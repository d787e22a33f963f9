"""Read fields of a JSON object, each within its bounds."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar

from ipmicra.errors import AddressError, MessageError, UnknownVersionError
from ipmicra.model.address import Address, read_address
from ipmicra.wire.limits import VERSIONS

Object = Mapping[str, Any]
Word = TypeVar("Word", bound=StrEnum)
_HOST = re.compile(r"(?!-)(?=.{1,253}$)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?")
"""What is a host name to `edge/files/seeds.py` is one here: else one odd host would spoil a whole request."""
_SURROGATE = re.compile(r"\\u[dD]")
_MAX_PORT = 65_535


def read_object(data: bytes | str, limit: int) -> Object:
    """Read a JSON object of a version that is spoken here."""
    content = read_json(data, limit)
    version = content.get("version")
    if type(version) is not int or version not in VERSIONS:
        raise UnknownVersionError(str(version)[:40] if version is not None else None, VERSIONS)
    return content


def read_json(data: bytes | str, limit: int) -> Object:
    """Read a JSON object of any version."""
    if len(data) > limit:
        raise MessageError(f"a message of {len(data):,} bytes is over the limit of {limit:,}")
    try:
        text = data if isinstance(data, str) else data.decode()
        content = _decode(text)
    except (ValueError, RecursionError) as error:
        raise MessageError(f"no JSON: {str(error)[:200]}") from error
    if _SURROGATE.search(text) and not is_writable(content):
        raise MessageError("a text has half a character in it")
    if not isinstance(content, dict):
        raise MessageError(f"expected an object, got {type(content).__name__}")
    return content


def is_writable(content: object) -> bool:
    """Return whether all texts of a document can be encoded: JSON may escape half of a surrogate pair."""
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is no number")


_decode = json.JSONDecoder(parse_constant=_refuse).decode


def known_only(content: Object, names: frozenset[str]) -> None:
    """Refuse unknown fields: a mistyped one must not be taken for missing."""
    if not content.keys() <= names:
        raise MessageError(f"unknown field {min(content.keys() - names)[:40]!r}")


def text(content: Object, name: str, limit: int, *, default: str | None = None) -> str:
    """Read a text of bounded length."""
    value = content.get(name, default)
    if not isinstance(value, str) or len(value) > limit:
        raise MessageError(f"{name} must be a text of at most {limit} characters")
    return value


def number(content: Object, name: str, low: float, high: float, *, default: float | None = None) -> float:
    """Read a number within bounds."""
    return bounded(content.get(name, default), name, low, high)


def bounded(value: object, name: str, low: float, high: float) -> float:
    """Return a value if it is a number within bounds."""
    if type(value) is not float and type(value) is not int:
        raise MessageError(f"{name} must be a number")
    if not (low <= value <= high and math.isfinite(value)):
        raise MessageError(f"{name} must be between {low:g} and {high:g}")
    return float(value)


def number_or_none(content: Object, name: str, low: float, high: float) -> float | None:
    """Read a number within bounds, or nothing."""
    value = content.get(name)
    return None if value is None else bounded(value, name, low, high)


def whole(content: Object, name: str, low: int, high: int, *, default: int | None = None) -> int:
    """Read a whole number within bounds."""
    value = content.get(name, default)
    if type(value) is not int or not low <= value <= high:
        raise MessageError(f"{name} must be a whole number between {low} and {high}")
    return value


def flag(content: Object, name: str, *, default: bool = False) -> bool:
    """Read true or false."""
    value = content.get(name, default)
    if not isinstance(value, bool):
        raise MessageError(f"{name} must be true or false")
    return value


def word(content: Object, name: str, kind: type[Word]) -> Word | None:
    """Read one of some words, or nothing."""
    value = content.get(name)
    if value is None:
        return None
    try:
        return kind(value)
    except ValueError as error:
        raise MessageError(f"{name} must be one of {', '.join(kind)}") from error


def address(content: Object, name: str) -> Address | None:
    """Read an address, or nothing; a scope such as %eth0 is refused."""
    value = content.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > 45 or "%" in value:  # noqa: PLR2004 - longest text of IPv6
        raise MessageError(f"{name} must be an address")
    try:
        return read_address(value)
    except AddressError as error:
        raise MessageError(f"{name}: {error}") from error


def host(content: Object, name: str) -> str | None:
    """Read a host name, or nothing; nothing that could break out of a header is one."""
    value = content.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not is_host_name(value):
        raise MessageError(f"{name} must be a host name of ASCII letters, digits, `-`, `_` and dots")
    return value.rstrip(".").lower()


def is_host_name(value: str) -> bool:
    """Return whether a text is a host name that messages may carry."""
    return value.isascii() and _HOST.fullmatch(value) is not None


def port(content: Object, name: str) -> int | None:
    """Read a port, or nothing."""
    return None if content.get(name) is None else whole(content, name, 1, _MAX_PORT)
