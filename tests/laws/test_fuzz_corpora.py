"""The inputs that `bin/fuzz` starts from, and those that once broke something: each is run once."""

from __future__ import annotations

import json
from importlib import import_module

import pytest

from tests.fuzz.json_mutation import mutated
from tests.fuzz.target import CORPUS, TARGETS
from tests.fuzz.targets import MODULE_OF

COMPILED = {"assign", "hierarchy", "lookup", "overlay", "parse", "predict", "ranks", "render", "texts"}
for _module in dict.fromkeys(MODULE_OF.values()):
    import_module(f"tests.fuzz.targets.{_module}")


@pytest.mark.parametrize("name", MODULE_OF)
def test_kept_inputs_are_read_or_refused_as_declared(name: str) -> None:
    inputs = TARGETS[name].corpus()
    assert inputs
    for path in inputs:
        TARGETS[name].run(path.read_bytes())


def test_every_target_is_listed_and_every_folder_has_a_target() -> None:
    assert set(TARGETS) == set(MODULE_OF)
    assert {path.name for path in CORPUS.iterdir()} == set(MODULE_OF) | COMPILED


def test_something_else_than_a_declared_error_is_a_finding() -> None:
    with pytest.raises(AssertionError):
        TARGETS["bodies"].__class__(name="", check=_fails, errors=(ValueError,), longest=1).run(b"")


def _fails(_data: bytes) -> None:
    raise AssertionError


def test_mutated_json_is_json_most_of_the_time() -> None:
    data = b'a{"host": "a.example", "links": [1, {"x": null}]}'
    made = [mutated(data, 10_000, seed) for seed in range(200)]
    assert all(one is not None and isinstance(json.loads(one[1:]), dict) for one in made)
    assert len(set(made)) > 100
    assert mutated(b"no JSON", 10_000, 1) is None
