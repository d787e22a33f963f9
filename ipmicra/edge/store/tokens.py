"""Keep who may come in: hashes of tokens, and the agents that joined by calling out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple
from typing import get_type_hints

from ipmicra.edge.store.connection import Connection, in_transaction
from ipmicra.edge.store.ports import AgentRecord
from ipmicra.edge.store.schema import Row, Table
from ipmicra.model.token import Role, TokenRecord

_TOKEN_FIELDS = {**get_type_hints(TokenRecord), "role": str}
_AGENT_FIELDS = get_type_hints(AgentRecord)
TOKENS = Table("tokens", _TOKEN_FIELDS, key=("hash",))
AGENTS = Table("agents", _AGENT_FIELDS, key=("crawler",))
_TOKEN, _AGENT = TOKENS.shape(), AGENTS.shape()


class TokenTable:
    """Tokens by their hash."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def add(self, token: TokenRecord) -> None:
        """Keep a new token."""
        self._connection.execute(TOKENS.insert, astuple(token))

    def all(self) -> list[TokenRecord]:
        """Return all tokens, oldest first."""
        return self._connection.read(_TOKEN, _token_of, "ORDER BY created_s, name, role")

    def find(self, token_hash: bytes) -> TokenRecord | None:
        """Return the token of a hash."""
        return self._connection.read_one(_TOKEN, _token_of, "WHERE hash = ?", (token_hash,))

    @in_transaction
    def revoke(self, hashes: Iterable[bytes], at_s: float) -> int:
        """Make tokens unusable from now on; return how many were not revoked before."""
        sql = "UPDATE tokens SET revoked_s = ? WHERE hash = ? AND revoked_s IS NULL"
        return sum(self._connection.execute(sql, (at_s, one)) for one in hashes)

    def use_many(self, used: Iterable[tuple[bytes, float]]) -> None:
        """Note when tokens were last used."""
        rows = [(at_s, token_hash) for token_hash, at_s in used]
        self._connection.execute_many("UPDATE tokens SET last_used_s = ? WHERE hash = ?", rows)

    def mark(self) -> tuple[int, int, float]:
        """Return numbers that change whenever a token is added or revoked."""
        found = self._connection.row(
            "SELECT count(*), count(revoked_s), coalesce(max(created_s), 0.0) FROM tokens"
        )
        return (int(found[0]), int(found[1]), float(found[2])) if found else (0, 0, 0.0)


class AgentTable:
    """Agents that call out, by their crawler."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def put(self, agent: AgentRecord) -> None:
        """Keep an agent in place of the one that its crawler had."""
        self._connection.execute(AGENTS.put, astuple(agent))

    def get(self, crawler: str) -> AgentRecord | None:
        """Return the agent of a crawler."""
        return self._connection.read_one(_AGENT, _agent_of, "WHERE crawler = ?", (crawler,))

    def all(self) -> list[AgentRecord]:
        """Return all, by crawler."""
        return self._connection.read(_AGENT, _agent_of, "ORDER BY crawler")

    def saw_many(self, seen: Iterable[tuple[str, float]]) -> None:
        """Note when agents were last heard of."""
        rows = [(at_s, crawler) for crawler, at_s in seen]
        self._connection.execute_many("UPDATE agents SET seen_s = ? WHERE crawler = ?", rows)

    def forget(self, crawler: str) -> bool:
        """Remove the agent of a crawler; return whether there was one."""
        return self._connection.execute("DELETE FROM agents WHERE crawler = ?", (crawler,)) > 0


def _token_of(row: Row) -> TokenRecord:
    values = dict(zip(_TOKEN_FIELDS, row, strict=True))
    return TokenRecord(**{**values, "role": Role(values["role"])})


def _agent_of(row: Row) -> AgentRecord:
    return AgentRecord(**dict(zip(_AGENT_FIELDS, row, strict=True)))
