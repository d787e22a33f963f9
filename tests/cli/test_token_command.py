"""`ipmicra token`: a token is printed once, listed without its text, revoked by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trustme

from ipmicra.edge.coordinator.access import Access
from ipmicra.edge.pins import pin_of, read_certificates
from ipmicra.edge.store.store import Store
from ipmicra.wire.joining import decode_join_token
from tests.cli.command_line import invoked, ran, told
from tests.cli.json_schemas import check_output


def test_token_is_the_only_thing_on_standard_output(tmp_path: Path) -> None:
    done = ran("--home", tmp_path, "token", "add", "alice", "--role", "operator")
    text = done.stdout.decode()
    assert done.returncode == 0
    assert text.startswith("ipm_o_")
    assert len(text.splitlines()) == 1
    assert text.strip() not in told(done)
    with Store.open(str(tmp_path / "state.db")) as store:
        assert Access(store).identify(f"Bearer {text.strip()}") is not None


def test_list_shows_states_and_no_secrets(tmp_path: Path) -> None:
    text = invoked("--home", tmp_path, "token", "add", "alice", "--role", "operator").stdout.strip()
    invoked("--home", tmp_path, "token", "add", "scrapy", "--role", "crawler", "--crawler", "fra")
    invoked("--home", tmp_path, "token", "revoke", "alice")
    listed = invoked("--home", tmp_path, "token", "list", "--json")
    assert text not in listed.output
    rows = json.loads(listed.stdout)
    check_output("token list", rows)
    assert [(row["name"], row["role"], row["crawler"], row["state"]) for row in rows] == [
        ("alice", "operator", None, "revoked"),
        ("scrapy", "crawler", "fra", "good"),
    ]
    assert "hash" not in rows[0]


def test_join_token_pins_the_key_of_a_certificate(tmp_path: Path) -> None:
    authority = trustme.CA()
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(file)
    words = ("--url", "https://coordinator.example:8460", "--cert", file)
    made = invoked("--home", tmp_path, "token", "add", "fra", "--role", "join", *words)
    read = decode_join_token(made.stdout.strip())
    assert read.pin == pin_of(read_certificates(file.read_bytes(), "ca")[0])
    assert read.url == "https://coordinator.example:8460"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("add", "fra", "--role", "join"), "--url"),
        (("add", "fra", "--role", "agent"), "--role join"),
        (("add", "a b", "--role", "operator"), "name"),
        (("revoke", "nobody"), "no token named 'nobody'"),
        (("add", "fra", "--role", "join", "--url", "http://c.example"), "clear text"),
    ],
)
def test_mistake_is_answered_with_what_to_do(tmp_path: Path, words: tuple[str, ...], complaint: str) -> None:
    done = ran("--home", tmp_path, "token", *words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert complaint in told(done)
