"""Downloads from a server on loopback that misbehaves."""

from __future__ import annotations

import hashlib
import json
import logging
import random
import traceback
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import pytest
import requests

from ipmicra.edge.fetch.download import fetch
from ipmicra.edge.fetch.options import FetchOptions, FetchResult, Progress
from ipmicra.edge.fetch.partial import partial_file
from ipmicra.edge.pace.blocking import guarded_session
from ipmicra.errors import FetchError
from ipmicra.model.dump_source import DumpKind, DumpSource
from ipmicra.model.registry import Registry
from tests.servers.dump_server import MODIFIED, DumpServer, Mood

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "dump.db.gz"
PATH = f"/{NAME}"
OLD = random.Random(1).randbytes(300_000)
NEW = random.Random(2).randbytes(350_000)
KEY = "API-1111-2222-3333"


@dataclass
class Client:
    """Fetches one dump and remembers what it slept and reported."""

    source: DumpSource
    folder: Path
    session: requests.Session
    options: FetchOptions = field(default_factory=lambda: FetchOptions(timeout_s=5, attempts=4))
    naps: list[float] = field(default_factory=list)
    reports: list[Progress] = field(default_factory=list)

    @property
    def dump(self) -> Path:
        return self.folder / self.source.name

    @property
    def part(self) -> Path:
        return self.folder / f"{self.source.name}.part"

    def fetch(self, **options: float) -> FetchResult:
        return fetch(
            self.source,
            self.folder,
            session=self.session,
            sleep=self.naps.append,
            progress=self.reports.append,
            options=replace(self.options, **options),  # type: ignore[arg-type]  # fields of several types
        )

    def fail(self, **options: float) -> FetchError:
        with pytest.raises(FetchError) as caught:
            self.fetch(**options)
        return caught.value

    def left_behind(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}


@pytest.fixture
def server() -> Iterator[DumpServer]:
    with DumpServer() as server:
        server.publish(PATH, OLD)
        yield server


@pytest.fixture
def client(server: DumpServer, tmp_path: Path) -> Iterator[Client]:
    source = DumpSource(name=NAME, registry=Registry.RIPE, kind=DumpKind.WHOIS, url=f"{server.url}{PATH}")
    with guarded_session() as session:
        session.trust_env = False
        yield Client(source=source, folder=tmp_path / "dumps", session=session)


@pytest.fixture
def summed(client: Client) -> Client:
    """The same client, for a source that publishes a checksum."""
    client.source = replace(client.source, checksum_url=f"{client.source.url}.md5")
    return client


def md5(content: bytes) -> str:
    return hashlib.md5(content).hexdigest()


# --- the plain course ---------------------------------------------------------------------------------------


def test_dump_is_stored_byte_for_byte(client: Client) -> None:
    result = client.fetch()
    assert result == FetchResult(
        path=client.dump, status="downloaded", bytes_received=len(OLD), bytes_total=len(OLD)
    )
    assert client.dump.read_bytes() == OLD
    assert client.left_behind() == {NAME, f".{NAME}.json"}
    assert client.naps == []


def test_request_says_who_asks_and_wants_no_encoding(server: DumpServer, client: Client) -> None:
    client.fetch()
    (headers,) = server.asked_for(PATH)
    assert headers["User-Agent"].startswith("ipmicra")
    assert headers["Accept-Encoding"] == "identity"


def test_progress_rises_to_the_whole(client: Client) -> None:
    client.fetch()
    done = [report.bytes_done for report in client.reports]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, len(OLD))
    assert {(report.name, report.bytes_total) for report in client.reports} == {(NAME, len(OLD))}


def test_body_of_unknown_size_is_taken_to_its_end(server: DumpServer, client: Client) -> None:
    for mood in (Mood(is_chunked=True), Mood(ends_with_connection=True)):
        server.publish(PATH, NEW, etag=None, last_modified=None)
        server.expect(PATH, mood)
        assert client.fetch().bytes_total == len(NEW)
        assert client.dump.read_bytes() == NEW
        assert client.reports[-1].bytes_total is None


# --- only what changed --------------------------------------------------------------------------------------


