"""Seeds: one grammar for all commands, from words, files and pipes."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import threading
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.edge.files.seeds import (
    NO_SEED,
    Seed,
    UnresolvedSeed,
    count_seeds,
    host_name,
    parse_seed,
    read_seeds,
    redacted,
)
from ipmicra.errors import InputError


def written(folder: Path, content: str | bytes, name: str = "seeds.txt") -> str:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


# --- one text


@pytest.mark.parametrize(
    ("text", "host", "scheme", "port"),
    [
        ("Example.ORG.", "example.org", None, None),
        ("https://example.org:8443/a?b#c", "example.org", "https", 8443),
        ("example.org:8080", "example.org", None, 8080),
        ("example.org/path", "example.org", None, None),
        ("_dmarc.example.org", "_dmarc.example.org", None, None),
        ("localhost", "localhost", None, None),
        ("bücher.example", "xn--bcher-kva.example", None, None),
        ("HTTPS://Bücher.example:444/ü", "xn--bcher-kva.example", "https", 444),
        ("http://user:secret@example.org/", "example.org", "http", None),
        ("user:secret@example.org:81", "example.org", None, 81),
        ("3com.example", "3com.example", None, None),
    ],
)
def test_host_is_taken_from_names_and_urls(
    text: str, host: str, scheme: str | None, port: int | None
) -> None:
    seed = parse_seed(text)
    assert isinstance(seed, Seed)
    assert (seed.host, seed.scheme, seed.port, seed.first) == (host, scheme, port, None)


@pytest.mark.parametrize(
    ("text", "first", "last", "port"),
    [
        ("192.0.2.1", "192.0.2.1", "192.0.2.1", None),
        (" 192.0.2.1:81 ", "192.0.2.1", "192.0.2.1", 81),
        ("http://192.0.2.1:8080/x", "192.0.2.1", "192.0.2.1", 8080),
        ("192.0.2.7/24", "192.0.2.0", "192.0.2.255", None),
        ("192.0.2.1 - 192.0.2.9", "192.0.2.1", "192.0.2.9", None),
        ("2001:DB8::1", "2001:db8::1", "2001:db8::1", None),
        ("[2001:db8::1]", "2001:db8::1", "2001:db8::1", None),
        ("[2001:db8::1]:81", "2001:db8::1", "2001:db8::1", 81),
        ("https://[2001:db8::1]/", "2001:db8::1", "2001:db8::1", None),
        ("::ffff:192.0.2.1", "192.0.2.1", "192.0.2.1", None),
        ("fe80::1%eth0", "fe80::1", "fe80::1", None),
        ("2001:db8::/127", "2001:db8::", "2001:db8::1", None),
    ],
)
def test_addresses_prefixes_and_ranges_are_read(text: str, first: str, last: str, port: int | None) -> None:
    seed = parse_seed(text)
    assert isinstance(seed, Seed)
    assert (seed.first, seed.last, seed.port) == (ip_address(first), ip_address(last), port)
    assert seed.host == first
    assert seed.is_range == (first != last)
    assert seed.address == (None if first != last else ip_address(first))


@pytest.mark.parametrize(
    "text",
    [
        *("", "ftp://a.example", "a b", "1.2.3", "http://", "a:99999", "http://[::1", "300.1.2.3", "a..b"),
        *(
            "10.0.0.0/33",
            "10.9.0.0-10.0.0.0",
            "x" * 64,
            f"{'x.' * 127}x",
            "*.example.org",
            "-1.2",
            "a,b",
            "\0",
        ),
        "a" * 5000,
    ],
)
def test_text_that_is_no_seed_is_unresolved(text: str) -> None:
    seed = parse_seed(text)
    assert isinstance(seed, UnresolvedSeed)
    assert seed.reason == NO_SEED


@given(st.text())
def test_any_text_is_a_seed_or_none(text: str) -> None:
    seed = parse_seed(text)
    if isinstance(seed, Seed) and seed.first is None:
        assert host_name(seed.host) == seed.host
        assert parse_seed(seed.host) == Seed(text=seed.host, host=seed.host)


# --- secrets


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://user:secret@example.org:81/a", "https://example.org:81/a"),
        ("https://secret@example.org", "https://example.org"),
        ("user:secret@example.org/a@b", "example.org/a@b"),
        ("https://example.org/@someone", "https://example.org/@someone"),
        ("https://user:secret@10.0.0.300/", "10.0.0.300/"),
        ("https://user:secret@exa mple.org/", "exa mple.org/"),
        ("https://user:sec#ret@example.org", "example.org"),
        ("user:sec/ret@example.org", "example.org"),
        ("https://user:secret\n@example.org", "https://example.org"),
        ("https://user:my secret@example.org", "https://example.org"),
        ("ht\ttps:/\n/user:secret@example.org", "https://example.org"),
    ],
)
def test_password_never_leaves_a_seed(text: str, shown: str) -> None:
    seed = parse_seed(text)
    assert seed.text == shown
    assert "secret" not in repr(seed)


def test_words_are_shown_without_passwords() -> None:
    words = ("delegate", "https://u:secret@a.example/", "v:secret@b.example", "c.example")
    assert redacted(*words) == "delegate https://a.example/ b.example c.example"


# --- files


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("a.example\nb.example:80\n", id="a list"),
        pytest.param("\ufeffa.example\r\nb.example:80\r\n", id="a mark, line ends of Windows"),
        pytest.param("a.example\nb.example:80".encode("utf-16"), id="UTF-16"),
        pytest.param(gzip.compress(b"a.example\nb.example:80\n", mtime=0), id="packed"),
        pytest.param("# mine\n\n  a.example # first\nb.example:80\n", id="comments"),
        pytest.param("host\na.example\nb.example:80\n", id="a header alone"),
        pytest.param("Host,address\na.example,192.0.2.1\nb.example:80,192.0.2.2\n", id="a header"),
        pytest.param("rank;URL\n1;a.example\n2;b.example:80\n", id="semicolons, another column"),
        pytest.param('name\tdomain\n"Alpha, Inc"\ta.example\nBeta\tb.example:80\n', id="tabs"),
        pytest.param("1,a.example\n2,b.example:80\n", id="a ranking without a header"),
        pytest.param('"a.example","x, y"\n"b.example:80","z"\n', id="quotes"),
        pytest.param('["a.example", "b.example:80"]', id="JSON texts"),
        pytest.param(json.dumps([{"site": "a.example"}, {"site": "b.example:80"}], indent=1), id="JSON"),
        pytest.param('{"host": "a.example"}\n{"host": "b.example:80"}\n', id="JSON lines"),
    ],
)
def test_file_of_seeds_has_many_forms(content: str | bytes, tmp_path: Path) -> None:
    assert list(read_seeds([written(tmp_path, content)])) == ["a.example", "b.example:80"]


def test_list_may_hold_ranges_and_addresses_in_brackets(tmp_path: Path) -> None:
    lines = ["[2001:db8::1]:81", "10.0.0.0 - 10.0.0.9", "https://a.example/x,y;z", "10.0.0.0/8"]
    assert list(read_seeds([written(tmp_path, "\n".join(lines))])) == lines


def test_words_and_files_keep_their_order(tmp_path: Path) -> None:
    path = written(tmp_path, "b.example\nc.example\n")
    assert list(read_seeds(["a.example", path, "d.example"])) == [f"{one}.example" for one in "abcd"]
    assert count_seeds(["a.example", path, "d.example"]) == 4


def fed(path: Path, content: bytes) -> threading.Thread:
    def feed() -> None:
        with path.open("wb") as pipe:
            pipe.write(content)

    thread = threading.Thread(target=feed)
    thread.start()
    return thread


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_pipe_is_read_like_a_file(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert count_seeds([str(pipe)]) is None
    thread = fed(pipe, pack(b"host\na.example\nb.example\n"))
    assert list(read_seeds([str(pipe)])) == ["a.example", "b.example"]
    thread.join()


def test_process_substitution_is_read() -> None:
    read, write = os.pipe()
    os.write(write, b"a.example\n")
    os.close(write)
    try:
        assert list(read_seeds([f"/dev/fd/{read}"])) == ["a.example"]
    finally:
        os.close(read)


@pytest.mark.parametrize(
    "word", ["seeds.txt", "lists/today", "./today", "/nowhere/today", "~/today", "a.example.csv.gz", "x\\y"]
)
def test_mistyped_file_is_no_host(word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="there is no file"):
        read_seeds(["a.example", word])


def test_path_in_a_folder_that_exists_is_meant_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "my.lists").mkdir()
    with pytest.raises(InputError, match="there is no file"):
        read_seeds([f"{tmp_path}/my.lists/tody"])


@pytest.mark.parametrize(
    "word", ["a.example", "b.example/x", "10.0.0.0/33", "https://a.example/x.txt", "host"]
)
def test_word_that_may_be_a_seed_is_none_of_the_file_systems_business(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.example").mkdir()
    monkeypatch.chdir(tmp_path)
    assert list(read_seeds([word])) == [word]


@pytest.mark.parametrize("word", ["/etc", ".", ".."])
def test_folder_is_no_file_of_seeds(word: str) -> None:
    with pytest.raises(InputError, match="is a folder"):
        read_seeds([word])


@pytest.mark.parametrize("content", ["", "\n\n", "# nothing\n", "host\n", "[]"])
def test_file_without_seeds_is_said_to_have_none(content: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there are no seeds in .*seeds\.txt"):
        read_seeds([written(tmp_path, content)])


@pytest.mark.parametrize("word", ["", " "])
def test_empty_word_is_called_empty_and_not_a_folder(word: str) -> None:
    with pytest.raises(InputError, match="a seed is empty"):
        read_seeds([word])


def test_no_words_are_no_mistake() -> None:
    assert list(read_seeds([])) == []


def test_table_without_seeds_names_its_columns(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column of seeds: there are colour"):
        read_seeds([written(tmp_path, '{"colour": "red"}')])


@given(st.binary(max_size=300))
def test_any_bytes_give_seeds_or_one_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any_bytes_of_seeds"
    path.write_bytes(content)
    with contextlib.suppress(InputError):
        assert all(isinstance(text, str) for text in read_seeds([str(path)]))
