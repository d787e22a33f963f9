"""Hand-written hard cases of the sample dumps, one text per dump; holders, persons and places are invented.

The texts are in `hard_cases`; each paragraph says in its netname or in a comment what is hard about it.
`bin/make-sample` puts them between the paragraphs it generates.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).with_name("hard_cases")
LONG_TEXT = "A description that goes on and on. " * 32


def _read(name: str) -> str:
    """Read a text; a mark in it stands for a description that is too long to be written out."""
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8").replace("@LONG-TEXT@", LONG_TEXT)


RIPE_INETNUM = _read("ripe_inetnum")
RIPE_INET6NUM = _read("ripe_inet6num")
RIPE_ORGANISATION = _read("ripe_organisation")
APNIC_INETNUM = _read("apnic_inetnum")
APNIC_INET6NUM = _read("apnic_inet6num")
AFRINIC = _read("afrinic")
LACNIC = _read("lacnic")
ARIN_NETS = _read("arin_nets")
ARIN_DB = _read("arin_db")
STATISTICS = {name: _read(f"statistics_{name}") for name in ("afrinic", "apnic", "arin", "lacnic", "ripencc")}
"""Lines of delegated-extended statistics, by the registry's name in them."""
IANA_IPV4 = _read("iana_ipv4")
IANA_IPV6 = _read("iana_ipv6")
IANA_IPV6_SPACE = _read("iana_ipv6_space")