def test_unchanged_dump_is_not_downloaded_again(server: DumpServer, client: Client) -> None:
    client.fetch()
    result = client.fetch()
    assert (result.status, result.bytes_received, result.bytes_total) == ("unchanged", 0, len(OLD))
    assert server.asked_for(PATH)[1]["If-None-Match"] == '"v1"'
    assert client.left_behind() == {NAME, f".{NAME}.json"}


def test_server_without_tags_is_asked_by_date(server: DumpServer, client: Client) -> None:
    server.publish(PATH, OLD, etag=None)
    client.fetch()
    assert client.fetch().status == "unchanged"
    assert server.asked_for(PATH)[1]["If-Modified-Since"] == MODIFIED


def test_changed_dump_replaces_the_old_one(server: DumpServer, client: Client) -> None:
    client.fetch()
    server.publish(PATH, NEW, etag='"v2"')
    assert client.fetch().status == "downloaded"
    assert client.dump.read_bytes() == NEW
    assert client.fetch().status == "unchanged"


@pytest.mark.parametrize("damage", ["removed", "cut", "sidecar lost", "sidecar damaged"])
def test_dump_that_is_not_as_it_was_left_is_downloaded_again(
    server: DumpServer, client: Client, damage: str
) -> None:
    client.fetch()
    if damage == "removed":
        client.dump.unlink()
    elif damage == "cut":
        client.dump.write_bytes(OLD[:-1])
    elif damage == "sidecar lost":
        (client.folder / f".{NAME}.json").unlink()
    else:
        (client.folder / f".{NAME}.json").write_text("{")
    assert client.fetch().status == "downloaded"
    assert client.dump.read_bytes() == OLD
    assert server.asked_for(PATH)[1]["If-None-Match"] is None


def test_mirror_is_not_asked_with_validators_of_another_server(server: DumpServer, client: Client) -> None:
    client.fetch()
    server.publish(f"/mirror{PATH}", NEW)
    client.source = client.source.at_mirror(f"{server.url}/mirror")
    assert client.fetch().status == "downloaded"
    assert client.dump.read_bytes() == NEW


def test_published_checksum_tells_that_nothing_changed_where_validators_do_not(
    server: DumpServer, summed: Client
) -> None:
    """ARIN's file is served by several machines, each with an ETag of its own."""
    server.publish(f"{PATH}.md5", f"{md5(OLD)}  dump-20260928\n".encode())
    assert summed.fetch().checksum == md5(OLD)
    server.publish(PATH, OLD, etag='"another machine"', last_modified=None)
    result = summed.fetch()
    assert (result.status, result.bytes_received, result.checksum) == ("unchanged", 0, md5(OLD))


# --- cut short ----------------------------------------------------------------------------------------------


def test_cut_connection_is_taken_up_where_it_broke(server: DumpServer, client: Client) -> None:
    server.expect(PATH, Mood(cut_after=100_000), Mood(cut_after=50_000))
    result = client.fetch()
    assert (result.status, result.bytes_received) == ("resumed", len(OLD))
    assert client.dump.read_bytes() == OLD
    ranges = [(headers["Range"], headers["If-Range"]) for headers in server.asked_for(PATH)]
    assert ranges == [(None, None), ("bytes=100000-", '"v1"'), ("bytes=150000-", '"v1"')]
    assert client.naps == [1.0, 2.0]
    assert client.left_behind() == {NAME, f".{NAME}.json"}


def test_chunked_body_that_breaks_off_is_not_taken_for_whole(server: DumpServer, client: Client) -> None:
    server.expect(PATH, Mood(is_chunked=True, cut_after=100_000))
    assert client.fetch().status == "resumed"
    assert client.dump.read_bytes() == OLD


def test_next_run_goes_on_from_what_the_last_one_left(server: DumpServer, client: Client) -> None:
    server.expect(PATH, Mood(cut_after=120_000))
    error = client.fail(attempts=1)
    assert "cut after 120000 of 300000 bytes" in error.reason
    assert client.part.stat().st_size == 120_000
    assert not client.dump.exists()
    result = client.fetch()
    assert (result.status, result.bytes_received) == ("resumed", len(OLD) - 120_000)
    assert client.dump.read_bytes() == OLD


