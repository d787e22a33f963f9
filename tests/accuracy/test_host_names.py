"""Airport and city votes on host names whose places are known."""

from __future__ import annotations

import pytest

from ipmicra.edge.geodata.places import load_gazetteer, load_registered_domain
from ipmicra.locate.hostname import HostName, read_host_name
from ipmicra.locate.names import NameReader
from ipmicra.model.location import Hint
from tests.accuracy.host_names import SETS, Score, rows, score


@pytest.fixture(scope="module")
def scores() -> dict[str, Score]:
    reader, registered = NameReader(load_gazetteer()), load_registered_domain()

    def hints_of(name: str) -> list[Hint]:
        read = read_host_name(name, registered)
        assert isinstance(read, HostName), name
        return reader.hints(read)

    return {name: score(name, hints_of) for name in SETS}


def test_sets_are_large_enough_and_have_enough_names_without_a_place() -> None:
    assert len(rows("written_first")) >= 300
    assert sum(truth is None for _host, truth in rows("written_first")) >= 100
    hosts = [host for name in SETS for host, _truth in rows(name)]
    assert len(set(hosts)) == len(hosts)


@pytest.mark.parametrize("name", SETS)
def test_precision_is_at_least_95_percent(scores: dict[str, Score], name: str) -> None:
    assert scores[name].precision >= 0.95, scores[name].mistakes


@pytest.mark.parametrize("name", SETS)
def test_recall_is_at_least_80_percent(scores: dict[str, Score], name: str) -> None:
    assert scores[name].recall >= 0.80


@pytest.mark.parametrize("name", SETS)
def test_radius_holds_the_truth_in_four_of_five_cases(scores: dict[str, Score], name: str) -> None:
    assert scores[name].inside_share >= 0.80
