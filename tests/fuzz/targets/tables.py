"""Users' files: tables of every kind, lists of seeds, matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ipmicra.edge.files import seeds, tables
from ipmicra.edge.files.crawled import read_crawled
from ipmicra.edge.files.crawlers import import_crawlers, read_crawlers
from ipmicra.edge.files.diversions import Diversion
from ipmicra.edge.files.lines import ignore
from ipmicra.edge.files.links import read_links
from ipmicra.edge.files.locations import read_crawler_places, read_places, read_samples
from ipmicra.edge.files.logical_table import read_table
from ipmicra.edge.files.matrices import read_matrix
from ipmicra.edge.files.networks import read_networks
from ipmicra.edge.files.pages import read_pages, read_urls
from ipmicra.edge.files.prefixes import read_prefixes
from ipmicra.edge.files.seeds import read_runs, read_seeds
from ipmicra.edge.files.sites import has_site_header, read_assigned, read_sites
from ipmicra.errors import InputError
from ipmicra.hierarchy.rendering import Targets
from ipmicra.model.foreign_text import csv_text, from_csv_cell
from tests.fuzz.held_file import as_stdin, held
from tests.fuzz.target import target

READERS: tuple[Callable[[Path], object], ...] = (
    read_sites,
    read_assigned,
    read_crawled,
    read_links,
    read_pages,
    lambda path: read_networks(path, ignore),
    lambda path: read_prefixes(path, ignore),
    lambda path: read_places(path, []),
    lambda path: read_samples(path, []),
    lambda path: read_crawler_places(path, []),
    import_crawlers,
    has_site_header,
)
FILE_READERS: tuple[Callable[[Path], object], ...] = (
    lambda path: read_table(path, 2),
    lambda path: list(Diversion(path=path, target="fra").read()),
)
"""These do not read standard input. One of both is chosen by the first letter, from `a` on."""


@target("tables", InputError, longest=200)
def read_table_of_users(data: bytes) -> None:
    """A table is read, or refused; rows that make no sense are findings."""
    number = (data[0] - ord("a")) % (len(READERS) + len(FILE_READERS)) if data else 0
    if number >= len(READERS):
        FILE_READERS[number - len(READERS)](held(data[1:]))
        return
    with as_stdin(data[1:]) as path:
        READERS[number](path)


@target("crawler-lists", InputError, longest=160)
def read_toml(data: bytes) -> None:
    """What is imported is what is read, without a finding."""
    path, findings = held(data, ".toml"), list[str]()
    imported = import_crawlers(path)
    assert [row.crawler for row in read_crawlers(path, findings.append)] == imported
    assert not findings


@contextmanager
def few_lines_looked_at() -> Iterator[None]:
    """Let four lines tell what a file is."""
    usual = tables.LOOKED_AT
    vars(tables)["LOOKED_AT"] = vars(seeds)["LOOKED_AT"] = 4
    try:
        yield
    finally:
        vars(tables)["LOOKED_AT"] = vars(seeds)["LOOKED_AT"] = usual


@target("seed-lists", InputError, longest=64)
def read_seed_list(data: bytes) -> None:
    """A list read in runs has the seeds of a list read line by line.

    Runs begin behind the lines that tell what a file is: four here, so that short inputs have runs.
    """
    with few_lines_looked_at():
        with as_stdin(data) as path:
            one_by_one = list(read_seeds([str(path)]))
        runs: list[str] = []
        with as_stdin(data) as path:
            for run in read_runs([str(path)]):
                runs += [run.text(i) for i in range(len(run))] if isinstance(run, Targets) else [run]
    assert runs == one_by_one


@target("url-lists", InputError, longest=96)
def read_url_list(data: bytes) -> None:
    """Every URL of a list or sitemap has the host that it is listed under."""
    with as_stdin(data) as path:
        for host, urls in read_urls([path]).items():
            assert host
            assert urls


@target("matrices", InputError, longest=320)
def read_round_trips(data: bytes) -> None:
    """A matrix is square and has no round trip below zero."""
    matrix = read_matrix(held(data))
    assert matrix.shape[0] == matrix.shape[1]
    assert not (matrix < 0).any()


@target("cells", longest=256)
def write_cells(data: bytes) -> None:
    """What is written as CSV is read as it was."""
    import csv

    texts = data.decode("utf-8", "replace").split("\x1f")
    (row,) = csv.reader(csv_text(texts, ()).splitlines(keepends=True), strict=True)
    assert [from_csv_cell(cell) for cell in row] == texts
    assert all(line.isprintable() for line in csv_text(texts, ()).removesuffix("\n").split("\n"))