def test_attempts_are_bounded_and_the_old_dump_stays(server: DumpServer, client: Client) -> None:
    client.fetch()
    server.publish(PATH, NEW, etag='"v2"')
    server.expect(PATH, *[Mood(cut_after=10)] * 9)
    error = client.fail(attempts=4)
    assert error.reason.startswith("gave up after 4 attempts: cut after 40 of 350000 bytes")
    assert client.naps == [1.0, 2.0, 4.0]
    assert client.dump.read_bytes() == OLD
    assert client.fetch(attempts=6).status == "resumed"
    assert client.dump.read_bytes() == NEW


@pytest.mark.parametrize("what", ["headers", "body"])
def test_server_that_drips_is_left_and_asked_again(
    server: DumpServer, client: Client, what: Literal["headers", "body"]
) -> None:
    server.publish(PATH, OLD)
    server.expect(PATH, Mood(drips=what))
    assert client.fetch(timeout_s=0.3, bytes_per_s=1e6).bytes_total == len(OLD)
    assert len(client.naps) == 1


@pytest.mark.parametrize(("what", "reason"), [("headers", "no complete headers"), ("body", "slower than")])
def test_server_that_drips_for_ever_is_given_up(
    server: DumpServer, client: Client, what: Literal["headers", "body"], reason: str
) -> None:
    server.publish(PATH, OLD)
    server.expect(PATH, Mood(drips=what), Mood(drips=what))
    with pytest.raises(FetchError, match=f"gave up after 2 attempts: .*{reason}"):
        client.fetch(timeout_s=0.3, bytes_per_s=1e6, attempts=2)


def test_silent_server_is_left_and_asked_again(server: DumpServer, client: Client) -> None:
    server.expect(PATH, Mood(stops_after=-1), Mood(stops_after=1000))
    assert client.fetch(timeout_s=0.5, attempts=9).bytes_total == len(OLD)
    assert client.dump.read_bytes() == OLD
    assert len(client.naps) == len(server.asked_for(PATH)) - 1 >= 2


def test_part_of_a_file_that_changed_meanwhile_is_thrown_away(server: DumpServer, client: Client) -> None:
    server.expect(PATH, Mood(cut_after=100_000, then=lambda: server.publish(PATH, NEW, etag='"v2"')))
    assert client.fetch().status == "downloaded"
    assert client.dump.read_bytes() == NEW


def test_server_that_ignores_ranges_makes_the_download_start_over(server: DumpServer, client: Client) -> None:
    server.expect(PATH, Mood(cut_after=100_000), Mood(ignores_range=True))
    result = client.fetch()
    assert (result.status, result.bytes_received) == ("downloaded", 100_000 + len(OLD))
    assert client.dump.read_bytes() == OLD


@pytest.mark.parametrize(
    "content_range",
    ["bytes 0-299999/300000", "bytes 100000-349999/350000", "bytes 100001-299999/300000", None],
)
def test_rest_that_does_not_fit_is_not_appended(
    server: DumpServer, client: Client, content_range: str | None
) -> None:
    server.expect(PATH, Mood(cut_after=100_000), Mood(headers={"Content-Range": content_range}))
    assert client.fetch().status == "downloaded"
    assert client.dump.read_bytes() == OLD
    assert client.naps == [1.0, 0.0]


def test_rest_longer_than_announced_is_thrown_away(server: DumpServer, client: Client) -> None:
    rest = {"Content-Range": "bytes 100000-299999/300000"}
    server.expect(PATH, Mood(cut_after=100_000), Mood(body=OLD + b"more", headers=dict(rest)))
    assert client.fetch().status == "downloaded"
    assert client.dump.read_bytes() == OLD


def test_rest_that_comes_in_pieces_is_put_together(server: DumpServer, client: Client) -> None:
    piece = Mood(body=OLD[:200_000], headers={"Content-Range": "bytes 100000-199999/300000"})
    server.expect(PATH, Mood(cut_after=100_000), piece)
    result = client.fetch()
    assert (result.status, result.bytes_received) == ("resumed", len(OLD))
    assert client.dump.read_bytes() == OLD


def test_part_without_a_strong_validator_is_not_gone_on_with(server: DumpServer, client: Client) -> None:
    server.publish(PATH, OLD, etag='W/"v1"', last_modified=None)
    server.expect(PATH, Mood(cut_after=100_000))
    assert client.fetch().status == "downloaded"
    assert client.dump.read_bytes() == OLD
    assert [headers["Range"] for headers in server.asked_for(PATH)] == [None, None]


