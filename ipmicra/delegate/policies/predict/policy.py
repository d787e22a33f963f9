"""The policy that beats the paper's: probe where the expected saving exceeds the price of a probe.

Theory of operation
-------------------
A site's round trips to all crawlers are one vector of logarithms, taken after light's own time is subtracted.
Before any probe it has a Gaussian prior: the mean by distance, corrected by what samples of nearby subnets,
holders, countries and regions taught (`prior`, `forest`), and a covariance that says which crawlers
share routes. A sample conditions the vector (`belief`), so it says something of the other crawlers as well.

`decide` then asks for each crawler: by how much would a probe of it shorten the best round trip, on average?
The crawler with the highest saving is probed if that exceeds the price; else the best one so far takes the
subnet. The price rises while more probes are spent than wanted, which keeps the mean number near its target.

1. Without a sample the expected nearest is probed first, unless no crawler can be expected to be much nearer.
   Then the subnet is settled without a probe, except that every `check_every`-th such place is checked.
2. Places may be wrong. `PlacementCheck` compares the density of the samples under the prior of the place with
   that under the location-free prior; where the latter wins, the attempt continues without a place.
3. `learn` passes the samples on to the field once, at the end of an attempt. Samples known before
   (`attempt.known`) were learnt from then.

Why not the mean alone? The saving depends on how unsure a round trip is: a crawler expected at 30 ms give or
take 20 is worth a probe where one expected at 25 ms for certain is not.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.attempt import Ask, Attempt, Choice, Others, Settle
from ipmicra.delegate.config import PredictConfig
from ipmicra.delegate.ledger import Ledger
from ipmicra.delegate.policies.predict.belief import Belief, Savings
from ipmicra.delegate.policies.predict.colocated import Colocated
from ipmicra.delegate.policies.predict.forest import Branches
from ipmicra.delegate.policies.predict.notes import EVEN, Notes, Unasked
from ipmicra.delegate.policies.predict.price import Price
from ipmicra.delegate.policies.predict.prior import Expectation, Field, Geography, Outlook, Samples
from ipmicra.delegate.policies.predict.stakes import Stakes
from ipmicra.delegate.policies.predict.whereabouts import PlacementCheck, Whereabouts
from ipmicra.delegate.ports import Scope, Settlements
from ipmicra.delegate.roster import Roster
from ipmicra.delegate.subnets import SubnetTree, is_narrow
from ipmicra.model.delegation import Evidence
from ipmicra.model.location import Location
from ipmicra.model.types import Floats

LEAST_DOUBT = 0.01
"""A place that is wrong with a lower chance than this is believed."""
NEARLY = 3.0
"""Places that would lose less than so many prices without a probe count as nearly settling a site."""
SPREAD = "sites of its subnet or holder are in several places"


class Predict:
    """Expected savings by a Gaussian model of log round trips, learnt from every sample."""

    name = "predict"
    scope = Scope.PLACE

    def __init__(self, config: PredictConfig | None = None, settlements: Settlements | None = None) -> None:
        """Begin without knowledge; `settlements` say where in a country sites are likely."""
        self.config = config or PredictConfig()
        self._geography = Geography(self.config, settlements)
        self._savings = Savings(self.config.offset_ms, self.config.fixed_ms)
        self._fields: dict[bool, Field] = {}
        self._placement = PlacementCheck(self.config)
        self._whereabouts = Whereabouts(self.config, self._geography)
        self._refuted: set[tuple[int, Location | None]] = set()
        """Subnets and places that were wrong for one of their sites: other sites would get the same."""
        self._spread: list[int] = []
        """Subnets to delegate by slices from now on."""
        self._unchecked = 0
        """Places believed without a probe since the last one."""
        self.price = Price(self.config)
        self._colocated: Colocated | None = None
        self.stakes: Stakes | None = None
        """Pages of the sites, if anybody knows them."""

    def __repr__(self) -> str:
        """Say what was learnt."""
        return f"<Predict: price {self.price_ms:.3f} ms, {self._fields}, {self._placement!r}>"

    def bind(self, roster: Roster, ledger: Ledger, tree: SubnetTree) -> None:
        """Remember what may be looked at."""
        self.roster, self.ledger = roster, ledger
        self._branches = Branches(self.config, tree)
        self._tree = tree

    @property
    def price_ms(self) -> float:
        """What a probe costs now."""
        return self.price.now_ms

    def _price_of(self, attempt: Attempt) -> float:
        """Return what a probe for an attempt's sites costs now."""
        if self.stakes is None:
            return self.price_ms
        return self.price_ms * self.stakes.factor(site.host for site in attempt.sites)

    # --- the fleet

    def crawler_added(self, crawler: int) -> None:
        """Make room for a crawler."""
        place = self.roster.crawlers[crawler].location
        self._geography.add(place)
        self._whereabouts.add_crawler(place)
        self.price.set_fleet(len(self.roster))
        for is_placed, known in self._fields.items():
            known.add_crawler(self._simple(is_placed))

    def _field(self, is_placed: bool) -> Field:  # noqa: FBT001 - the two kinds
        found = self._fields.get(is_placed)
        if found is None:
            found = self._fields[is_placed] = Field(self.config, self._simple(is_placed))
        return found

    def _simple(self, is_placed: bool) -> Floats:  # noqa: FBT001 - the two kinds
        """Return the covariance within a site that is expected before any sample."""
        config = self.config
        if is_placed:
            return config.site_spread**2 + config.pair_spread**2 * self._geography.closeness()
        _mean, covariance = self._geography.nowhere()
        return (
            config.unknown_site_spread**2 + config.pair_spread**2 * self._geography.closeness() + covariance
        )

    # --- an attempt

    def decide(self, attempt: Attempt) -> Choice:
        """Ask the crawler with the highest expected saving, or settle when none is worth its price."""
        notes = self.examined(attempt)
        choice = self._choose(attempt, notes)
        if isinstance(choice, Ask):
            return choice
        if self._colocated is not None:
            choice = self._colocated.by_load(choice, attempt, notes.belief)
        usable = self.roster.usable_flags.nonzero()[0]
        return replace(choice, chance=partial(self._chance, attempt, notes, choice.crawler, usable))

    def _chance(self, attempt: Attempt, notes: Notes, crawler: int, usable: NDArray[np.intp]) -> float:
        """Return how likely a crawler is the nearest, given that the site's place may be wrong."""
        if not notes.prior.outlook.is_placed or notes.is_open or not self._whereabouts.is_known:
            return self._savings.chance(notes.belief, crawler, usable)
        share = self._placement.share(_source(attempt))
        belief = notes.prior.belief(self.config).or_elsewhere(self._anywhere(attempt), share)
        return self._savings.chance(_conditioned(belief, attempt), crawler, usable)

    def _choose(self, attempt: Attempt, notes: Notes) -> Choice:
        best = attempt.best
        if best is None:
            return self._decide_blind(attempt, notes)
        best_ms, is_free = attempt.samples[best], self.roster.free(attempt)
        if not is_free.any():
            return Settle(best, Evidence.PROBED, best_ms, "no other crawler is left to ask")
        savings = self._savings_over(notes, best_ms)
        chosen = int(np.where(is_free, savings, -1.0).argmax())
        price_ms = self._price_of(attempt)
        if savings[chosen] >= price_ms:
            return self._ask(notes, chosen, savings[chosen])
        return Settle(best, Evidence.PROBED, best_ms, notes.why_stop(best_ms, chosen, price_ms))

    def extent(self, attempt: Attempt, crawler: int) -> tuple[bool, str]:
        """Return whether an answer is good for the whole subnet: if another site would lose little by it.

        That site is in a slice of its own, at the same place as far as anybody knows.
        """
        notes, kinship = self._notes(attempt), self._branches.kinship
        if kinship.is_spread(attempt.row):
            return False, SPREAD
        is_placed = notes.prior.outlook.is_placed
        square = kinship.square(attempt.row, is_placed=is_placed)
        beside = self._field(is_placed).expect_beside(notes.prior, square)
        usable = self.roster.usable_flags.nonzero()[0]
        regret, _each = self._savings.regret_among(beside.belief(self.config), crawler, usable, self.price_ms)
        return regret < self.price_ms, f"expected loss of another site of it: {regret:.2f} ms"

    def spread_since(self) -> list[int]:
        """Return subnets delegated as a whole that turned out to be in several places since last asked."""
        found, self._spread = self._spread, []
        return found

    def _decide_blind(self, attempt: Attempt, notes: Notes) -> Choice:
        """Decide without a sample: the expected nearest probes first, unless none can be much nearer."""
        free = self.roster.free(attempt).nonzero()[0]
        usable = free if len(free) else self.roster.usable_flags.nonzero()[0]
        expected = notes.belief.logarithms()
        holder = int(usable[expected[usable].argmin()])
        price_ms = self._price_of(attempt)
        most, savings = self._savings.regret_among(notes.belief, holder, usable, price_ms)
        notes.savings, notes.regret_ms = savings, most
        if most < price_ms and notes.prior.outlook.is_placed:
            most = max(most, self._saving_by_check(attempt))
        if attempt.is_check:
            most = max(most, price_ms)
        if most >= price_ms and len(free):
            savings[holder] = most
            return self._ask(notes, holder, most)
        evidence = Evidence.GEOLOCATED if notes.prior.outlook.is_placed else Evidence.INHERITED
        if self.knows(attempt):
            evidence = Evidence.INHERITED
        why = f"expected loss without a probe: {most:.2f} ms"
        return Settle(holder, evidence, notes.belief.expected_ms(holder), why)

    def _ask(self, notes: Notes, crawler: int, saving_ms: float) -> Ask:
        expected = notes.belief.expected_ms(crawler)
        doubt = "; the samples so far do not fit its place" if notes.is_misplaced else ""
        reason = f"expected at {expected:.1f} ms; expected saving of a probe: {saving_ms:.2f} ms{doubt}"
        return Ask((crawler,), reason)

    def _savings_over(self, notes: Notes, best_ms: float) -> Floats:
        notes.savings = self._savings.over_known(notes.belief, best_ms)
        return notes.savings

    def examined(self, attempt: Attempt) -> Notes:
        """Take in an attempt's samples; if they say that its place is wrong, go on without one."""
        notes = self._notes(attempt)
        self._take_in(attempt, notes)
        if notes.is_misplaced and attempt.location is not None:
            notes.source = _source(attempt)
            self._refuted.add((attempt.row, attempt.location))
            attempt.location = None
        return notes

    def _notes(self, attempt: Attempt) -> Notes:
        if attempt.scratch is None:
            is_refuted = (attempt.row, attempt.location) in self._refuted
            outlook = self._geography.outlook(None if is_refuted else attempt.location)
            prior = self._prior(attempt, outlook)
            is_sought = not outlook.is_placed and self._whereabouts.is_known
            belief = self._anywhere(attempt) if is_sought else prior.belief(self.config)
            attempt.scratch = Notes(prior, belief)
        notes: Notes = attempt.scratch
        return notes

    def _prior(self, attempt: Attempt, outlook: Outlook) -> Expectation:
        known, is_placed = self._field(outlook.is_placed), outlook.is_placed
        branch = self._branches.branch(known.forest, attempt, is_placed=is_placed)
        return known.expect(self._whereabouts.narrowed(attempt, outlook) if is_placed else outlook, branch)

    def _anywhere(self, attempt: Attempt) -> Belief:
        """Return what is believed of a site that may be at any place known."""
        between = self._branches.between_slices(attempt, is_placed=False)
        return self._whereabouts.belief(attempt, self._field(is_placed=True), between)

    def _take_in(self, attempt: Attempt, notes: Notes) -> None:
        new = [crawler for crawler in attempt.samples if crawler not in notes.taken_in]
        for crawler in new:
            notes.taken_in.add(crawler)
            notes.belief.condition(crawler, attempt.samples[crawler])
        if new and notes.prior.outlook.is_placed:
            self._check_place(attempt, notes)

    def _check_place(self, attempt: Attempt, notes: Notes) -> None:
        """Believe in other places, too, unless it is nearly certain that the site's own is right.

        While few places are known, they are one Gaussian: it replaces the belief if it fits better.
        """
        source, values = (
            _source(attempt),
            [log(ms + self.config.offset_ms) for ms in attempt.samples.values()],
        )
        if not notes.is_open:
            density, most = notes.belief.density, self._placement.most(values)
            if self._placement.doubt(source, density, most) < LEAST_DOUBT:
                return  # whatever other places would foretell
        if not notes.is_open and self._whereabouts.is_known:
            share = self._placement.share(source) * exp(-self.config.refuting)
            belief = notes.prior.belief(self.config).or_elsewhere(self._anywhere(attempt), share)
            notes.belief, notes.is_open = _conditioned(belief, attempt), True
        if notes.is_open:
            if notes.is_refuted:
                notes.give_up(self._prior(attempt, self._geography.outlook(None)))
            return
        prior = self._prior(attempt, self._geography.outlook(None))
        belief = _conditioned(prior.belief(self.config), attempt)
        if self._placement.doubt(source, notes.belief.density, belief.density) > EVEN:
            notes.belief = belief
            notes.give_up(prior)

    def _saving_by_check(self, attempt: Attempt) -> float:
        """Return what looking may save because places are wrong now and then.

        Of sites that would get no probe one in `check_every` is probed anyway, to detect errors.
        """
        self._unchecked += 1
        if self._unchecked >= self.config.check_every:
            self._unchecked = 0
            return self._placement.loss_ms
        return self._placement.expected_loss_ms(_source(attempt))

    def expected_ms(self, attempt: Attempt) -> Floats | None:
        """Return the round trip to each crawler; None if neither the place nor a sample near it is known."""
        notes = self.examined(attempt)
        if not (notes.prior.outlook.is_placed or attempt.samples or self.knows(attempt)):
            return None
        expected: Floats = np.maximum(
            np.exp(notes.belief.logarithms()) - self.config.offset_ms, notes.belief.least.min(axis=0)
        )
        for crawler, rtt_ms in attempt.samples.items():
            expected[crawler] = rtt_ms
        return expected

    # --- afterwards

    def learn(self, attempt: Attempt) -> None:
        """Learn from the samples of this attempt's own probes."""
        if attempt.sites:
            self.price.spend(attempt.probes)
        new = [crawler for crawler in attempt.samples if crawler not in attempt.known]
        if not new:
            return
        if attempt.is_mutual:
            self._colocated = self._colocated or Colocated(self.roster)
            self._colocated.note(attempt)
        notes = self._notes(attempt)
        if (notes.is_misplaced or notes.prior.outlook.is_placed) and not attempt.is_mutual:
            source = notes.source if notes.is_misplaced else _source(attempt)
            loss_ms = self._loss_ms(attempt, new) if notes.is_misplaced else None
            was_sure = notes.regret_ms < NEARLY * self.price_ms
            self._placement.learn(source, loss_ms, was_sure=was_sure)
        rtts_ms = {crawler: attempt.samples[crawler] for crawler in new}
        samples = Samples(
            crawlers=np.array(new, dtype=np.intp),
            rtts_ms=np.array(list(rtts_ms.values())),
            places=notes.weights() if notes.prior.outlook.is_placed else np.ones(1),
            weight=self.config.mutual_weight if attempt.is_mutual else 1.0,
        )
        self._whereabouts.learn(attempt, rtts_ms, notes.prior, samples.places)
        if notes.prior.branch.slice_square is not None and not attempt.is_mutual:
            self._learn_kinship(attempt, notes.prior, samples)
        self._field(notes.prior.outlook.is_placed).learn(notes.prior, samples)

    def _loss_ms(self, attempt: Attempt, crawlers: list[int]) -> float:
        """Return what the first crawler that was asked would have lost against the nearest that was."""
        first, best = attempt.samples[crawlers[0]], min(attempt.samples.values())
        return self.config.fixed_ms * log((first + self.config.fixed_ms) / (best + self.config.fixed_ms))

    def _learn_kinship(self, attempt: Attempt, prior: Expectation, samples: Samples) -> None:
        """Compare a site with those of other slices of its subnet."""
        kinship, is_placed = self._branches.kinship, prior.outlook.is_placed
        own = dict(zip(samples.crawlers.tolist(), samples.rtts_ms.tolist(), strict=True))
        if kinship.compare(attempt.row, own, self._geography.points):
            self._spread += self._whole_beside(attempt.row)
        excess = self._field(is_placed).excess_over_kin(prior, samples)
        if excess is not None:
            kinship.learn(attempt.row, excess, is_placed=is_placed)

    def _whole_beside(self, row: int) -> list[int]:
        """Return a subnet and its holder's others, as far as they are delegated as a whole."""
        holder = self._tree.organisation_number(row)
        rows = {row, *(self.ledger.of_organisation(holder) if holder else ())}
        return [one for one in rows if self.ledger.get(one) is not None and not is_narrow(self._tree, one)]

    def knows(self, attempt: Attempt) -> bool:
        """Return whether anything near a subnet was sampled."""
        notes = self._notes(attempt)
        forest = self._field(notes.prior.outlook.is_placed).forest
        return forest.is_touched(forest.found(notes.prior.branch))

    def can_win(self, crawler: int, attempt: Attempt) -> bool:
        """Return whether the expected saving of a probe by a newcomer exceeds its price."""
        notes = self._notes(attempt)
        self._take_in(attempt, notes)
        best = attempt.best
        if best is None:
            expected = notes.belief.logarithms()
            present = [other for other in range(len(self.roster)) if self.roster.is_present(other)]
            return bool(expected[crawler] <= expected[present].min())
        return bool(self._savings_over(notes, attempt.samples[best])[crawler] >= self.price_ms)

    def explain(self, attempt: Attempt) -> Others:
        """Keep what is needed to explain later why each other crawler was not asked."""
        notes, best = self._notes(attempt), attempt.best
        best_ms = None if best is None else attempt.samples[best]
        free = self.roster.free(attempt).nonzero()[0]
        unasked = Unasked(notes, self.roster.crawlers, free, best_ms, self._price_of(attempt))
        return Others(len(free), unasked.named)


def _conditioned(belief: Belief, attempt: Attempt) -> Belief:
    """Take in all samples of an attempt."""
    for crawler, rtt_ms in attempt.samples.items():
        belief.condition(crawler, rtt_ms)
    return belief


def _source(attempt: Attempt) -> str:
    """Return where an attempt's place is from; "" if nobody said."""
    return (attempt.location.source or "") if attempt.location is not None else ""
