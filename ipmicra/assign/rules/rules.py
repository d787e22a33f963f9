"""Rules applied: which crawlers are left for a site, and from which vantages it is owned.

Theory of operation
-------------------
All rules that match a site act together. Crawlers that a rule forbids are out, and so are those that are
missing in any `only`; of what is left, preferred ones go first as long as one of them is there. A site's
vantages are those of all matching rules; without one it has a single owner, and its vantage is empty.

| matching rules | crawlers left |
|---|---|
| none | all |
| `only=A`, `only=B` | those in both |
| `forbid=A` | all but those in A |
| `prefer=A` | those in A that are left, else all that are left |
| `vantage=x:A`, `vantage=y:B` | one owner of those in A, one of those in B |

A rule on hosts (`host`, `suffix`) acts when a site is assigned. A rule on countries, organisations or
prefixes may cover a whole subnet: then it also decides who is asked to probe for it, see `covers`.

Two rules contradict each other if every site that one matches is matched by the other too, and both together
can leave no crawler, whatever the fleet. Such a file is refused. Rules that leave no crawler of today's fleet
are no contradiction: a crawler may be on its way; those sites are reported without an owner.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import combinations

from ipmicra.assign.rules.grammar import Network, Rule, Vantage, When, Who, read_rules
from ipmicra.assign.rules.regions import REGIONS
from ipmicra.errors import InputError
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteFacts:
    """What rules ask about a site."""

    host: str
    address: Address
    country: str | None = None
    """Of its registration."""
    organisation: frozenset[str] = frozenset()
    """Name and handle of the organisation that holds it, folded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Crawlers that may own a site, for one vantage."""

    vantage: str
    """Empty if no rule names one."""
    crawlers: tuple[int, ...]
    """Columns of the fleet; empty if rules leave none."""
    rules: tuple[Rule, ...]
    """Those that matched, in the order of the file."""

    @property
    def reason(self) -> str:
        """Name the rules: `rule 3`, `rules 3 and 7`."""
        return rule_names(self.rules)


class Rules:
    """A file of rules."""

    def __init__(self, rules: Sequence[Rule], name: str = "rules") -> None:
        """Take rules that were read; see `Rules.read`."""
        self.rules, self.name = tuple(rules), name

    def __len__(self) -> int:
        """Count the rules."""
        return len(self.rules)

    def __repr__(self) -> str:
        """Say how many there are."""
        return f"<Rules {self.name}: {len(self)}>"

    @classmethod
    def read(cls, text: str, name: str) -> Rules:
        """Read and check a file's text.

        Raises:
            InputError: Lines make no sense, or contradict each other.
        """
        rules = read_rules(text, name)
        clashes = [
            f"{one}\n  {other}\n  {why}"
            for one, other in combinations(rules, 2)
            if (why := contradiction(one, other)) is not None
        ]
        clashes += [f"{rule}\n  {why}" for rule in rules if (why := _own_contradiction(rule)) is not None]
        if clashes:
            raise InputError(
                f"{name}: rules contradict each other, so none is used:\n  " + "\n  ".join(clashes)
            )
        return cls(rules, name)

    def matching(self, facts: SiteFacts) -> tuple[Rule, ...]:
        """Return the rules that match a site, in the order of the file."""
        return tuple(rule for rule in self.rules if matches(rule.when, facts))

    def choices(self, facts: SiteFacts, crawlers: Sequence[Crawler]) -> tuple[Choice, ...]:
        """Return who may own a site: one choice per vantage, at least one."""
        return choices_of(self.matching(facts), crawlers)

    def covering(self, facts: SiteFacts, first: Address, last: Address) -> tuple[Rule, ...]:
        """Return the rules that hold for every address of a site's subnet."""
        return tuple(rule for rule in self.rules if covers(rule.when, facts, first, last))


def choices_of(rules: Sequence[Rule], crawlers: Sequence[Crawler]) -> tuple[Choice, ...]:
    """Return who may own a site that these rules match."""
    left = list(range(len(crawlers)))
    for rule in rules:
        if rule.only:
            left = [one for one in left if is_any(crawlers[one], rule.only)]
        left = [one for one in left if not is_any(crawlers[one], rule.forbid)]
    vantages = [vantage for rule in rules for vantage in rule.vantages] or [Vantage(name="", crawlers=())]
    preferred = [who for rule in rules for who in rule.prefer]
    found = []
    for vantage in {one.name: one for one in vantages}.values():
        some = [one for one in left if not vantage.crawlers or is_any(crawlers[one], vantage.crawlers)]
        first = [one for one in some if is_any(crawlers[one], preferred)]
        found.append(Choice(vantage=vantage.name, crawlers=tuple(first or some), rules=tuple(rules)))
    return tuple(found)


def matches(when: When, facts: SiteFacts) -> bool:
    """Return whether all conditions hold for a site."""
    host = facts.host.casefold()
    return (
        (not when.hosts or any(fnmatchcase(host, pattern) for pattern in when.hosts))
        and (not when.suffixes or any(_ends(host, suffix) for suffix in when.suffixes))
        and (not when.countries or facts.country in when.countries)
        and (not when.organisations or not facts.organisation.isdisjoint(when.organisations))
        and (not when.prefixes or any(facts.address in network for network in when.prefixes))
    )


