"""Reading published checksums."""

from __future__ import annotations

import hashlib
import string
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.edge.fetch.checksum import HEX_DIGITS, read_checksum, sum_file

if TYPE_CHECKING:
    from pathlib import Path

    from ipmicra.model.dump_source import ChecksumKind

NAME = "delegated-lacnic-extended-latest"
MD5 = "1d11010d5e9cc31ce507817ac4fae1bf"
SHA256 = hashlib.sha256(b"").hexdigest()

kinds: st.SearchStrategy[ChecksumKind] = st.sampled_from(["md5", "sha256"])
file_names = st.text(string.ascii_letters + string.digits + "._-()= ", min_size=1).map(str.strip).filter(bool)
forms = st.sampled_from(
    [
        "{tag} ({name}) = {sum}",
        "{tag}({name})= {sum}",
        "{sum}  {name}",
        "{sum} *{name}",
        "{sum}  ./a/{name}",
        "{sum}",
    ]
)


def hex_sums(kind: ChecksumKind) -> st.SearchStrategy[str]:
    return st.text("0123456789abcdef", min_size=HEX_DIGITS[kind], max_size=HEX_DIGITS[kind])


@pytest.mark.parametrize(
    "text",
    [
        f"MD5 ({NAME}) = {MD5}",
        f"MD5 ({NAME}) = {MD5}\n",
        f"{MD5}  delegated-lacnic-extended-20260928\n",
        f"{MD5} *{NAME}\r\n",
        f"\\{MD5}  odd\\\\name\n",
        f"\ufeff{MD5.upper()}\n\n",
        f"\n  {MD5}  {NAME}  \n",
        f"{'0' * 32}  another\n{MD5}  {NAME}\n",
        f"MD5 (another) = {'0' * 32}\nMD5 (pub/{NAME}) = {MD5}\n",
    ],
)
def test_sum_is_read_in_every_form_that_registries_use(text: str) -> None:
    assert read_checksum(text, name=NAME, kind="md5") == MD5


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<html><body>503</body></html>",
        f"{MD5[:-1]}  {NAME}",
        f"{MD5}0  {NAME}",
        f"{MD5}{NAME}",
        f"SHA256 ({NAME}) = {SHA256}",
        f"{'0' * 32}  another\n{MD5}  third\n",
        f"{'0' * 32}  {NAME}\n{MD5}  {NAME}\n",
    ],
)
def test_text_without_one_clear_sum_holds_none(text: str) -> None:
    assert read_checksum(text, name=NAME, kind="md5") is None


def test_sum_of_the_other_kind_is_not_taken() -> None:
    text = f"MD5 ({NAME}) = {MD5}\nSHA256 ({NAME}) = {SHA256}\n"
    assert read_checksum(text, name=NAME, kind="sha256") == SHA256
    assert read_checksum(text, name=NAME, kind="md5") == MD5


@given(data=st.data(), kind=kinds, form=forms, name=file_names)
def test_what_a_form_writes_is_read_back(
    data: st.DataObject, kind: ChecksumKind, form: str, name: str
) -> None:
    digits = data.draw(hex_sums(kind))
    text = form.format(tag=kind.upper(), name=name, sum=digits)
    assert read_checksum(text, name=name, kind=kind) == digits


@given(text=st.text(), kind=kinds)
def test_any_text_gives_a_whole_sum_or_none(text: str, kind: ChecksumKind) -> None:
    found = read_checksum(text, name=NAME, kind=kind)
    assert found is None or (len(found) == HEX_DIGITS[kind] and set(found) <= set("0123456789abcdef"))


@given(content=st.binary())
def test_file_is_summed_as_the_standard_library_sums_bytes(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path: Path = tmp_path_factory.getbasetemp() / "summed"
    path.write_bytes(content)
    assert sum_file(path, "md5") == hashlib.md5(content).hexdigest()
    assert sum_file(path, "sha256") == hashlib.sha256(content).hexdigest()
