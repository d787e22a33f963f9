"""The text of rules: one rule per line.

Theory of operation
-------------------
A line says when it applies, an arrow, and what follows; `#` starts a comment:

    country=DE                     -> only=region:EU
    suffix=.example host=www.*     -> prefer=fra,ams forbid=tag:cheap
    organisation="Acme Ltd"        -> only=country:GB,country:IE
    host=shop.example              -> vantage=japan:country:JP vantage=brazil:country:BR
    any                            -> forbid=tag:provider=slowhost

Conditions of a line must all hold; commas within one mean "or". Crawlers are named by name, `tag:VALUE` (any
label has that value), `tag:LABEL=VALUE`, `country:XX` or `region:NAME`; commas mean "or" here too.

It is a line per rule, not TOML or YAML, because a rule that is refused must be quoted, and two that
contradict each other both: so the operator sees the line that was written. Everything is read at once and all
mistakes of a file are reported together; a file with any mistake is not used at all, for half of the rules
can be worse than none.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network

from ipmicra.errors import InputError

ARROW = "->"
LARGEST = 1_000_000
"""Characters of a file; 10,000 rules and more."""
PROBLEMS_SHOWN = 3
"""Lines of a message about a file; the last may count what is left out."""
QUOTED = 100
"""Characters of a line that are quoted."""
VANTAGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_COUNTRY = re.compile(r"[A-Za-z]{2}")
Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Who:
    """Some crawlers: by name, tag, country or region."""

    kind: str
    """`name`, `tag`, `country` or `region`."""
    value: str

    def __str__(self) -> str:
        """Write it as a rule does."""
        return self.value if self.kind == "name" else f"{self.kind}:{self.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """Conditions; an empty one always holds."""

    hosts: tuple[str, ...] = ()
    """Patterns with `*` and `?`."""
    suffixes: tuple[str, ...] = ()
    """Without the leading dot."""
    countries: tuple[str, ...] = ()
    organisations: tuple[str, ...] = ()
    """Names or handles, folded."""
    prefixes: tuple[Network, ...] = ()

    @property
    def names_hosts(self) -> bool:
        """Whether it depends on the host; else it covers whole subnets."""
        return bool(self.hosts or self.suffixes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vantage:
    """A named requirement on where a site is seen from."""

    name: str
    crawlers: tuple[Who, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One line."""

    line: int
    """From 1."""
    text: str
    when: When
    only: tuple[Who, ...] = ()
    prefer: tuple[Who, ...] = ()
    forbid: tuple[Who, ...] = ()
    vantages: tuple[Vantage, ...] = ()

    def __str__(self) -> str:
        """Quote it."""
        return f"line {self.line}: {self.text}"


def read_rules(text: str, name: str) -> list[Rule]:
    """Read a file's text.

    Raises:
        InputError: A line makes no sense; the message quotes it and says what was expected.
    """
    if len(text) > LARGEST:
        raise InputError(f"{name}: more than {LARGEST:,} characters: no file of rules is that long")
    rules, problems = [], []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
            if words:
                rules.append(_rule(number, line.strip(), words))
        except (InputError, ValueError) as error:
            problems.append(f"line {number}: {line.strip()[:QUOTED]!r}: {error}")
    if problems:
        shown = problems[:PROBLEMS_SHOWN]
        if len(problems) > PROBLEMS_SHOWN:
            shown[-1] = f"and {len(problems) - PROBLEMS_SHOWN + 1} more"
        raise InputError(f"{name}: these rules cannot be read, so none is used:\n  " + "\n  ".join(shown))
    return rules


def _rule(number: int, text: str, words: list[str]) -> Rule:
    if words.count(ARROW) != 1:
        raise InputError(
            f"expected conditions, one {ARROW}, and what follows: country=DE {ARROW} only=region:EU"
        )
    middle = words.index(ARROW)
    when = _when(words[:middle])
    then: dict[str, list[Who]] = {"only": [], "prefer": [], "forbid": []}
    vantages: list[Vantage] = []
    for key, value in _pairs(words[middle + 1 :]):
        if key == "vantage":
            vantages.append(_vantage(value))
        elif key in then:
            then[key] += [_who(one) for one in _several(value)]
        else:
            raise InputError(f"{key!r} is none of only, prefer, forbid, vantage")
    names = [vantage.name for vantage in vantages]
    if len(set(names)) < len(names):
        raise InputError("it names a vantage twice")
    if not vantages and not any(then.values()):
        raise InputError("nothing follows from it: add only=, prefer=, forbid= or vantage=")
    found = {key: tuple(value) for key, value in then.items()}
    return Rule(line=number, text=text, when=when, vantages=tuple(vantages), **found)


def _when(words: list[str]) -> When:
    if words == ["any"]:
        return When()
    if not words:
        raise InputError("it has no condition: write any if it holds for all sites")
    readers: dict[str, tuple[str, Callable[[str], object]]] = {
        "host": ("hosts", lambda text: text.rstrip(".").casefold()),
        "suffix": ("suffixes", _suffix),
        "country": ("countries", _country),
        "organisation": ("organisations", str.casefold),
        "prefix": ("prefixes", _prefix),
    }
    found: dict[str, tuple[object, ...]] = {}
    for key, value in _pairs(words):
        if key not in readers:
            raise InputError(f"{key!r} is none of any, {', '.join(readers)}")
        name, read = readers[key]
        if name in found:
            raise InputError(f"{key} stands twice: join the values by a comma")
        # A name of an organisation may contain a comma.
        texts = [value] if key == "organisation" else _several(value)
        found[name] = tuple(read(one) for one in texts)
    return When(**found)  # type: ignore[arg-type]


def _pairs(words: list[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not value:
            raise InputError(f"{word!r} lacks a value: write {key or 'country'}=…")
        yield key.casefold(), value


def _several(value: str) -> list[str]:
    texts = [one.strip() for one in value.split(",")]
    if not all(texts):
        raise InputError(f"an empty value in {value!r}")
    return texts


def _who(text: str) -> Who:
    kind, colon, value = text.partition(":")
    if not colon:
        return Who("name", text)
    kind = kind.casefold()
    if kind == "country":
        return Who(kind, _country(value))
    if kind == "region":
        return Who(kind, value.casefold())
    if kind == "tag" and value:
        return Who(kind, value)
    raise InputError(f"{text!r} names no crawlers: write a name, tag:…, country:XX or region:…")


def _vantage(value: str) -> Vantage:
    name, colon, crawlers = value.partition(":")
    if not colon or not VANTAGE_NAME.fullmatch(name):
        raise InputError(f"{value!r} is no vantage: write vantage=NAME:country:JP")
    return Vantage(name=name, crawlers=tuple(_who(one) for one in _several(crawlers)))


def _suffix(text: str) -> str:
    suffix = text.strip(".").casefold()
    if not suffix or "*" in suffix:
        raise InputError(f"{text!r} is no suffix: write suffix=.de or host=*.de")
    return suffix


def _country(text: str) -> str:
    if not _COUNTRY.fullmatch(text):
        raise InputError(f"{text!r} is no country: write its two letters, as DE")
    return text.upper()


def _prefix(text: str) -> Network:
    try:
        return ip_network(text)
    except ValueError as error:
        raise InputError(f"{text!r} is no prefix: {error}") from error
