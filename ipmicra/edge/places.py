"""The packaged tables of places and the list of public suffixes, read when they are first needed."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import InputError
from ipmicra.locate.gazetteer import Gazetteer
from ipmicra.locate.hostname import RegisteredDomain
from ipmicra.locate.institution import InstitutionTable

TABLES = Path(__file__).with_name("tables")
"""Made by bin/make-location-tables; sources and licences are in docs/location.md."""


def _columns(name: str) -> dict[str, NDArray[Any]]:
    try:
        with np.load(TABLES / name, allow_pickle=False) as stored:
            return {column: stored[column] for column in stored.files}
    except (OSError, ValueError) as error:
        raise InputError(
            f"the table {name} of ipmicra cannot be read; install ipmicra again ({error})"
        ) from error


@cache
def load_gazetteer() -> Gazetteer:
    """Give cities, airports, countries and regions."""
    return Gazetteer(_columns("gazetteer.npz"))


@cache
def load_institutions() -> InstitutionTable:
    """Give domains of institutions with their places."""
    return InstitutionTable.from_columns(_columns("institutions.npz"))


@cache
def load_registered_domain() -> RegisteredDomain:
    """Give the function that tells registered domains, by the packaged list of public suffixes.

    Only suffixes of registries count: what companies let their customers use is still the company's place.
    """
    from publicsuffixlist import PublicSuffixList

    registered: RegisteredDomain = PublicSuffixList(only_icann=True).privatesuffix
    return registered
