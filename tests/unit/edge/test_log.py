"""Logs: events with fields, and no secrets."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from ipmicra.edge.log import Censor, EventLog, is_debugging, log_as_json, log_traceback, set_up_logging

Capture = pytest.CaptureFixture[str]
events = EventLog("testing")


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Leave logging as it was."""
    root, ours = logging.getLogger(), logging.getLogger("ipmicra")
    handlers, level = root.handlers[:], ours.level
    yield
    root.handlers[:] = handlers
    ours.setLevel(level)


def test_text_is_one_line_with_time_level_and_sentence(capsys: Capture) -> None:
    set_up_logging("info")
    events.info("batch_begun", "batch {batch} of {name}", batch=3, name="x\nERROR forged")
    events.debug("unseen", "nobody sees this")
    time, level, sentence = capsys.readouterr().err.rstrip("\n").split(" ", 2)
    assert (len(time), time[-1]) == (24, "Z")
    assert (level, sentence) == ("INFO", "batch 3 of x ERROR forged")


def test_json_has_the_event_and_its_fields(capsys: Capture) -> None:
    set_up_logging("debug", is_json=True)
    events.warning("agent_silent", "{crawler} is silent", crawler="ath", since_s=2.5, level="mine", why=None)
    entry = json.loads(capsys.readouterr().err)
    assert entry.pop("time")
    assert entry == {
        "level": "warning",
        "part": "testing",
        "event": "agent_silent",
        "message": "ath is silent",
        "crawler": "ath",
        "since_s": 2.5,
        "why": None,
    }


@pytest.mark.parametrize("is_json", [False, True])
def test_secrets_are_not_written(capsys: Capture, monkeypatch: pytest.MonkeyPatch, *, is_json: bool) -> None:
    monkeypatch.setenv("IPMICRA_AGENT_TOKEN", "tok-in-environment")
    set_up_logging("debug", is_json=is_json)
    events.info("one", "{url}", url="https://me:pw-in-url@example.org/a?apikey=key-in-query&b=1")
    events.info("two", "{header}", header="Authorization: Bearer tok-in-header")
    events.info("three", "said {words}", words="the token is tok-in-environment")
    events.info("four", "four", agent_token="tok-in-field", api_key="key-in-field", password="pw-in-field")
    logging.getLogger("urllib3").warning("retry %s", "http://me:pw-of-others@example.org/")
    try:
        int("http://me:pw-in-error@example.org/")
    except ValueError:
        log_traceback()
    written = capsys.readouterr().err
    assert "pw-" not in written
    assert "tok-" not in written
    assert "key-" not in written
    assert "https://***@example.org/a?***" in written
    assert len(written.splitlines()) == (6 if is_json else written.count("\n"))


def test_censor_leaves_plain_text_alone() -> None:
    plain = "10.0.0.0/8 and mail@example.org: what now? http://example.org/a"
    assert Censor().text(plain) == plain


def test_other_libraries_are_heard_from_warnings_on(capsys: Capture) -> None:
    set_up_logging("debug")
    logging.getLogger("urllib3.connectionpool").debug("GET /?apikey=K")
    assert capsys.readouterr().err == ""


def test_last_setting_counts_and_lines_come_once(capsys: Capture) -> None:
    set_up_logging("debug", is_json=True)
    assert is_debugging()
    assert log_as_json("hello")
    set_up_logging("error")
    assert not is_debugging()
    assert not log_as_json("hello")
    events.warning("unseen", "nobody sees this")
    assert [json.loads(line)["message"] for line in capsys.readouterr().err.splitlines()] == ["hello"]


def test_closed_standard_error_hurts_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    set_up_logging("info")
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr("sys.stderr", closed)
    events.info("unheard", "nobody hears this")


@pytest.mark.parametrize("is_json", [False, True])
def test_control_characters_of_strangers_are_not_written(capsys: Capture, *, is_json: bool) -> None:
    set_up_logging("debug", is_json=is_json)
    events.warning("odd", "{name} is odd", name="a\x1b[2J\x9b31m\u202eb")

    def fail() -> None:
        raise ValueError("c\x1b[2J\x9b31md")

    try:
        fail()
    except ValueError:
        log_traceback()
    written = capsys.readouterr().err
    assert "31md" in written
    assert all(line.isprintable() for line in written.split("\n"))
