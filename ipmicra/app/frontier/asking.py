"""Ask a coordinator for the owners of hosts, for the proxy."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from ipmicra.app.connect.link import CoordinatorLink
from ipmicra.app.crawl.owners import block_of
from ipmicra.edge.frontier.routes import OwnedPart, Verdict
from ipmicra.errors import AddressError, CoordinatorError, MessageError
from ipmicra.model.address import read_address

FINAL = {"bad-input", "unresolved", "nobody"}
"""Problems of a host that do not go away by asking again soon."""
VANTAGES = "vantage-needed"


class CoordinatorAsker:
    """Asks `/v1/owners`; sites with several vantages once more, for each."""

    def __init__(self, link: CoordinatorLink) -> None:
        """Use an open link."""
        self._link = link

    async def ask(self, hosts: Sequence[str]) -> AsyncIterator[Verdict]:
        """Return a verdict for each host, as they come."""
        several: list[tuple[str, list[str]]] = []
        at = 0
        async for record in self._link.lines("POST", "/v1/owners", lines="\n".join(hosts).encode()):
            host, at = hosts[at], at + 1
            problem = record.get("problem")
            if problem is not None and _kind(problem) == VANTAGES:
                several.append((host, _vantages(host, str(problem["detail"]))))
            else:
                yield _verdict(host, [record])
        if at != len(hosts):
            raise CoordinatorError(self._link.url, f"{at} answers to {len(hosts)} questions")
        for host, vantages in several:
            asked = [{"host": host, "vantage": one} for one in vantages]
            yield _verdict(host, [await self._link.json("GET", "/v1/owner", one) for one in asked])


def _kind(problem: dict[str, Any]) -> str:
    return str(problem["type"]).rpartition(":")[2]


def _vantages(host: str, detail: str) -> list[str]:
    return [one.strip() for one in detail.removeprefix(f"{host}:").split(",") if one.strip()]


def _verdict(host: str, records: Sequence[dict[str, Any]]) -> Verdict:
    parts: list[OwnedPart] = []
    for record in records:
        problem = record.get("problem")
        if problem is not None:
            is_final = _kind(problem) in FINAL
            return Verdict(host=host, is_final=is_final, reason=str(problem["detail"]))
        parts += _parts(record)
    return Verdict(host=host, parts=tuple(parts))


def _parts(record: dict[str, Any]) -> list[OwnedPart]:
    try:
        subnet = record["subnet"] or ""
        key = block_of(read_address(record["address"]), subnet)
        pieces = record["pieces"] or [{"crawler": record["crawler"], "filters": []}]
        return [
            OwnedPart(
                crawler=str(one["crawler"]),
                key=key,
                subnet=subnet or key,
                vantage=record["vantage"] or "",
                filters=tuple(map(str, one["filters"])),
            )
            for one in pieces
        ]
    except (KeyError, TypeError, ValueError, AddressError) as error:
        raise MessageError(f"the coordinator sent an owner that makes no sense: {error}") from error
