"""The packaged tables of places and the list of public suffixes, read when they are first needed."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ipmicra.edge.files.npz import read_npz
from ipmicra.errors import InputError
from ipmicra.locate.gazetteer import Gazetteer
from ipmicra.locate.hostname import RegisteredDomain
from ipmicra.locate.institution import InstitutionTable

TABLES = Path(__file__).parent
"""Made by bin/make-location-tables; sources and licences are in docs/location.md."""


def _columns(name: str) -> dict[str, NDArray[Any]]:
    try:
        return read_npz(TABLES / name)
    except (OSError, InputError) as error:
        raise InputError(
            f"the table {name} of ipmicra cannot be read; install ipmicra again ({error})"
        ) from error


@cache
def load_gazetteer() -> Gazetteer:
    """Return cities, airports, countries and regions."""
    return Gazetteer(_columns("gazetteer.npz"))


@cache
def load_institutions() -> InstitutionTable:
    """Return domains of institutions with their places."""
    return InstitutionTable.from_columns(_columns("institutions.npz"))


@cache
def load_registered_domain() -> RegisteredDomain:
    """Return the function that finds registered domains, by the packaged list of public suffixes.

    Only suffixes of registries count: what companies let their customers use is still the company's place.
    """
    from publicsuffixlist import PSLFILE, PublicSuffixList

    rules = frozenset(_registry_rules(Path(PSLFILE).read_text(encoding="utf-8")))
    deep = frozenset(rule.rpartition(".")[2] for rule in rules if "." in rule)
    listed: RegisteredDomain = PublicSuffixList(list(rules), only_icann=False).privatesuffix
    # Ends of rules with three labels or more, and of those with a star or an exception: only the list knows.
    odd = frozenset(
        end
        for rule in rules
        for end in (rule.rpartition(".")[2], ".".join(rule.rsplit(".", 2)[-2:]))
        if rule[0] in "*!" or rule.count(".") > end.count(".") > 0
    )

    def registered_domain(name: str) -> str | None:
        """Cut at the second or third last dot if no longer rule can apply: that is quicker."""
        head, _dot, top = name.rpartition(".")
        second = head.rfind(".") + 1
        if not top.isascii() or top in odd:
            return listed(name)
        if top not in deep:
            return name[second:] if head else None
        if not head or name[second:] in odd or not name.isascii():
            return listed(name)
        if name[second:] not in rules:
            return name[second:]
        return name[head.rfind(".", 0, second - 1) + 1 :] if second else None

    return registered_domain


def _registry_rules(text: str) -> list[str]:
    """Return the rules of registries; those of companies stand behind a line that says so."""
    lines = text.partition("// ===BEGIN PRIVATE DOMAINS===")[0].splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("//")]
