"""The code that the documentation shows works as shown."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docs.code_blocks import PAGES, ROOT, Block, blocks_of, calls_of, fits, without_messages
from tests.docs.doc_world import DocWorld, doc_world
from tests.docs.known_commands import all_options, commands_in, mistakes

RUN = ("python", "console")
WITH_CODE = [page for page in PAGES if any(one.language in RUN and one.is_run for one in blocks_of(page))]
LANGUAGES = {*RUN, "text", "toml", "ini", "csv", "json", "sh", "yaml"}
"""Blocks in other languages than `RUN` are not run."""

HISTORY = "CHANGELOG.md"
"""Mentions commands as they were at the time."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DocWorld]:
    with doc_world(tmp_path_factory.mktemp("docs")) as world:
        yield world


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_CODE, ids=str)
def test_code_of_a_page_runs_as_shown(
    page: Path, world: DocWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run the blocks of a page in order: Python in one namespace, commands in one folder."""
    folder = tmp_path / "user"
    shutil.copytree(world.folder, folder)
    monkeypatch.chdir(folder)
    for name, value in world.environment(folder).items():
        monkeypatch.setenv(name, value)
    namespace: dict[str, Any] = {"__name__": "page"}
    for block in blocks_of(page):
        if block.language not in RUN or not block.is_run:
            continue
        run_python(block.given, block, namespace)
        if block.language == "python":
            run_python(block.text, block, namespace)
        else:
            run_console(block)


def run_python(text: str, block: Block, namespace: dict[str, Any]) -> None:
    """Run code that may use `await` outside functions."""
    shifted = "\n" * block.line + text
    code = compile(shifted, str(ROOT / block.page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # files that an example of three lines leaves open
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(eval(code, namespace))
        else:
            exec(code, namespace)


def run_console(block: Block) -> None:
    """Run the commands of a block; shown output may include messages from standard error or not."""
    for call in calls_of(block):
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", call.command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        where = f"{block.page}:{block.line}: {call.command}\n{done.stdout}\n{done.stderr}"
        assert done.returncode == 0, where
        if call.output:
            assert fits(without_messages(call.output, done.stderr), done.stdout), where


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_block_names_its_language_and_every_comment_is_valid(page: Path) -> None:
    for block in blocks_of(page):
        where = f"{page}:{block.line}"
        assert block.language in {"", *LANGUAGES}, where
        if block.language in RUN:
            assert block.mark == "" or block.given or not block.is_run, f"{where}: {block.mark}"
        if block.language == "":
            assert "ipmicra " not in block.text, f"{where}: a block with commands is a console block"


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != HISTORY], ids=str)
def test_commands_that_a_page_names_exist_with_their_options(page: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    shown = [block.text for block in blocks_of(page) if block.language == "console"]
    prose = re.sub(r"^(```+).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    shown += [span for span in re.findall(r"`([^`\n]+)`", prose) if span.startswith("ipmicra ")]
    wrong = [one for lines in shown for words in commands_in(lines) for one in mistakes(words)]
    assert wrong == []


def test_every_option_in_prose_belongs_to_a_command() -> None:
    known = all_options()
    wrong = []
    for page in PAGES:
        if page.parent.name == "decisions" or page.name in {"CONTRIBUTING.md", "RESULTS.md", HISTORY}:
            continue
        for option in re.findall(r"`(--[a-z][a-z-]+)", (ROOT / page).read_text(encoding="utf-8")):
            if option not in known:
                wrong.append(f"{page}: {option}")
    assert wrong == []


def test_a_wrong_option_and_a_wrong_command_are_noticed() -> None:
    (words,) = commands_in("$ ipmicra --home here lookup 192.0.2.1 --colour red | head")
    assert mistakes(words) == ["ipmicra lookup has no option --colour"]
    (words,) = commands_in("IPMICRA_HOME=here ipmicra guess 192.0.2.1")
    assert mistakes(words) == ["ipmicra has no command guess"]
    (words,) = commands_in("ipmicra crawler add ath 192.0.2.7 --latitude -9.1 --replace  # comes back")
    assert mistakes(words) == []


def test_shown_output_may_leave_out_what_varies() -> None:
    assert fits("a ... c\n...\nend", "a b c\nmore\n\nend  \n")
    assert not fits("a ... c", "a b d")
    assert not fits("a", "a\nb")


def test_messages_may_be_shown_wherever_they_come_between_the_output() -> None:
    assert without_messages("3 read\n\nhead\nrow\ndone in ... s", "3 read\ndone in 2 s\n") == "\nhead\nrow"
    assert without_messages("...\nrow", "3 read\n") == "...\nrow"
    assert without_messages("4 read\nrow", "3 read\n") == "4 read\nrow"
