"""What a server's answer means."""

from __future__ import annotations

import pytest

from ipmicra.edge.fetch.answer import (
    Asked,
    Verdict,
    content_length,
    content_range,
    judge,
    objection,
    retry_after_s,
    state_of,
)
from ipmicra.edge.fetch.state import FileState

PART = FileState(url="http://example.org/a", etag='"v1"', bytes_total=500)
REST = Asked(offset=100, part=PART)
ALL = Asked()
IF_CHANGED = Asked(is_conditional=True)


@pytest.mark.parametrize(
    ("status", "headers", "asked", "verdict"),
    [
        (200, {}, ALL, Verdict.WHOLE),
        (200, {}, REST, Verdict.WHOLE),
        (200, {}, IF_CHANGED, Verdict.WHOLE),
        (206, {"Content-Range": "bytes 100-499/500"}, REST, Verdict.REST),
        (206, {"Content-Range": "bytes 100-199/500"}, REST, Verdict.REST),
        (206, {"Content-Range": "bytes 100-499/*"}, REST, Verdict.REST),
        (206, {"Content-Range": "bytes 100-499/500", "ETag": '"v1"'}, REST, Verdict.REST),
        (206, {"Content-Range": "bytes 100-499/500", "ETag": '"v2"'}, REST, Verdict.DISCARD),
        (206, {"Content-Range": "bytes 99-499/500"}, REST, Verdict.DISCARD),
        (206, {"Content-Range": "bytes 100-599/600"}, REST, Verdict.DISCARD),
        (206, {"Content-Range": "rows 100-499/500"}, REST, Verdict.DISCARD),
        (206, {}, REST, Verdict.DISCARD),
        (206, {"Content-Range": "bytes 0-499/500"}, ALL, Verdict.REFUSED),
        (416, {"Content-Range": "bytes */500"}, Asked(offset=500, part=PART), Verdict.COMPLETE),
        (416, {"Content-Range": "bytes */100"}, REST, Verdict.DISCARD),
        (416, {}, REST, Verdict.DISCARD),
        (416, {}, ALL, Verdict.REFUSED),
        (304, {}, IF_CHANGED, Verdict.UNCHANGED),
        (304, {}, ALL, Verdict.REFUSED),
        (304, {}, REST, Verdict.REFUSED),
        (429, {}, ALL, Verdict.LATER),
        (503, {}, REST, Verdict.LATER),
        (404, {}, ALL, Verdict.REFUSED),
        (403, {}, REST, Verdict.REFUSED),
        (204, {}, ALL, Verdict.REFUSED),
        (999, {}, ALL, Verdict.REFUSED),
    ],
)
def test_answer_is_judged_by_what_was_asked(
    status: int, headers: dict[str, str], asked: Asked, verdict: Verdict
) -> None:
    assert judge(status, headers, asked) is verdict


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bytes 100-199/500", (100, 500)),
        ("bytes 100-199/*", (100, None)),
        ("bytes */500", (None, 500)),
        ("bytes 1-2", (None, None)),
        ("bytes ٣-٤/٥", (None, None)),
        (f"bytes {'9' * 5000}-2/3", (None, None)),
        ("", (None, None)),
    ],
)
def test_content_range_gives_first_byte_and_total(text: str, expected: tuple[int | None, int | None]) -> None:
    assert content_range({"Content-Range": text}) == expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Content-Length": "0"}, 0),
        ({"Content-Length": "42"}, 42),
        ({"Content-Length": "-1"}, None),
        ({"Content-Length": "42, 42"}, None),
        ({"Content-Length": "42", "Transfer-Encoding": "chunked"}, None),
        ({}, None),
    ],
)
def test_only_a_plain_content_length_is_relied_on(headers: dict[str, str], expected: int | None) -> None:
    assert content_length(headers) == expected


def test_rest_keeps_the_validators_that_the_part_began_with() -> None:
    state = state_of(PART.url, Verdict.REST, {"Content-Range": "bytes 100-499/500"}, REST)
    assert state == PART


def test_whole_answer_brings_its_own_validators() -> None:
    headers = {"ETag": '"v2"', "Last-Modified": "then", "Content-Length": "7"}
    state = state_of(PART.url, Verdict.WHOLE, headers, REST)
    assert state == FileState(url=PART.url, etag='"v2"', last_modified="then", bytes_total=7)


@pytest.mark.parametrize(
    ("name", "headers", "is_fine"),
    [
        ("a.gz", {}, True),
        ("a.gz", {"Content-Encoding": "x-gzip"}, True),
        ("a.gz", {"Content-Encoding": "br"}, False),
        ("a.csv", {"Content-Encoding": "identity"}, True),
        ("a.csv", {"Content-Encoding": "gzip"}, False),
        ("a.csv", {"Content-Type": "text/csv"}, True),
        ("a.csv", {"Content-Type": "Text/HTML; charset=utf-8"}, False),
    ],
)
def test_web_pages_and_foreign_encodings_are_no_dumps(
    name: str, headers: dict[str, str], is_fine: bool
) -> None:
    assert (objection(name, headers) is None) == is_fine


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Retry-After": "7"}, 7.0),
        (
            {"Retry-After": "Mon, 28 Sep 2026 22:12:00 GMT", "Date": "Mon, 28 Sep 2026 22:11:50 GMT"},
            10.0,
        ),
        (
            {"Retry-After": "Mon, 28 Sep 2026 22:11:00 GMT", "Date": "Mon, 28 Sep 2026 22:11:50 GMT"},
            0.0,
        ),
        ({"Retry-After": "Mon, 28 Sep 2026 22:12:00 GMT"}, None),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_pause_is_read_as_seconds_or_by_the_servers_own_clock(
    headers: dict[str, str], expected: float | None
) -> None:
    assert retry_after_s(headers) == expected