@pytest.mark.parametrize(
    "sidecar", [None, "{", '{"url": "http://elsewhere.example/dump.db.gz", "etag": "\\"v1\\""}']
)
def test_part_of_unknown_origin_is_not_gone_on_with(
    server: DumpServer, client: Client, sidecar: str | None
) -> None:
    client.folder.mkdir()
    client.part.write_bytes(b"junk" * 100)
    if sidecar is not None:
        (client.folder / f".{NAME}.part.json").write_text(sidecar)
    assert client.fetch().status == "downloaded"
    assert client.dump.read_bytes() == OLD


def test_junk_part_is_swept_away_when_the_dump_is_unchanged(client: Client) -> None:
    client.fetch()
    client.part.write_bytes(b"junk")
    assert client.fetch().status == "unchanged"
    assert client.left_behind() == {NAME, f".{NAME}.json"}


def leave_whole_part(server: DumpServer, client: Client) -> None:
    """Leave a part that is whole, as a kill before the rename does."""
    server.expect(PATH, Mood(cut_after=100_000))
    client.fail(attempts=1)
    client.part.write_bytes(OLD)


def test_part_that_is_whole_already_is_put_in_place(server: DumpServer, client: Client) -> None:
    leave_whole_part(server, client)
    result = client.fetch()
    assert (result.status, result.bytes_received, result.bytes_total) == ("resumed", 0, len(OLD))
    assert client.dump.read_bytes() == OLD


@pytest.mark.parametrize("content_range", ["bytes */299999", None])
def test_refused_range_of_another_size_makes_the_download_start_over(
    server: DumpServer, client: Client, content_range: str | None
) -> None:
    leave_whole_part(server, client)
    server.expect(PATH, Mood(status=416, headers={"Content-Range": content_range}))
    assert client.fetch().status == "downloaded"
    assert client.dump.read_bytes() == OLD


def test_server_that_announces_more_than_it_has_is_not_believed(server: DumpServer, client: Client) -> None:
    client.fetch()
    server.publish(PATH, NEW, etag='"v2"')
    server.expect(PATH, *[Mood(headers={"Content-Length": "400000"}, ignores_range=True)] * 9)
    assert "cut after 350000 of 400000 bytes" in client.fail().reason
    assert client.dump.read_bytes() == OLD


def test_any_order_of_faults_ends_in_the_published_bytes(server: DumpServer, client: Client) -> None:
    """Whatever the server does on the way, what is put in place is whole and of one version."""
    chance = random.Random(3)
    for number in range(25):
        body = chance.randbytes(chance.randrange(1, 60_000))
        server.publish(PATH, body, etag=f'"{number}"')
        published = {body}
        for _ in range(chance.randrange(6)):
            after = chance.randrange(70_000)
            server.expect(
                PATH,
                chance.choice(
                    [
                        Mood(cut_after=after),
                        Mood(cut_after=after, is_chunked=True),
                        Mood(cut_after=after, ignores_range=True),
                        Mood(cut_after=after, headers={"ETag": None, "Last-Modified": None}),
                        Mood(status=503, headers={"Retry-After": "0"}),
                        Mood(status=500, body=b"sorry"),
                        Mood(headers={"Content-Range": "bytes 7-8/9"}, cut_after=after),
                    ]
                ),
            )
        client.fetch(attempts=20)
        assert client.dump.read_bytes() in published
        server.moods[PATH].clear()


# --- checksums ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["MD5 ({name}) = {sum}", "{sum}  dump-20260928\n", "{sum}\n"])
def test_dump_that_agrees_with_its_checksum_is_put_in_place(
    server: DumpServer, summed: Client, form: str
) -> None:
    server.publish(f"{PATH}.md5", form.format(name=NAME, sum=md5(OLD)).encode())
    assert summed.fetch().checksum == md5(OLD)
    assert summed.dump.read_bytes() == OLD


def test_longer_checksums_are_checked_too(server: DumpServer, client: Client) -> None:
    url = f"{client.source.url}.sha256"
    client.source = replace(client.source, checksum_url=url, checksum_kind="sha256")
    server.publish(f"{PATH}.sha256", f"{hashlib.sha256(OLD).hexdigest()}  {NAME}".encode())
    assert client.fetch().checksum == hashlib.sha256(OLD).hexdigest()
    server.publish(PATH, NEW, etag='"v2"')
    server.publish(f"{PATH}.sha256", b"0" * 64)
    assert "its sha256 is" in client.fail().reason


