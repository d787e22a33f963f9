"""Laws of comparing what crawlers see, and of choosing among them."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from random import Random

from hypothesis import assume, given
from hypothesis import strategies as st

from ipmicra.delegate.attempt import Verdict
from ipmicra.delegate.views import Different, KnownTrip, Nothing, Same, SiteAttempt, compare
from ipmicra.model.address import Address
from ipmicra.model.delegation import Evidence
from ipmicra.model.name import FAILURES, NameAnswer, NameStatus
from ipmicra.model.sample import Loss, Sample

BLOCKS: list[Address] = [ip_address(one) for one in ("193.0.0.1", "193.0.1.1", "2a00::1", "2a00:0:1::1")]
addresses = st.builds(lambda block, host: block + host, st.sampled_from(BLOCKS), st.integers(0, 2))
found = st.lists(addresses, min_size=1, max_size=3, unique=True).map(
    lambda some: NameAnswer(name="a", status=NameStatus.FOUND, addresses=tuple(some))
)
missing = st.sampled_from([one for one in NameStatus if one is not NameStatus.FOUND]).map(
    lambda status: NameAnswer(name="a", status=status)
)
views = st.dictionaries(st.sampled_from("abcde"), found | found | missing, max_size=5)


def block(address: Address) -> tuple[int, int]:
    return address.version, int(address) >> (8 if address.version == 4 else 80)


def slow_compare(answers: Mapping[str, NameAnswer], fleet: int) -> set[Address] | str:
    """Slow and obviously right: the addresses that may stand for the host, or what is wrong."""
    sees = [set(one.addresses) for one in answers.values() if one.status is NameStatus.FOUND]
    is_blind = any(
        one.status not in FAILURES and one.status is not NameStatus.FOUND for one in answers.values()
    )
    if not sees:
        return "nothing"
    if is_blind or (len(sees) == 1 and fleet > 1):
        return "different"
    every = [address for some in sees for address in some]
    common = {address for address in every if all(address in some for some in sees)}
    if common:
        return common
    return set(every) if len({block(address) for address in every}) == 1 else "different"


@given(views, st.integers(0, 3), st.none() | addresses)
def test_comparison_agrees_with_its_slow_twin(
    answers: dict[str, NameAnswer], more: int, pin: Address | None
) -> None:
    fleet = len(answers) + more
    expected, verdict = slow_compare(answers, fleet), compare(answers, fleet, pin)
    if isinstance(expected, set):
        assert isinstance(verdict, Same)
        assert verdict.address in expected
        assert pin not in expected or verdict.address == pin
    elif expected == "different":
        assert verdict == Different({name: one.addresses for name, one in answers.items() if one.addresses})
    else:
        assert isinstance(verdict, Nothing)


@given(views, st.integers(0, 3), st.randoms(use_true_random=False))
def test_comparison_does_not_depend_on_any_order(
    answers: dict[str, NameAnswer], more: int, chance: Random
) -> None:
    shuffled = list(answers.items())
    chance.shuffle(shuffled)
    turned = {
        name: NameAnswer(name="a", status=one.status, addresses=one.addresses[::-1]) for name, one in shuffled
    }
    first, second = (compare(some, len(answers) + more) for some in (answers, turned))
    assert type(first) is type(second)
    if isinstance(first, Same):
        assert first == second


@given(views, st.integers(0, 3), addresses)
def test_address_of_one_crawler_alone_is_never_for_another(
    answers: dict[str, NameAnswer], more: int, pin: Address
) -> None:
    """Whoever goes the plain way may be sent to the address; so two must see it, or its block."""
    fleet = len(answers) + more
    verdict = compare(answers, fleet, pin)
    if isinstance(verdict, Same) and fleet > 1:
        near = [
            name
            for name, one in answers.items()
            if any(block(address) == block(verdict.address) for address in one.addresses)
        ]
        assert len(near) >= 2


trips = st.dictionaries(st.sampled_from("abcde"), st.floats(0.1, 500), min_size=1)


@given(trips, st.sets(st.sampled_from("abcde")), st.floats(0, 100), st.data())
def test_nearest_gets_a_site_or_the_least_loaded_of_equals(
    rtt_ms: dict[str, float], lost: set[str], margin_ms: float, data: st.DataObject
) -> None:
    seen = {name: BLOCKS[0] + i for i, name in enumerate(sorted(rtt_ms | dict.fromkeys(lost, 0.0)))}
    load = data.draw(st.fixed_dictionaries({name: st.integers(0, 9) for name in seen}))
    attempt = SiteAttempt(dict(seen))
    for name, address in seen.items():
        ms = None if name in lost else rtt_ms[name]
        loss = Loss.TIMEOUT if ms is None else None
        assert name in attempt.waiting
        attempt.take(Sample(crawler=name, address=address, rtt_ms=ms, loss=loss))
    assert attempt.waiting == []
    assert attempt.probes == len(seen)
    choice = attempt.choose(load, margin_ms)
    there = {name: ms for name, ms in rtt_ms.items() if name not in lost}
    assert choice.address == seen[choice.crawler]
    if not there:
        assert (choice.evidence, choice.rtt_ms) == (Evidence.INHERITED, None)
    elif 1 < len(there) == len(seen) and max(there.values()) - min(there.values()) <= margin_ms:
        assert choice.evidence is Evidence.ANYCAST
        assert load[choice.crawler] == min(load[name] for name in there)
    else:
        assert choice.evidence is Evidence.PROBED
        assert choice.rtt_ms == min(there.values())


@given(trips, trips)
def test_round_trips_that_are_known_or_shared_cost_no_probe(
    known: dict[str, float], measured: dict[str, float]
) -> None:
    measured = {name: ms for name, ms in measured.items() if name not in known}
    assume(measured)
    seen: dict[str, Address] = {name: BLOCKS[0] + i for i, name in enumerate((*known, *measured))}
    attempt = SiteAttempt(
        seen, known={name: KnownTrip(BLOCKS[0] + 200, ms, 1.0) for name, ms in known.items()}
    )
    assert attempt.waiting == list(measured)
    for i, (name, ms) in enumerate(measured.items()):
        sample = Sample(crawler=name, address=seen[name], rtt_ms=ms)
        (attempt.share if i % 2 else attempt.take)(sample)
    assert attempt.probes == -(-len(measured) // 2)
    choice = attempt.choose({}, -1.0)
    assert choice.rtt_ms == min((known | measured).values())
    assert (choice.evidence is Evidence.INHERITED) == (choice.crawler in known)
    account = attempt.account(choice, {"z": "it sees nothing"})
    assert account[0].verdict is Verdict.CHOSEN
    assert {one.crawler: one.rtt_ms for one in account[1:] if one.rtt_ms is not None} == known | measured
    assert account[-1].crawler == "z"


def test_without_budget_an_answer_is_makeshift() -> None:
    attempt = SiteAttempt({"a": BLOCKS[0], "b": BLOCKS[1]})
    for name, address in attempt.seen.items():
        attempt.take(Sample(crawler=name, address=address, rtt_ms=None, loss=Loss.BUDGET))
    assert attempt.is_makeshift
    assert attempt.probes == 0
    assert attempt.choose({"a": 3}, 10.0).crawler == "b"
