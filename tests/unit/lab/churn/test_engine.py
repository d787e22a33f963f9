"""The engine of the churn experiment: equal to its slow twin, and nothing vanishes uncounted."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.assign.coordinate.space import Space
from ipmicra.errors import InputError
from ipmicra.lab.churn.config import ChurnConfig
from ipmicra.lab.churn.engine import Engine
from ipmicra.lab.churn.figures import figures_of, site_crawls
from ipmicra.lab.churn.lives import Life, alive_steps, draw_lives
from ipmicra.lab.churn.population import ChurnWorld, Work
from ipmicra.lab.churn.scheme import Fifo, Scheme
from ipmicra.lab.churn.schemes.table import SCHEMES, scheme_named
from tests.reference.slow_churn import SlowChurn

MANY = 10**9


class FewestHeld(Fifo):
    """Gives a piece to the crawler that holds fewest."""

    def joined(self, crawler: int, now: float) -> None:
        pass

    def left(self, crawler: int, now: float) -> None:
        pass

    def choose(self, piece: int, now: float) -> int:
        return int(np.where(self.crawling.is_there, self.crawling.held, MANY).argmin())

    def heir(self, piece: int, leaver: int, now: float) -> int:
        return self.choose(piece, now)


def world_of(rng: np.random.Generator, crawlers: int, sites: int) -> ChurnWorld:
    rtt = rng.uniform(1, 200, (crawlers, sites))
    pages = rng.integers(1, 4000, sites)
    site = np.sort(np.concatenate([np.arange(sites), rng.integers(0, sites, sites)]))
    points = rng.uniform(0, 100, (crawlers + sites, 3))
    return ChurnWorld(
        rtt_ms=rtt,
        expected_ms=rtt * rng.uniform(0.8, 1.2, rtt.shape),
        crawler_points=points[:crawlers],
        site_points=points[crawlers:],
        space=Space(low=np.zeros(3), high=np.full(3, 100.0)),
        whole=Work(site=np.arange(sites), pages=pages),
        pieces=Work(site=site, pages=rng.integers(1, 2000, len(site))),
    )


def config_of(crawlers: int, sites: int, steps: int = 300) -> ChurnConfig:
    return ChurnConfig(
        crawlers=crawlers,
        sites=sites,
        steps=steps,
        connections=2,
        recrawl_steps=40,
        life_steps=(60.0, 30.0),
        gap_steps=(20.0, 10.0),
        sampled_steps=25,
    )


@given(seed=st.integers(0, 10**6), crawlers=st.integers(1, 5), sites=st.integers(1, 12))
def test_engine_counts_what_its_slow_twin_counts(seed: int, crawlers: int, sites: int) -> None:
    rng = np.random.default_rng(seed)
    world, config = world_of(rng, crawlers, sites), config_of(crawlers, sites)
    lives = draw_lives(config, rng)
    engine = Engine(world, lives, Scheme(name="fewest", make=FewestHeld), config, seed)
    first = np.random.default_rng([seed, 1]).uniform(0, config.submission_steps, sites)
    twin = SlowChurn(
        steps=engine.crawling.steps.tolist(),
        pages=world.whole.pages.tolist(),
        first=first.tolist(),
        lives=lives,
        config=config,
    )
    twin.run()
    counts = engine.run()
    assert counts.crawls.tolist() == twin.crawls
    assert (counts.done_pages, counts.cancelled, counts.migrated_tasks) == (
        twin.done_pages,
        twin.cancelled,
        twin.migrated,
    )
    assert counts.lost_pages == pytest.approx(twin.lost_pages)
    assert counts.part_pages == pytest.approx(twin.part_pages)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_keeps_the_books_straight(scheme: str) -> None:
    """Loads by the counters equal those of the queues, however often crawlers come and go."""
    rng = np.random.default_rng(7)
    world, config = world_of(rng, 9, 40), config_of(9, 40)
    engine = Engine(world, draw_lives(config, rng), scheme_named(scheme), config, 7)
    counts = engine.run()
    crawling = engine.crawling
    held = [len(queue) + len(runs) for queue, runs in zip(crawling.queues, crawling.running, strict=True)]
    assert crawling.held.tolist() == held
    assert crawling.executing.tolist() == [len(runs) for runs in crawling.running]
    own = [
        sum(engine.work.pages[p] for p in (*q, *r))
        for q, r in zip(crawling.queues, crawling.running, strict=True)
    ]
    assert crawling.held_pages == pytest.approx(own)
    assert (crawling.executing <= config.connections).all()
    assert not crawling.held[~crawling.is_there].any()
    assert counts.done_pages == int((counts.crawls * engine.work.pages).sum())
    outcome = figures_of(counts, engine.work, config).figures
    assert 0 < outcome.goodput_mbps <= outcome.gross_mbps
    assert outcome.migrated_tasks > 0


@pytest.mark.parametrize("scheme", ["lbi", "balance"])
def test_the_same_seed_gives_the_same_run(scheme: str) -> None:
    def once() -> tuple[int, float, list[int]]:
        rng = np.random.default_rng(3)
        world, config = world_of(rng, 6, 30), config_of(6, 30)
        counts = Engine(world, draw_lives(config, rng), scheme_named(scheme), config, 3).run()
        return counts.done_pages, counts.lost_pages, counts.crawls.tolist()

    assert once() == once()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_work_waits_while_all_crawlers_are_gone_and_goes_on_when_one_comes_back(scheme: str) -> None:
    rng = np.random.default_rng(5)
    world, config = world_of(rng, 2, 5), config_of(2, 5)
    lives = [
        Life(crawler=0, start=0.0, end=50.0, is_announced=True),
        Life(crawler=1, start=0.0, end=50.0, is_announced=False),
        Life(crawler=1, start=150.0, end=900.0, is_announced=True),
    ]
    counts = Engine(world, lives, scheme_named(scheme), config, 5).run()
    assert counts.unplaced > 0
    assert counts.last_end.max() > 150


def test_a_site_is_crawled_as_often_as_its_least_crawled_piece() -> None:
    work = Work(site=np.array([0, 0, 1]), pages=np.array([1, 1, 1]))
    assert site_crawls(np.array([3, 1, 2]), work).tolist() == [1, 2]


def test_pieces_submitted_in_turn_start_evenly_over_the_interval() -> None:
    rng = np.random.default_rng(1)
    world = world_of(rng, 2, 3)
    config = ChurnConfig(crawlers=2, sites=3, steps=100, recrawl_steps=40, are_pieces_spread=True)
    engine = Engine(world, [], Scheme(name="fewest", make=FewestHeld, is_split=True), config, 1)
    firsts = {piece: step for step, kind, piece, _ in engine._events if kind == 3}
    site = world.pieces.site
    own = [firsts[piece] for piece in np.flatnonzero(site == 0).tolist()]
    assert np.diff(own) == pytest.approx(40 / len(own))


def test_lives_do_not_overlap_and_are_counted_up_to_the_end() -> None:
    config = config_of(12, 3)
    lives = draw_lives(config, np.random.default_rng(2))
    for crawler in range(12):
        own = [life for life in lives if life.crawler == crawler]
        assert all(one.end < after.start for one, after in pairwise(own))
    assert alive_steps([Life(crawler=0, start=10.0, end=999.0, is_announced=True)], config)[0] == 290


@pytest.mark.parametrize(
    "make",
    [
        lambda: scheme_named("magic"),
        lambda: ChurnConfig(crawlers=0),
        lambda: ChurnConfig(recrawl_steps=0),
    ],
)
def test_senseless_settings_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        make()