def covers(when: When, facts: SiteFacts, first: Address, last: Address) -> bool:
    """Return whether conditions hold for all hosts of the subnet that a site's facts were taken from."""
    if when.names_hosts or not matches(when, facts):
        return False
    return not when.prefixes or any(first in network and last in network for network in when.prefixes)


def is_any(crawler: Crawler, some: Iterable[Who]) -> bool:
    """Return whether a crawler is one of those named."""
    return any(_is(crawler, who) for who in some)


def _is(crawler: Crawler, who: Who) -> bool:
    country = crawler.location.country if crawler.location else None
    if who.kind == "name":
        return crawler.name == who.value
    if who.kind == "country":
        return country == who.value
    if who.kind == "region":
        # Geography decides where it can; the operator's own word where it cannot.
        if who.value in REGIONS and country is not None:
            return country in REGIONS[who.value]
        return crawler.labels.get("region", "").casefold() == who.value
    label, equals, value = who.value.partition("=")
    return crawler.labels.get(label) == value if equals else who.value in crawler.labels.values()


def _ends(host: str, suffix: str) -> bool:
    return host == suffix or host.endswith(f".{suffix}")


def rule_names(rules: Sequence[Rule]) -> str:
    """Name rules by their lines: `rule 3`, `rules 3, 7`."""
    lines = ", ".join(str(rule.line) for rule in rules)
    return f"rule{'s' if len(rules) > 1 else ''} {lines}"


def contradiction(one: Rule, other: Rule) -> str | None:
    """Say why two rules cannot both be obeyed, whatever the fleet; None if they can."""
    if not (_implies(one.when, other.when) or _implies(other.when, one.when)):
        return None
    if one.only and other.only and _are_apart(one.only, other.only):
        return "no crawler can be in both"
    for allowed, forbidden in ((one, other), (other, one)):
        if allowed.only and set(allowed.only) <= set(forbidden.forbid):
            return "one forbids all that the other allows"
    theirs = {vantage.name: vantage for vantage in other.vantages}
    for vantage in one.vantages:
        if vantage.name in theirs and vantage != theirs[vantage.name]:
            return f"vantage {vantage.name} is not the same in both"
    for restricting, seen in ((one, other), (other, one)):
        why = _unseen(restricting, seen.vantages)
        if why is not None:
            return why
    return None


def _own_contradiction(rule: Rule) -> str | None:
    """Say why a rule leaves no crawler by itself."""
    if rule.only and set(rule.only) <= set(rule.forbid):
        return "it forbids all that it allows"
    return _unseen(rule, rule.vantages)


def _unseen(rule: Rule, vantages: Iterable[Vantage]) -> str | None:
    for vantage in vantages:
        if rule.only and _are_apart(rule.only, vantage.crawlers):
            return f"no crawler that is allowed can see it from {vantage.name}"
        if set(vantage.crawlers) <= set(rule.forbid):
            return f"it forbids all that can see it from {vantage.name}"
    return None


def _are_apart(some: Sequence[Who], others: Sequence[Who]) -> bool:
    """Return whether no crawler can be in both: other names, other countries, countries outside regions."""
    return all(_cannot_be(one, other) for one in some for other in others)


def _cannot_be(one: Who, other: Who) -> bool:
    if one.kind == other.kind and one.kind in {"name", "country"}:
        return one.value != other.value
    if {one.kind, other.kind} == {"country", "region"}:
        country, region = (one, other) if one.kind == "country" else (other, one)
        return region.value in REGIONS and country.value not in REGIONS[region.value]
    if one.kind == other.kind == "region" and {one.value, other.value} <= REGIONS.keys():
        return REGIONS[one.value].isdisjoint(REGIONS[other.value])
    return False


def _implies(narrow: When, wide: When) -> bool:
    """Return whether every site that one condition matches is matched by the other; False if unsure."""
    return (
        _within(narrow.countries, wide.countries)
        and _within(narrow.organisations, wide.organisations)
        and _hosts_within(narrow, wide)
        and _prefixes_within(narrow.prefixes, wide.prefixes)
    )


def _within(narrow: Sequence[str], wide: Sequence[str]) -> bool:
    return not wide or (bool(narrow) and set(narrow) <= set(wide))


def _hosts_within(narrow: When, wide: When) -> bool:
    suffixes_hold = not wide.suffixes or (
        bool(narrow.suffixes)
        and all(any(_ends(one, other) for other in wide.suffixes) for one in narrow.suffixes)
    )
    if wide.suffixes and not suffixes_hold and narrow.hosts:
        suffixes_hold = all(
            any(_ends(one.replace("*", "x").replace("?", "x"), other) for other in wide.suffixes)
            for one in narrow.hosts
        )
    return suffixes_hold and _within(narrow.hosts, wide.hosts)


def _prefixes_within(narrow: Sequence[Network], wide: Sequence[Network]) -> bool:
    def inside(one: Network, other: Network) -> bool:
        return one.version == other.version and one.subnet_of(other)  # type: ignore[arg-type]

    return not wide or (bool(narrow) and all(any(inside(one, other) for other in wide) for one in narrow))
