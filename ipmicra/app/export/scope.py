"""What an export is about, and what it had to leave out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ipmicra.app.export.rows import ExportRow, SiteRows

EXAMPLES = 3
"""Sites that are named for each reason."""
SEVERAL_VANTAGES = "seen from several vantages by different crawlers, and this format has one per host"
TWICE = "its crawler has it for another vantage already"
IPV6_HOST = "its name is an IPv6 address, which this format cannot hold"
NO_NAME = "its name is its address"
WHOLE = "cut into pieces: this format has whole hosts, so each goes to the crawler of its rest"


@dataclass(slots=True)
class Tally:
    """How many sites a reason applies to, and the first of them."""

    count: int = 0
    examples: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    """The last sites that were counted: one may come up in several files."""


@dataclass(slots=True)
class LeftOut:
    """What an export could not hold, by reason; and remarks on what it holds."""

    sites: dict[str, Tally] = field(default_factory=dict)
    remarks: dict[str, Tally] = field(default_factory=dict)

    def leave(self, name: str, reason: str) -> None:
        """Note that a site, or a text that was to be one, is left out."""
        _note(self.sites, name, reason)

    def remark(self, name: str, words: str) -> None:
        """Note something about a site that is exported."""
        _note(self.remarks, name, words)

    @property
    def count(self) -> int:
        """How many were left out."""
        return sum(one.count for one in self.sites.values())

    def lines(self) -> list[str]:
        """Say it in one line for each reason."""
        left = [f"left out {_words(one)}: {reason}" for reason, one in self.sites.items()]
        return [*left, *(f"{_words(one)}: {words}" for words, one in self.remarks.items())]


def _note(into: dict[str, Tally], name: str, reason: str) -> None:
    tally = into.setdefault(reason, Tally())
    if name in tally.seen:
        return
    if len(tally.seen) >= 10_000:  # noqa: PLR2004 - sites come in order: one seen long ago does not come again
        tally.seen.clear()
    tally.seen.add(name)
    tally.count += 1
    if len(tally.examples) < EXAMPLES:
        tally.examples.append(name)


def _words(one: Tally) -> str:
    named = ", ".join(one.examples) + (", …" if one.count > len(one.examples) else "")
    return f"{one.count:,} ({named})"


@dataclass(slots=True, kw_only=True)
class ExportScope:
    """One export: for whom, and with what it is told besides the sites."""

    crawler: str | None = None
    """Only what this crawler owns; None for everything."""
    proxies: Mapping[str, str] = field(default_factory=dict)
    """URLs of proxies by crawler, for crawlers that fetch through them."""
    left_out: LeftOut = field(default_factory=LeftOut)


def owned(sites: Iterable[SiteRows], left_out: LeftOut) -> list[SiteRows]:
    """Return the sites that have an owner; others are left out, with the reason that the store has."""
    found = []
    for rows in sites:
        kept = tuple(one for one in rows if one.crawler is not None)
        for one in rows:
            if one.crawler is None:
                left_out.leave(one.host, one.reason)
        if kept:
            found.append(kept)
    return found


def rows_of(sites: Iterable[SiteRows], crawler: str | None) -> list[SiteRows]:
    """Return the rows of one crawler; all if none is named."""
    if crawler is None:
        return list(sites)
    kept = (tuple(one for one in rows if one.crawler == crawler) for rows in sites)
    return [rows for rows in kept if rows]


def starts_of(sites: Sequence[SiteRows], scope: ExportScope) -> Iterator[tuple[ExportRow, str]]:
    """Return the URLs at which crawls begin, once for each crawler."""
    for rows in rows_of(sites, scope.crawler):
        seen: set[tuple[str | None, str]] = set()
        for one in rows:
            for url in one.starts:
                if (one.crawler, url) in seen:
                    scope.left_out.leave(f"{one.host} from {one.vantage}", TWICE)
                else:
                    seen.add((one.crawler, url))
                    yield one, url


def whole_hosts(sites: Sequence[SiteRows], scope: ExportScope) -> Iterator[ExportRow]:
    """Return one row for each host, for formats that have one owner per host."""
    for rows in sites:
        rests = [one for one in rows if one.is_rest] or list(rows[-1:])
        if len({one.crawler for one in rests}) > 1:
            scope.left_out.leave(rows[0].host, SEVERAL_VANTAGES)
            continue
        if len({one.crawler for one in rows}) > 1:
            scope.left_out.remark(rows[0].host, WHOLE)
        if scope.crawler is None or rests[0].crawler == scope.crawler:
            yield rests[0]
