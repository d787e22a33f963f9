"""One try to find a crawler for a subnet, and the account of it: why each crawler was asked or not.

An attempt collects what happens between the arrival of a site and the choice of a crawler. It is OPEN until
its policy asks, WAITING while probes are out or its site is being located, and SETTLED or ABANDONED at its
end (`NEXT_STAGE`). Then the account is written from it, which is what `ipmicra explain` shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum, auto
from math import inf
from typing import Any

from ipmicra.errors import LifeCycleError
from ipmicra.model.address import Address
from ipmicra.model.delegation import Delegation, Evidence, Origin
from ipmicra.model.location import Hint, Location
from ipmicra.model.probe import Probe
from ipmicra.model.sample import Loss, Sample
from ipmicra.model.site import Site

KNOWN = "its sample was known"
DUE = "holds the subnet, which is due to be measured again"
DOUBTED = "holds the subnet, and pages do not come as its round trip says"


class Stage(Enum):
    """What an attempt can be."""

    OPEN = auto()
    WAITING = auto()
    SETTLED = auto()
    ABANDONED = auto()


class StageStep(Enum):
    """What happens to an attempt."""

    PROBE_ASKED = auto()
    PROBES_IN = auto()
    PLACE_ASKED = auto()
    PLACE_FOUND = auto()
    CRAWLER_CHOSEN = auto()
    NOBODY_LEFT = auto()


NEXT_STAGE = {
    (Stage.OPEN, StageStep.PROBE_ASKED): Stage.WAITING,
    (Stage.OPEN, StageStep.PLACE_ASKED): Stage.WAITING,
    (Stage.OPEN, StageStep.CRAWLER_CHOSEN): Stage.SETTLED,
    (Stage.OPEN, StageStep.NOBODY_LEFT): Stage.ABANDONED,
    (Stage.WAITING, StageStep.PROBES_IN): Stage.OPEN,
    (Stage.WAITING, StageStep.PLACE_FOUND): Stage.OPEN,
    (Stage.WAITING, StageStep.NOBODY_LEFT): Stage.ABANDONED,
}


def next_stage(stage: Stage, step: StageStep) -> Stage:
    """Follow the table; a step that is not in it raises."""
    try:
        return NEXT_STAGE[stage, step]
    except KeyError:
        raise LifeCycleError(stage.name, step.name) from None


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask these crawlers, by index, all at once."""

    crawlers: tuple[int, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Settle:
    """Delegate the subnet to this crawler, by index."""

    crawler: int
    evidence: Evidence
    rtt_ms: float | None
    reason: str
    steps: tuple[Considered, ...] = ()
    """Where it could not be probed: what each step of the fallback said."""
    origin: Origin | None = None
    """The subnet that the answer was taken over from, if it was."""
    chance: Callable[[], float] | None = field(default=None, compare=False, repr=False)
    """How likely the crawler is the nearest of all, if the policy can say; computed on demand."""


Choice = Ask | Settle


class Occasion(Enum):
    """Why a subnet is contested that somebody holds."""

    JOINED = auto()
    """A crawler joined that may be nearer."""
    RECHECK = auto()
    """It is time to measure it again."""
    AGAIN = auto()
    """The user wants it decided anew."""


@dataclass(frozen=True, slots=True)
class Review:
    """What an attempt knows of the delegation that it may replace, and that stays in force until then."""

    occasion: Occasion
    holder: int
    """Index of the crawler that holds the subnet."""
    delegation: Delegation
    newcomers: tuple[int, ...] = ()
    """Crawlers that joined since its crawler was last compared with others."""
    since_s: float = 0.0
    """Samples that were taken before this do not answer its probes."""
    doubt: str = ""
    """Why it is measured before its time; empty if it is not."""


@dataclass(slots=True)
class Attempt:
    """What is known in the course of a try. Crawlers are indices of the fleet."""

    number: int
    key: int
    row: int
    """The subnet's row, the root's for a slice."""
    address: Address
    location: Location | None
    """None, too, if the samples say that the place is wrong."""
    sites: list[Site] = field(default_factory=list)
    """Sites of the subnet that wait for the answer; the first one started it."""
    known: tuple[int, ...] = ()
    """Crawlers whose sample was there before."""
    asked: list[int] = field(default_factory=list)
    samples: dict[int, float] = field(default_factory=dict)
    """Round trips in ms, by crawler."""
    compared: dict[int, float] = field(default_factory=dict)
    """Those of them that were compared with each other: whether they can be of one place."""
    losses: dict[int, Loss] = field(default_factory=dict)
    rejected: dict[int, float] = field(default_factory=dict)
    """Round trips that cannot be true, most of them because the place makes them impossible."""
    outstanding: set[int] = field(default_factory=set)
    reasons: dict[int, str] = field(default_factory=dict)
    """Why each crawler was asked."""
    is_mutual: bool = False
    """Whether its samples are of another crawler, not of a site."""
    is_check: bool = False
    """Whether it checks a delegation that would have answered: somebody is to probe."""
    found: Hint | str | None = None
    """What came of locating the site with more effort: a vote, or why there is none; None if not tried."""
    by_place: Settle | None = None
    """What the policy would settle on by the place alone, since all its probes were lost."""
    stage: Stage = Stage.OPEN
    review: Review | None = None
    """Why a subnet is contested that somebody holds; None for one that was free."""
    owner: int | None = None
    """The crawler that stands in the subnet and joined meanwhile: it gets it, whatever is measured."""
    scratch: Any = None
    """The policy's own notes."""

    @property
    def probes(self) -> int:
        """Count the probes asked for, without those that the budget did not allow."""
        return len(self.asked) - sum(loss is Loss.BUDGET for loss in self.losses.values())

    @property
    def best(self) -> int | None:
        """The crawler with the shortest round trip so far; the one that was asked first among equals."""
        return min(self.samples, key=self.samples.__getitem__, default=None)

    @property
    def against_place(self) -> dict[int, float]:
        """The rejected round trips that are possible elsewhere: if the place is wrong, they are samples."""
        return {crawler: rtt_ms for crawler, rtt_ms in self.rejected.items() if 0 < rtt_ms < inf}

    def probe_by(self, crawler: int, name: str, reason: str) -> Probe:
        """Note that a crawler is asked; return the probe of the site that started the attempt."""
        site = self.sites[0]
        self.asked.append(crawler)
        self.outstanding.add(crawler)
        self.reasons[crawler] = reason
        return Probe(
            crawler=name,
            address=self.address,
            host=None if site.host == str(site.address) else site.host,
            scheme=site.scheme,
            port=site.port,
        )

    def readmit(self) -> None:
        """Use samples after all that only a wrong place made impossible."""
        for crawler, rtt_ms in self.against_place.items():
            del self.rejected[crawler]
            self.losses.pop(crawler, None)
            self.samples[crawler] = rtt_ms

    def follow(self, step: StageStep) -> None:
        """Go on to the next stage."""
        self.stage = next_stage(self.stage, step)

    def was_tried(self, crawler: int) -> bool:
        """Return whether a crawler was asked or is known."""
        return crawler in self.reasons or crawler in self.samples

    def first_ask(self) -> Ask | None:
        """Return what comes before the policy: the holder of a subnet that is due measures it again."""
        review = self.review
        if review is None or review.occasion is not Occasion.RECHECK or self.asked:
            return None
        return Ask((review.holder,), f"{DOUBTED}: {review.doubt}" if review.doubt else DUE)

    def note_if_weak(self, settle: Settle) -> bool:
        """Note an answer by the place alone, after probes that were all lost; return whether it is one."""
        is_weak = settle.evidence is Evidence.GEOLOCATED and bool(self.losses) and not self.samples
        self.by_place = settle if is_weak else None
        return is_weak

    def locate(self, found: Hint | str) -> None:
        """Take in what came of locating the site with more effort; an answer by another place is void."""
        self.found = found
        if isinstance(found, Hint) and found.location != self.location:
            self.location, self.by_place = found.location, None

    def is_unprobeable(self, losses_allowed: int, usable: Sequence[int]) -> bool:
        """Return whether no further probe is worth while: too many are lost, or all of them."""
        if self.samples or not self.losses:
            return False
        return len(self.losses) >= losses_allowed or all(self.was_tried(crawler) for crawler in usable)


class Verdict(StrEnum):
    """What became of a crawler in an attempt."""

    CHOSEN = "chosen"
    """It got the subnet; the reason says why the search ended."""
    KNOWN = "known"
    """It had a sample of the subnet before."""
    ASKED = "asked"
    NOT_ASKED = "not-asked"
    STEP = "step"
    """No crawler, but a step of the fallback, by its name: the reason says what it answered, or why not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Considered:
    """One crawler in one attempt."""

    crawler: str
    verdict: Verdict
    reason: str
    expected_ms: float | None = None
    """The round trip that the policy expected before it asked, or at the end if it did not."""
    saving_ms: float | None = None
    """Expected saving of a probe."""
    rtt_ms: float | None = None
    loss: Loss | None = None


def _nobody(_most: int) -> list[Considered]:
    return []


@dataclass(frozen=True, slots=True)
class Others:
    """The crawlers that were not asked: named on demand, because most accounts are never read."""

    count: int = 0
    named: Callable[[int], list[Considered]] = _nobody
    """Names so many of them, those with the highest expected saving first."""


@dataclass(frozen=True, slots=True)
class Account:
    """All that was considered in one attempt."""

    tried: tuple[Considered, ...]
    """The chosen crawler with the reason why the search ended, then those known or asked, in order; then the
    steps of the fallback, if there was one."""
    rest: Others = field(default=Others(), compare=False, repr=False)
    chance: Callable[[], float] | None = field(default=None, compare=False, repr=False)
    """How likely the chosen crawler is the nearest of all, if the policy can say."""
    _written: dict[int, tuple[Considered, ...]] = field(default_factory=dict, compare=False, repr=False)
    """What was written down of it, by the number of others named: many sites may share an account."""

    def entries(self) -> list[Considered]:
        """Write all of it."""
        return [*self.tried, *self.rest.named(self.rest.count)]

    def written(self, most: int) -> tuple[Considered, ...]:
        """Write down all who were tried, and of the others those with the highest expected saving."""
        found = self._written.get(most)
        if found is not None:
            return found
        kept = self.rest.named(most)
        if kept and self.rest.count > most:
            kept[-1] = replace(kept[-1], reason=f"{kept[-1].reason} (and {self.rest.count - most} more)")
        self._written[most] = (*self.tried, *kept)
        return self._written[most]


def account_of(attempt: Attempt, settle: Settle, name_of: Callable[[int], str], rest: Others) -> Account:
    """Write down why each crawler was asked or not, the chosen one's reason first."""
    chosen = Considered(
        crawler=name_of(settle.crawler), verdict=Verdict.CHOSEN, reason=settle.reason, rtt_ms=settle.rtt_ms
    )
    known = [
        Considered(crawler=name_of(one), verdict=Verdict.KNOWN, reason=KNOWN, rtt_ms=attempt.samples.get(one))
        for one in attempt.known
    ]
    asked = [
        Considered(
            crawler=name_of(one),
            verdict=Verdict.ASKED,
            reason=attempt.reasons[one],
            rtt_ms=attempt.samples.get(one),
            loss=attempt.losses.get(one),
        )
        for one in attempt.asked
    ]
    return Account((chosen, *known, *asked, *settle.steps), rest, settle.chance)


def by_address(
    samples: Iterable[Sample], index_of: Callable[[str], int | None]
) -> dict[Address, dict[int, float]]:
    """Return the round trips of samples by address and crawler; those of unknown crawlers are left out."""
    found: dict[Address, dict[int, float]] = {}
    for one in samples:
        crawler = index_of(one.crawler)
        if crawler is not None and one.rtt_ms is not None:
            found.setdefault(one.address, {})[crawler] = one.rtt_ms
    return found
