"""What `delegated` asks: somebody who finds crawlers for sites by probes of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ipmicra.partition.problem import Column, Problem


class Decider(Protocol):
    """A delegator that can probe the sites of a problem."""

    def decide(self, problem: Problem) -> Column:
        """Return the crawler of each site, starting with nothing delegated."""

    def decide_again(self, before: Problem, after: Problem) -> Column:
        """Go on from what `decide` gave for the fleet before: the last crawler has joined, or left."""
