"""Sizes of the benchmarks: full, and quick for a smoke test."""

from __future__ import annotations

from dataclasses import dataclass

from ipmicra.lab.churn.config import ChurnConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Sizes of everything that is generated or looked up."""

    dumps: dict[str, int]
    """Objects of each dump that is read and built, by style."""
    large: dict[str, int]
    """Objects of the dumps that together give ten million subnets."""
    large_subnets: int
    """Subnets that `large` must give at least."""
    subnets4: int
    """IPv4 subnets of the hierarchy in which peers look up too."""
    subnets6: int
    addresses: int
    """Addresses that are looked up at once."""
    single: int
    """Addresses that are looked up one by one."""
    streamed: int
    """Addresses of the list that the command looks up."""
    tables: tuple[int, ...]
    """Rows of the tables of Parquet that are looked up."""
    frames: tuple[int, ...]
    """Rows of the tables of Spark that are looked up."""
    stores: tuple[int, int]
    """Hosts that are assigned already when new ones are, few and many."""
    ranges: int
    """Shuffled ranges that are nested."""
    loop_bytes: int
    """Bytes of text for the plain Python loop."""
    irrd_bytes: int
    """Bytes of text for IRRd's parser."""
    web_hosts: int
    """Hosts of the invented national web that is partitioned."""
    web_parts: tuple[int, ...]
    """Numbers of parts into which it is cut by distances and by hash."""
    multi_parts: tuple[int, ...]
    """Numbers of parts into which it is cut by both objectives."""
    cost_hosts: int
    """Hosts whose costs are worked out at once."""
    located: int
    """Times that the sets of host names are located, digits changed each time."""
    connections: int
    """Handshakes of one round, of the agent and of the bare loop."""
    at_once: int
    """Probes that are ordered at once."""
    accurate: int
    """Probes whose round trip is known."""
    names: int
    """Names that are resolved."""
    owned: int
    """Held hosts whose owners are asked for over HTTP."""
    kept: int
    """Rows that are written into SQLite."""
    listed: int
    """Sites of a list that is delegated without probes."""
    crawled: int
    """Pages that are crawled with and without the add-on."""
    world_seeds: int
    """Orders in which the sites of a world with real round trips arrive."""
    paper_seeds: int
    """The same for the invented world of the paper's size."""
    delegated: int
    """Sites of the large invented world."""
    hosted: int
    """Sites of the large invented world with hosting."""
    placed: int
    """Hosts that are placed by coordinates."""
    placed_by_peer: int
    """Those of them that scipy places."""
    overlays: tuple[int, ...]
    """Crawlers of each overlay."""
    owners: int
    """Coordinates whose owners are looked up."""
    churn_steps: int
    churn_seeds: int
    assigned: int
    """Sites that are assigned in a batch."""
    sliced: int
    """Sites for which the best assignment is found."""
    rounds: int
    """Number of rounds."""
    command_rounds: int
    """Number of rounds for whole builds."""
    short_rounds: int
    """Number of rounds where a round is short."""
    is_quick: bool = False


FULL = Sizes(
    dumps={"ripe": 1_600_000, "apnic": 2_400_000, "arin": 600_000, "lacnic": 600_000, "statistics": 600_000},
    large={"ripe": 4_000_000, "apnic": 3_200_000, "arin": 2_400_000, "lacnic": 1_200_000},
    large_subnets=10_000_000,
    subnets4=1_000_000,
    subnets6=200_000,
    addresses=10_000_000,
    single=100_000,
    streamed=1_000_000,
    tables=(10_000_000, 100_000_000),
    frames=(1_000_000, 10_000_000, 100_000_000),
    stores=(10_000, 10_000_000),
    ranges=10_000_000,
    loop_bytes=100_000_000,
    irrd_bytes=20_000_000,
    web_hosts=100_000,
    web_parts=tuple(range(5, 51)),
    multi_parts=(5, 10, 20, 50),
    cost_hosts=1_000_000,
    located=20,
    connections=3000,
    at_once=1000,
    accurate=1000,
    names=20_000,
    owned=20_000,
    kept=200_000,
    listed=400_000,
    crawled=2_000,
    world_seeds=20,
    paper_seeds=10,
    delegated=1_000_000,
    hosted=1_000_000,
    placed=20_000,
    placed_by_peer=100,
    overlays=(1000, 10_000, 100_000, 1_000_000),
    owners=1_000_000,
    churn_steps=ChurnConfig().steps,
    churn_seeds=3,
    assigned=400_000,
    sliced=2000,
    rounds=5,
    command_rounds=5,
    short_rounds=11,
)
QUICK = Sizes(
    dumps={"ripe": 20_000, "apnic": 20_000, "arin": 5000, "lacnic": 5000, "statistics": 5000},
    large={"ripe": 20_000, "apnic": 16_000, "arin": 12_000, "lacnic": 6000},
    large_subnets=50_000,
    subnets4=20_000,
    subnets6=4000,
    addresses=1_200_000,
    single=10_000,
    streamed=20_000,
    tables=(200_000,),
    frames=(20_000,),
    stores=(1_000, 20_000),
    ranges=200_000,
    loop_bytes=4_000_000,
    irrd_bytes=1_000_000,
    web_hosts=5000,
    web_parts=(5, 20, 50),
    multi_parts=(5, 20),
    cost_hosts=100_000,
    located=2,
    connections=600,
    at_once=200,
    accurate=100,
    names=2000,
    owned=2000,
    kept=10_000,
    listed=10_000,
    crawled=200,
    world_seeds=1,
    paper_seeds=1,
    delegated=10_000,
    hosted=2_000,
    placed=5000,
    placed_by_peer=20,
    overlays=(1000, 100_000),
    owners=100_000,
    churn_steps=500,
    churn_seeds=1,
    assigned=20_000,
    sliced=500,
    rounds=3,
    command_rounds=2,
    short_rounds=3,
    is_quick=True,
)
