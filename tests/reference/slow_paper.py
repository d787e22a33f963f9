"""The procedure of Papapetrou & Samaras 2004, slow and obviously right: a loop for each sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ipmicra.delegate.subnets import SubnetTree


def slow_delegation(
    tree: SubnetTree,
    target: int,
    holders: Mapping[int, str],
    rtt_of: Callable[[str], float],
    crawlers: list[str],
    *,
    threshold_ms: float,
    is_beyond: bool,
) -> tuple[str, list[str]]:
    """Return the crawler of a free subnet, and who was asked, in order.

    `holders` are the delegated subnets in the order in which they were given.
    """
    company = tree.organisation_number(target)
    same = [one for row, one in holders.items() if company and tree.organisation_number(row) == company]
    if len(set(same)) == 1:
        return same[0], []
    asked: dict[str, float] = {}
    for crawler in dict.fromkeys(same):
        asked[crawler] = rtt_of(crawler)
        if asked[crawler] < threshold_ms:
            return crawler, list(asked)
    if asked and not is_beyond:
        return min(asked, key=asked.__getitem__), list(asked)
    for crawler in [*_climbing(tree, target, holders), *crawlers]:
        if crawler not in asked:
            asked[crawler] = rtt_of(crawler)
            if asked[crawler] < threshold_ms:
                return crawler, list(asked)
    return min(asked, key=asked.__getitem__), list(asked)


def _climbing(tree: SubnetTree, target: int, holders: Mapping[int, str]) -> Iterator[str]:
    """Return the holders inside each ancestor, the nearest by address first; the narrowest ancestor first."""
    above = tree.parent(target)
    while above is not None:
        inside = [row for row in holders if row == above or row in set(tree.descendants(above))]
        for row in sorted(sorted(inside), key=lambda row: abs(row - target)):
            if row != target:
                yield holders[row]
        above = tree.parent(above)
