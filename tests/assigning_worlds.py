"""A world for assigners: crawlers and sites in a box, whose round trips are distances with some noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from ipaddress import ip_address

import numpy as np

from ipmicra.app.assign.problem import AssignProblem
from ipmicra.assign.overlay.kept import KeptOverlay
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.site import Site


class PointWorld:
    """Crawlers and sites in a box of 100 ms; round trips are distances with 10 % of noise."""

    def __init__(self, seed: int, fleet: int, sites: int) -> None:
        rng = np.random.default_rng(seed)
        self.points = rng.uniform(0, 100, (fleet + 1 + sites, 3))
        self.seed, self.fleet = seed, fleet
        sizes = np.exp(rng.normal(8.0, 1.0, sites)).round()
        self.sites = [Site(f"s{number}.example", address_of(fleet + 1 + number)) for number in range(sites)]
        hosts = [site.host for site in self.sites]
        self.pages: dict[str, float] = dict(zip(hosts, sizes.tolist(), strict=True))
        self.crawlers = [
            Crawler(name=f"c{number}", address=address_of(number)) for number in range(fleet + 1)
        ]
        self.unprobed: frozenset[Address] = frozenset()
        """Sites without any sample."""

    def expected_ms(self, addresses: Sequence[Address], crawlers: Sequence[Crawler]) -> np.ndarray:
        rows = [int(address) & 0xFFFF for address in addresses]
        columns = [int(crawler.address) & 0xFFFF for crawler in crawlers]
        far = np.linalg.norm(self.points[rows][:, None] - self.points[columns][None], axis=2)
        mixed = np.array(rows)[:, None] * 7919 + np.array(columns) * 104729 + self.seed
        trips: np.ndarray = 5 + far * (0.9 + mixed % 21 / 100)
        trips[[address in self.unprobed for address in addresses]] = np.nan
        return trips

    def problem(self, backend: str, saved: bytes | None = None, **more: object) -> AssignProblem:
        """All sites and all crawlers but the last, which may join later."""
        plain = AssignProblem(
            sites=self.sites,
            crawlers=self.crawlers[: self.fleet],
            trips=self,
            backend=backend,
            pages=self.pages,
            overlay=KeptOverlay.from_bytes(saved) if saved is not None else None,
        )
        return replace(plain, **more)  # type: ignore[arg-type]


def address_of(number: int) -> Address:
    return ip_address((10 << 24) + number)
