"""A draw of the experiment: one world, one history of crawlers, any number of schemes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import InputError
from ipmicra.lab.churn.bound import bound_mbps
from ipmicra.lab.churn.config import ChurnConfig
from ipmicra.lab.churn.engine import Engine
from ipmicra.lab.churn.figures import SchemeRun, figures_of
from ipmicra.lab.churn.lives import Life, draw_lives
from ipmicra.lab.churn.population import ChurnWorld, draw_world
from ipmicra.lab.churn.scheme import Scheme

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """What all schemes of one seed share."""

    seed: int
    config: ChurnConfig
    world: ChurnWorld
    lives: list[Life]

    def bound_mbps(self) -> float:
        """Return the upper bound of the goodput."""
        return bound_mbps(self.world, self.lives, self.config)

    def run(self, scheme: Scheme) -> SchemeRun:
        """Run a scheme."""
        engine = Engine(self.world, self.lives, scheme, self.config, self.seed)
        return figures_of(engine.run(), engine.work, self.config)

    def limited(self, crawlers: int) -> Draw:
        """Return the same sites with fewer crawlers, to test scalability; their lives are drawn anew."""
        if not 1 <= crawlers <= self.world.crawlers:
            raise InputError(f"{crawlers} crawlers: there are {self.world.crawlers} in this world")
        config = replace(self.config, crawlers=crawlers)
        world = replace(
            self.world,
            rtt_ms=self.world.rtt_ms[:crawlers],
            expected_ms=self.world.expected_ms[:crawlers],
            crawler_points=self.world.crawler_points[:crawlers],
        )
        lives = draw_lives(config, np.random.default_rng([self.seed, crawlers, 3]))
        return Draw(seed=self.seed, config=config, world=world, lives=lives)


def draw(make_matrix: Callable[[np.random.Generator], Matrix], config: ChurnConfig, seed: int) -> Draw:
    """Draw a world on a matrix, and the lives of its crawlers; the seed decides everything."""
    rng = np.random.default_rng([seed, 0])
    world = draw_world(make_matrix(rng), config, rng)
    return Draw(seed=seed, config=config, world=world, lives=draw_lives(config, rng))