def test_dump_that_disagrees_with_its_checksum_is_discarded(server: DumpServer, summed: Client) -> None:
    server.publish(f"{PATH}.md5", md5(OLD).encode())
    summed.fetch()
    server.publish(PATH, NEW, etag='"v2"')
    server.publish(f"{PATH}.md5", md5(b"something else").encode())
    reason = summed.fail().reason
    assert f"its md5 is {md5(NEW)}, but the published one is {md5(b'something else')}" in reason
    assert summed.dump.read_bytes() == OLD
    assert summed.left_behind() == {NAME, f".{NAME}.json"}


def test_damaged_part_is_found_out_by_the_checksum(server: DumpServer, summed: Client) -> None:
    server.publish(f"{PATH}.md5", md5(OLD).encode())
    server.expect(PATH, Mood(cut_after=100_000))
    summed.fail(attempts=1)
    summed.part.write_bytes(b"\0" * 100_000)
    assert "its md5 is" in summed.fail().reason
    assert summed.fetch().status == "downloaded"
    assert summed.dump.read_bytes() == OLD


def test_checksum_that_is_not_published_is_done_without(summed: Client) -> None:
    assert summed.fetch().checksum is None
    assert summed.dump.read_bytes() == OLD


def test_checksum_that_cannot_be_had_keeps_the_bytes_for_the_next_run(
    server: DumpServer, summed: Client
) -> None:
    server.publish(f"{PATH}.md5", md5(OLD).encode())
    server.expect(f"{PATH}.md5", *[Mood(status=503)] * 4)
    assert "answers 503" in summed.fail().reason
    assert not summed.dump.exists()
    result = summed.fetch()
    assert (result.status, result.bytes_received, result.checksum) == ("resumed", 0, md5(OLD))


@pytest.mark.parametrize("text", [b"", b"<html>sorry</html>", b"\xff" * 100_000, b"0123"])
def test_checksum_file_without_a_sum_is_an_error(server: DumpServer, summed: Client, text: bytes) -> None:
    server.publish(f"{PATH}.md5", text)
    error = summed.fail()
    assert error.reason == f"holds no md5 of {NAME}"
    assert error.url.endswith(".md5")
    assert not summed.dump.exists()


def test_checksum_that_breaks_off_is_asked_for_again(server: DumpServer, summed: Client) -> None:
    server.publish(f"{PATH}.md5", md5(OLD).encode())
    server.expect(f"{PATH}.md5", Mood(cut_after=10), Mood(stops_after=-1))
    assert summed.fetch(timeout_s=0.5, attempts=9).checksum == md5(OLD)


# --- refusals and pauses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"Retry-After": "7"},
        {"Retry-After": "Mon, 28 Sep 2026 22:12:07 GMT", "Date": "Mon, 28 Sep 2026 22:12:00 GMT"},
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_pause_that_the_server_asks_for_is_kept(
    server: DumpServer, client: Client, status: int, headers: dict[str, str | None]
) -> None:
    server.expect(PATH, Mood(status=status, headers=headers))
    assert client.fetch().status == "downloaded"
    assert client.naps[0] == pytest.approx(7.0)


def test_server_that_asks_for_too_long_a_pause_is_left_alone(server: DumpServer, client: Client) -> None:
    server.expect(PATH, Mood(status=503, headers={"Retry-After": "86400"}))
    assert client.fail().reason == "the server answers 503 (Service Unavailable), come back in 86400 s"
    assert client.naps == []


def test_own_pauses_double_up_to_a_bound(server: DumpServer, client: Client) -> None:
    server.expect(PATH, *[Mood(status=500)] * 6)
    client.fetch(attempts=7, backoff_s=3, max_wait_s=20)
    assert client.naps == [3.0, 6.0, 12.0, 20.0, 20.0, 20.0]


@pytest.mark.parametrize("status", [401, 403, 404, 304, 206, 204, 299])
def test_refusal_for_good_is_not_tried_again(server: DumpServer, client: Client, status: int) -> None:
    server.expect(PATH, Mood(status=status))
    assert f"the server answers {status}" in client.fail().reason
    assert len(server.seen) == 1
    assert client.left_behind() == set()


