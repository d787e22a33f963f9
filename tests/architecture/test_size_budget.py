"""Code stays small: files, functions and the names of modules."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("ipmicra", "benchmarks")
FILE_LINES = 400
FUNCTION_LINES = 60
VAGUE_NAMES = {"common", "helpers", "manager", "misc", "utils"}


def sources() -> dict[str, str]:
    files = sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
    return {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in files}


def long_functions(source: str) -> list[tuple[str, int]]:
    """Name and number of lines of each function over the budget; decorators do not count."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]
    sizes = [(node.name, (node.end_lineno or node.lineno) - node.lineno + 1) for node in functions]
    return [(name, lines) for name, lines in sizes if lines > FUNCTION_LINES]


def test_no_file_is_over_the_budget() -> None:
    sizes = {name: len(source.splitlines()) for name, source in sources().items()}
    assert {name: lines for name, lines in sizes.items() if lines > FILE_LINES} == {}


def test_no_function_is_over_the_budget() -> None:
    found = {name: long_functions(source) for name, source in sources().items()}
    assert {name: functions for name, functions in found.items() if functions} == {}


def test_no_module_has_a_name_that_says_nothing() -> None:
    vague = [name for name in sources() if VAGUE_NAMES & set(Path(name).with_suffix("").parts)]
    assert vague == []


@pytest.mark.parametrize(("lines", "expected"), [(60, []), (61, [("f", 61)])])
def test_function_is_measured_from_def_to_end(lines: int, expected: list[tuple[str, int]]) -> None:
    source = "@decorated\ndef f():\n" + "    pass\n" * (lines - 1)
    assert long_functions(source) == expected
