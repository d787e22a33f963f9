"""Hypothesis strategies: ranges that nest, overlap and repeat, and the text of dumps, sound or damaged."""

from __future__ import annotations

from hypothesis import strategies as st

from ipmicra.model.registry import Registry
from tests.reference.slow_parser import SlowRegistration

BITS = {4: 32, 6: 128}


def _bounds(family: int) -> list[int]:
    """Addresses at which things change: ends of the space, of a word, and of a /24, and their neighbours."""
    bits = BITS[family]
    middle = 2 ** (bits // 2)
    near = [0, 1, 2, 3, 254, 255, 256, 257, 511, 512]
    around = [middle - 2, middle - 1, middle, middle + 1, 3 * middle, 3 * middle + 7]
    far = [2**bits - 1 - value for value in near]
    return sorted({*near, *around, *far})


BOUNDS = {family: _bounds(family) for family in BITS}


def addresses(family: int) -> st.SearchStrategy[int]:
    """Return addresses, most of them at the edges that ranges have."""
    return st.sampled_from(BOUNDS[family]) | st.integers(0, 2 ** BITS[family] - 1)


def ends(family: int) -> st.SearchStrategy[tuple[int, int]]:
    """Return first and last of a range; few different ends, so that overlaps and repeats are frequent."""
    either = st.sampled_from(BOUNDS[family])
    between = st.tuples(either, either).map(lambda pair: (min(pair), max(pair)))
    return st.one_of(between, between, between, prefixes(family))


def prefixes(family: int) -> st.SearchStrategy[tuple[int, int]]:
    """Return first and last of a prefix of any length."""
    bits = BITS[family]

    def of(parts: tuple[int, int]) -> tuple[int, int]:
        address, length = parts
        size = 2 ** (bits - length)
        return address // size * size, address // size * size + size - 1

    return st.tuples(addresses(family), st.integers(0, bits)).map(of)


HOLDERS = st.sampled_from(
    [("", ""), ("ORG", "ORG-A"), ("ORG", "org-a"), ("OWNERID", "ORG-A"), ("ORGID", "B")]
)


@st.composite
def registrations(draw: st.DrawFn, family: int) -> SlowRegistration:
    """Return a registration of few different values, so that those of one range are hard to distinguish."""
    first, last = draw(ends(family))
    holder, handle = draw(HOLDERS)
    return SlowRegistration(
        first=first,
        last=last,
        family=family,
        netname=draw(st.sampled_from(["", "NET-A", "NET-B", "N" * 130])),
        descr=draw(st.sampled_from(["", "Alpha", "alpha.", "Bêta  Net"])),
        handle=handle,
        holder=holder,
        maintainer=draw(st.sampled_from(["", "", "M-1"])),
        status=draw(st.sampled_from(["", "ASSIGNED PA", "ALLOCATED PA"])),
        country=draw(st.sampled_from(["", "GR", "DE"])),
        geoloc=draw(st.sampled_from(["", "", "1 2"])),
        geofeed=draw(st.sampled_from(["", "", "https://example.org/g"])),
        owner=draw(st.sampled_from(["", "", "Alpha SA", "ALPHA  SA."])),
        address=draw(st.sampled_from(["", "", "Lima", "Calle 1, Lima"])),
        registry=draw(st.sampled_from([Registry.NONE, Registry.RIPE, Registry.ARIN])),
        line=1,
    )


def many_registrations(
    family: int | None = None, most: int = 14
) -> st.SearchStrategy[list[SlowRegistration]]:
    """Return registrations of one family or of both."""
    families = [family] if family else [4, 6]
    return st.lists(st.one_of(*(registrations(each) for each in families)), max_size=most)


# --- dump text ----------------------------------------------------------------------------------------------

WORDS = [
    "ORG-A1-RIPE",
    "EXAMPLE-NET",
    "Example Carrier, Inc.",
    "Größe & Söhne",
    "Παράδειγμα",
    "MAINT-EX",
    "RIPE-NCC-HM-MNT, EX-MNT",
    "ripe-ncc-end-mnt",
    "MAINT-APNIC-AP",
    "20010203",
    "2020-02-30",
    "2019-02-28T10:11:12Z",
    "hostmaster@example.org 19991231",
    "GR",
    "gr # Greece",
    "EUU",
    "ALLOCATED PA",
    "RIPE",
    "ripe # Filtered",
    "AFRINIC-NONAUTH",
    "JPNIC",
    "Geofeed https://example.org/g.csv and more",
    "geofeed: https://example.org/g.csv",
    "geofeeds are fine",
    "37.98 23.73",
    "# nothing but a comment",
    "x" * 127,
    "é" * 64,
    "y" * 1000,
    "z" * 999 + "é",
    "w" * 1001,
    "",
]

RANGES4 = [
    "10.0.0.0 - 10.255.255.255",
    "10.0.0.0/8",
    "190.190/15",
    "190/8",
    "10.1.2.3",
    "10.255.255.255 - 10.0.0.0",
    "10.0.0.1/8",
    "010.000.0.0/8",
    "0.0.0.0 - 255.255.255.255",
    "10.0.0.256/24",
    "10.0.0.0/33",
    "10.0.0.0-10.0.0.9 # end",
    "10.0.0 - 10.0.0.9",
    "255.255.255.255/32",
    "10.0.0.0 -",
    "1.2.3.4.5/8",
    "999999999999",
    "10.0.0.0 / 8",
]
RANGES6 = [
    "2001:db8::/32",
    "2001:DB8:0:0::1/32",
    "::/0",
    "::",
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128",
    "2001:db8:: - 2001:db8::ffff",
    "2001:db8::ffff - 2001:db8::",
    "2001:db8::/129",
    "2001:db8::1.2.3.4/64",
    "1:2:3:4:5:6:7:8:9/64",
    "::1::/64",
    "fe80::1%eth0",
    "2001:db8::/",
    ":::/1",
    "1:2:3:4:5:6:7::/112",
    "::2:3:4:5:6:7:8/112",
]
KEYS = """inetnum inet6num NetRange netname NetName descr org ownerid owner OrgID OrgName org-name mnt-by
status NetType country last-modified changed Updated created RegDate geoloc geofeed remarks Comment source
address Street City State/Prov PostalCode Parent inetnum-up nic-hdl x-unknown""".split()
CLASSES = """inetnum inetnum inetnum inet6num inet6num NetHandle V6NetHandle organisation OrgID person route
mntner as-block poem strange""".split()
ENDS = ["\n", "\n", "\n", "\r\n", " \n", "\n# a comment\n", "\n+\n", "\n  more\n", "\n+more\n", "\njunk\n"]


def values(key: str) -> st.SearchStrategy[str]:
    """Return values that an attribute may have, likely ones more often."""
    anything = st.sampled_from(WORDS)
    if key.lower() in {"inetnum", "inet6num", "netrange"}:
        return st.one_of(st.sampled_from(RANGES4), st.sampled_from(RANGES6), anything)
    return anything


@st.composite
def attributes(draw: st.DrawFn, keys: list[str]) -> str:
    """Return an attribute line with what follows it: a comment, a continuation, junk."""
    key = draw(st.sampled_from(keys))
    gap = draw(st.sampled_from([" ", "", "\t", "        "]))
    return f"{key}:{gap}{draw(values(key))}{draw(st.sampled_from(ENDS))}"


@st.composite
def paragraphs(draw: st.DrawFn) -> str:
    """Return a paragraph of any class with attributes of all registries."""
    head = draw(attributes(CLASSES))
    return head + "".join(draw(st.lists(attributes(KEYS), max_size=8)))


BREAKS = ["\n", "\n", "\n\n", " \t\n", "\r\n", "% comment\n\n", "\n# comment\n"]


@st.composite
def paragraph_dumps(draw: st.DrawFn) -> bytes:
    """Return a dump in the paragraph dialects, in UTF-8 or latin-1."""
    parts = [
        each + draw(st.sampled_from(BREAKS)) for each in draw(st.lists(paragraphs(), min_size=1, max_size=6))
    ]
    text = "".join(parts)
    return text.encode("latin-1", "ignore") if draw(st.booleans()) else text.encode()


FIELDS = [
    ["ripencc", "arin", "apnic", "lacnic", "afrinic", "iana", "2", "2.3", "radb", "", " arin "],
    ["GR", "us", "*", "", "EUU", "ZZ"],
    ["ipv4", "ipv4", "ipv6", "ipv6", "asn", "ipv5", ""],
    ["10.0.0.0", "0.0.0.0", "255.255.255.0", "2001:db8::", "::", "010.0.0.0", "10.0.0", "300.0.0.0", "*"],
    ["256", "73728", "4294967296", "32", "0", "128", "129", "", "x", "4294967297", "0000256", "99999999999"],
    ["20190228", "00000000", "", "summary", "20190230", "2019-02-28", "x"],
    ["allocated", "assigned", "reserved", "available", "", "s" * 1001],
    ["abc-1", "", "é" * 10],
]


@st.composite
def statistics_dumps(draw: st.DrawFn) -> bytes:
    """Return lines of delegated statistics, most of them sound."""
    lines = []
    for _ in range(draw(st.integers(1, 8))):
        count = draw(st.sampled_from([7, 8, 8, 8, 6, 1]))
        fields = [draw(st.sampled_from([*choice[:1] * 4, *choice])) for choice in FIELDS[:count]]
        lines.append(
            "|".join(fields) + draw(st.sampled_from(["\n", "\n", "\r\n", "|e-stats\n", "\n\n", "\n# c\n"]))
        )
    text = "".join(lines)
    return text.encode("latin-1") if draw(st.booleans()) else text.encode()


CELLS = {
    "Prefix": [
        "000/8",
        "010/8",
        "2001:0200::/23",
        "2000::/3",
        "300/8",
        "010.1/8",
        "",
        "none",
        "255/8",
        "1/33",
    ],
    "Designation": ["IANA - Local Identification", '"Administered by A, B"', '"two\nlines"', "", "Größe"],
    "Date": ["1981-09", "1999-07-01", "", "1990-13", "soon", "1969-12", "2148-12"],
    "WHOIS": ["whois.ripe.net", ""],
    "RDAP": ['"https://a\r\nhttps://b"', ""],
    "Status [1]": ["ALLOCATED", "LEGACY", ""],
}


@st.composite
def iana_dumps(draw: st.DrawFn) -> bytes:
    """Return a table of IANA's."""
    names = list(CELLS)
    rows = [
        ",".join(draw(st.sampled_from(CELLS[name])) for name in names) for _ in range(draw(st.integers(0, 6)))
    ]
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return end.join([",".join(names), *rows, draw(st.sampled_from(["", " \t", ",,"]))]).encode()


@st.composite
def damaged(draw: st.DrawFn, sound: st.SearchStrategy[bytes], keep: int = 0) -> bytes:
    """Return a dump after a few random edits behind the first bytes that are to be kept."""
    text = bytearray(draw(sound))
    for _ in range(draw(st.integers(1, 5))):
        at = keep + draw(st.integers(0, max(len(text) - keep, 0)))
        size = draw(st.integers(0, 12))
        noise = st.sampled_from(
            [b"\n", b"\n\n", b"\r", b"\0", b":", b" ", b"\t", b"+", b"#", b"\xff", b"\xc3", b"|", b"-", b"0"]
        )
        text[at : at + draw(st.sampled_from([0, 0, size]))] = draw(noise | st.binary(max_size=6))
    return bytes(text)