def test_port_where_nobody_listens_is_named_in_plain_words_at_the_first_attempt(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    client.source = replace(client.source, url="http://127.0.0.1:1/dump.db.gz")
    assert client.fail(attempts=3).reason == "gave up after 3 attempts: Connection refused"
    (warning,) = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert "127.0.0.1:1/dump.db.gz: Connection refused; attempt 2 in" in warning


@pytest.mark.parametrize(
    "url", ["ftp://127.0.0.1/dump.db.gz", "dump.db.gz", "http://", "http://[::1/dump.db.gz"]
)
def test_address_that_is_none_of_the_webs_is_refused_at_once(client: Client, url: str) -> None:
    client.source = replace(client.source, url=url)
    client.fail()
    assert client.naps == []


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_redirect_is_followed_with_the_same_question(server: DumpServer, client: Client, code: int) -> None:
    server.publish("/elsewhere/file", OLD)
    for _ in range(2):
        server.expect(PATH, Mood(status=code, headers={"Location": "/elsewhere/file?token=1"}))
    server.expect("/elsewhere/file", Mood(cut_after=100_000))
    assert client.fetch().status == "resumed"
    assert client.dump.read_bytes() == OLD
    assert server.asked_for("/elsewhere/file")[1]["Range"] == "bytes=100000-"


@pytest.mark.parametrize("location", ["ftp://127.0.0.1/x", "file:///etc/passwd", "gopher://a/?token=K", None])
def test_redirect_out_of_the_web_is_not_followed(
    server: DumpServer, client: Client, location: str | None
) -> None:
    server.expect(PATH, Mood(status=302, headers={"Location": location}))
    reason = client.fail().reason
    assert "which is not followed" in reason
    assert "token" not in reason


def test_redirect_to_what_is_no_address_is_an_error_at_once(server: DumpServer, client: Client) -> None:
    server.expect(PATH, Mood(status=302, headers={"Location": "http://["}))
    client.fail()
    assert client.naps == []


def test_redirects_in_a_circle_end(server: DumpServer, client: Client) -> None:
    server.expect(PATH, *[Mood(status=302, headers={"Location": PATH})] * 9)
    assert client.fail().reason == "more than 5 redirects"


# --- what is no dump ----------------------------------------------------------------------------------------


def test_empty_answer_does_not_replace_a_dump(server: DumpServer, client: Client) -> None:
    client.fetch()
    server.publish(PATH, b"", etag='"v2"')
    assert client.fail().reason == "the dump is empty"
    assert client.dump.read_bytes() == OLD


def test_web_page_does_not_replace_a_dump(server: DumpServer, client: Client) -> None:
    server.expect(PATH, Mood(body=b"<html>maintenance</html>", headers={"Content-Type": "text/html"}))
    assert client.fail().reason == "a web page came in place of the dump"
    assert client.left_behind() == set()


def test_gz_file_that_the_server_calls_an_encoding_is_stored_as_it_is(
    server: DumpServer, client: Client
) -> None:
    server.expect(PATH, Mood(headers={"Content-Encoding": "gzip"}))
    client.fetch()
    assert client.dump.read_bytes() == OLD


@pytest.mark.parametrize("mood", [Mood(), Mood(is_chunked=True)])
def test_dump_above_the_limit_is_refused_and_leaves_nothing(
    server: DumpServer, client: Client, mood: Mood
) -> None:
    server.expect(PATH, mood)
    assert "above the limit of 200000" in client.fail(max_bytes=200_000).reason
    assert client.left_behind() == set()
    assert client.fetch(max_bytes=len(OLD)).bytes_total == len(OLD)


@pytest.mark.parametrize(
    "name", ["../dump", "a/b", "/etc/passwd", "a\\b", "C:dump", "", ".", "..", ".hidden", "a\0b"]
)
def test_name_with_a_path_in_it_is_refused(server: DumpServer, client: Client, name: str) -> None:
    client.source = replace(client.source, name=name)
    assert client.fail().reason == f"{name!r} is no plain file name"
    assert server.seen == []


# --- the disk -----------------------------------------------------------------------------------------------


def test_folder_that_cannot_be_made_is_an_error_that_names_it(client: Client) -> None:
    client.folder.write_bytes(b"a file is in the way")
    assert client.fail().reason == f"cannot write {client.folder}: File exists"


def test_two_processes_do_not_write_to_one_part(client: Client) -> None:
    client.folder.mkdir()
    with partial_file(client.dump):
        assert client.fail().reason == f"another process is downloading {client.dump}"
    assert client.fetch().status == "downloaded"


def test_part_that_was_renamed_while_waiting_is_not_written_to(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may finish between the opening of a part and its locking."""
    client.folder.mkdir()
    client.part.write_bytes(OLD)

    def finish_elsewhere(*_: object) -> None:
        monkeypatch.undo()
        client.part.rename(client.dump)

    monkeypatch.setattr("ipmicra.edge.fetch.partial.fcntl.flock", finish_elsewhere)
    with partial_file(client.dump) as part:
        assert part.size == 0
    assert client.dump.read_bytes() == OLD


def test_part_that_is_a_link_is_refused_and_its_target_stays(client: Client) -> None:
    client.folder.mkdir()
    target = client.folder / "precious.txt"
    target.write_bytes(b"kept")
    client.part.symlink_to(target)
    assert "symbolic link" in client.fail().reason
    assert target.read_bytes() == b"kept"


def test_interrupt_keeps_what_was_received(client: Client) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.bytes_done > 100_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(
            client.source, client.folder, session=client.session, sleep=client.naps.append, progress=interrupt
        )
    assert client.part.stat().st_size > 100_000
    assert client.fetch().status == "resumed"
    assert client.dump.read_bytes() == OLD


# --- secrets ------------------------------------------------------------------------------------------------


@pytest.fixture
def keyed(client: Client) -> Client:
    """The same client, for a source that needs an API key."""
    url = f"{client.source.url}?apikey={{key}}"
    client.source = replace(client.source, url=url, needs_key="IPMICRA_ARIN_KEY", key=KEY)
    return client


def test_key_is_sent_and_then_found_nowhere(
    server: DumpServer, keyed: Client, caplog: pytest.LogCaptureFixture
) -> None:
    server.expect(PATH, Mood(cut_after=100_000))
    with caplog.at_level(logging.DEBUG):
        keyed.fail(attempts=1)
        kept = [path.read_bytes() for path in keyed.folder.iterdir()]
        keyed.fetch()
    assert [seen.path for seen in server.seen] == [f"{PATH}?apikey={KEY}"] * 2
    kept += [path.read_bytes() for path in keyed.folder.iterdir()]
    assert all(KEY.encode() not in content for content in kept)
    assert json.loads((keyed.folder / f".{NAME}.json").read_text())["url"] == f"{server.url}{PATH}"
    assert PATH in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    "trouble", ["refused", "status", "cut", "silent", "dripping", "redirect", "circle", "no port", "checksum"]
)
def test_no_error_shows_the_key(server: DumpServer, keyed: Client, trouble: str) -> None:
    moods = {
        "status": Mood(status=500, body=KEY.encode()),
        "cut": Mood(cut_after=10),
        "silent": Mood(stops_after=-1),
        "dripping": Mood(drips="headers"),
        "redirect": Mood(status=302, headers={"Location": f"ftp://u:{KEY}@h/{KEY}?apikey={KEY}"}),
        "circle": Mood(status=302, headers={"Location": f"{PATH}?apikey={KEY}"}),
    }
    if trouble in moods:
        server.expect(PATH, *[moods[trouble]] * 9)
    elif trouble == "refused":
        keyed.source = replace(keyed.source, url="http://127.0.0.1:1/x?apikey={key}")
    elif trouble == "no port":
        keyed.source = replace(keyed.source, url="http://127.0.0.1:{key}/x?apikey={key}")
    else:
        keyed.source = replace(keyed.source, checksum_url=f"{server.url}/sums?apikey={{key}}")
        server.publish("/sums", KEY.encode())
    error = keyed.fail(timeout_s=0.1, attempts=2)
    shown = "".join(traceback.format_exception(error)) + repr(error.__context__) + repr(vars(error))
    assert KEY not in shown


def test_missing_key_is_asked_for_before_anything_is_sent(server: DumpServer, keyed: Client) -> None:
    keyed.source = replace(keyed.source, key=None)
    assert "set IPMICRA_ARIN_KEY" in keyed.fail().reason
    assert server.seen == []
