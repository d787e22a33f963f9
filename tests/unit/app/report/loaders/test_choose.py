"""Choosing dumps by name."""

from __future__ import annotations

import pytest

from ipmicra.app.fetch import choose
from ipmicra.errors import InputError
from ipmicra.model.dump_source import DUMP_SOURCES, DumpKind
from ipmicra.model.registry import Registry


def test_without_names_every_dump_is_chosen_that_needs_no_key() -> None:
    choice = choose(environ={})
    assert len(choice.sources) == len(DUMP_SOURCES) - 1
    assert [source.name for source in choice.left_out] == ["arin_db.zip"]


def test_with_a_key_in_the_environment_arins_bulk_dump_is_chosen_too() -> None:
    choice = choose(environ={"IPMICRA_ARIN_KEY": "API-1"})
    assert {source.name: source.key for source in choice.sources}["arin_db.zip"] == "API-1"
    assert choice.left_out == ()


def test_dump_that_is_named_is_chosen_even_without_its_key() -> None:
    assert [source.name for source in choose(["arin_db.zip"], environ={}).sources] == ["arin_db.zip"]


@pytest.mark.parametrize("name", ["ripe", "RIPE", "ripencc"])
def test_registry_is_found_by_its_names_in_any_case(name: str) -> None:
    choice = choose([name], environ={})
    assert {source.registry for source in choice.sources} == {Registry.RIPE}
    assert len(choice.sources) == 4


def test_registries_and_dumps_may_be_named_together_and_twice() -> None:
    choice = choose(["lacnic", "lacnic.db.gz", "ripe.db.inetnum.gz"], kind=DumpKind.WHOIS, environ={})
    assert [source.name for source in choice.sources] == ["lacnic.db.gz", "ripe.db.inetnum.gz"]


def test_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'nic'.*afrinic, apnic, arin, iana, lacnic, ripe"):
        choose(["ripe", "nic"])


def test_kind_that_a_registry_lacks_is_wrong_usage() -> None:
    with pytest.raises(InputError, match="no iana dumps of ripe"):
        choose(["ripe"], kind=DumpKind.IANA)


@pytest.mark.parametrize(
    "base_url", ["ftp://mirror.example", "mirror.example", "http://", "http://[", "file:///srv"]
)
def test_mirror_must_be_a_web_server(base_url: str) -> None:
    with pytest.raises(InputError, match="is no URL"):
        choose(base_url=base_url)


def test_mirror_has_all_dumps_even_those_that_need_a_key_elsewhere() -> None:
    choice = choose(base_url="http://mirror.example", environ={})
    assert len(choice.sources) == len(DUMP_SOURCES)
