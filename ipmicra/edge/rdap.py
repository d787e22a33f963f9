"""Asking the registries for one address at a time (RDAP, by ipwhois): slow, so answers are kept."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Any, Protocol

from ipmicra.edge.store.ports import Address, Graft
from ipmicra.errors import FetchError


class RegistrationSource(Protocol):
    """Who knows whose an address is."""

    def ask(self, address: Address) -> Graft | None:
        """Give the registration around an address, None if there is none; `FetchError` if nobody answers."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RdapConfig:
    """How to ask. [1] ARIN and RIPE NCC ask for about one question a second from one place."""

    interval_s: float = 1.0
    """Time between two questions [1]."""
    timeout_s: int = 10
    tries: int = 2
    """Tries beyond the first."""
    pause_s: int = 60
    """How long to wait when a registry says that it was asked too often."""


class RdapSource:
    """Asks by RDAP, one question at a time."""

    def __init__(
        self,
        config: RdapConfig | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """Ask no more often than the settings allow."""
        self._config = config or RdapConfig()
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()
        self._next_s = 0.0

    def ask(self, address: Address) -> Graft | None:
        """Give the registration around an address; None for one that no registry gives out."""
        from ipwhois import IPDefinedError  # loaded where somebody asks

        with self._lock:
            self._sleep(max(0.0, self._next_s - self._clock()))
            try:
                found = self._look_up(str(address))
            except IPDefinedError:
                return None
            except Exception as error:
                raise FetchError(f"RDAP for {address}", str(error) or type(error).__name__) from error
            finally:
                self._next_s = self._clock() + self._config.interval_s
        return read_rdap(found, address, self._clock())

    def _look_up(self, address: str) -> dict[str, Any]:
        from ipwhois import IPWhois

        logging.getLogger("ipwhois").setLevel(logging.ERROR)
        config = self._config
        answer: dict[str, Any] = IPWhois(address, timeout=config.timeout_s).lookup_rdap(
            bootstrap=True,
            retry_count=config.tries,
            rate_limit_timeout=config.pause_s,
            inc_nir=False,
            get_asn_description=False,
        )
        return answer


def read_rdap(answer: dict[str, Any], address: Address, asked_s: float) -> Graft | None:
    """Read an answer of ipwhois; one that is not around the address is none."""
    network = answer.get("network") or {}
    try:
        first, last = ip_address(network["start_address"]), ip_address(network["end_address"])
    except (KeyError, TypeError, ValueError):
        prefix = str(network.get("cidr") or "").split(",")[0].strip()
        try:
            block = ip_network(prefix)
        except ValueError:
            return None
        first, last = block[0], block[-1]
    if first.version != address.version or not int(first) <= int(address) <= int(last):
        return None
    country = str(network.get("country") or "").upper()
    entities = answer.get("entities") or []
    return Graft(
        first=first,
        last=last,
        handle=str(entities[0]) if entities else _text(network.get("handle")),
        name=_text(network.get("name")) or _text(network.get("handle")) or "unnamed",
        country=country if len(country) == 2 else None,  # noqa: PLR2004 - ISO 3166
        asked_s=asked_s,
    )


def _text(value: object) -> str | None:
    return str(value)[:200] if value else None
