"""Seeds: what users name to be looked up, probed, delegated or partitioned.

A seed is an address, a prefix, a range, a host name, `host:port`, or a URL. Users name seeds on the command
line, in files, or on standard input (`-`). `read_seeds` replaces files by the texts in them, `parse_seed`
parses one text; every command uses these two, so that a seed means the same to all of them.

A word is a file if there is one of this name. A word that looks like a path and names no file is a mistake,
and reported as such: asking the DNS for `seeds.txt` would only hide the typing error.

Names and passwords of URLs (`https://user:secret@host/`) are dropped here, before anything is printed,
logged or stored: `Seed.text` never has them.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address
from pathlib import Path
from socket import AF_INET, inet_pton
from typing import TypeVar, cast
from urllib.parse import urlsplit

from ipmicra.edge.files.cells import Row
from ipmicra.edge.files.lines import STDIN, guarded, name_of
from ipmicra.edge.files.tables import LOOKED_AT, Table, open_table, rows_of_list
from ipmicra.errors import AddressError, InputError
from ipmicra.hierarchy.rendering import Targets
from ipmicra.model.address import Address, read_address, read_range

Piece = TypeVar("Piece")

LONGEST_SEED = 4096
"""Most characters of a seed; a longer text is rejected, and shown truncated."""
LONGEST_NAME = 253
"""Characters of a host name without the dot at the end (RFC 1035)."""
COLUMNS = (
    *("seed", "host", "hostname", "host_name", "url", "uri", "site", "domain", "fqdn", "website"),
    *("target", "address", "ip", "ip_address", "addr"),
)
"""Columns of a table that hold seeds; of several in one table the first of this list."""
ENDINGS = (
    *(".txt", ".csv", ".tsv", ".lst", ".json", ".jsonl", ".ndjson", ".parquet", ".pq", ".xml", ".toml"),
    *(".gz", ".bz2", ".xz", ".zst", ".yaml", ".yml", ".xlsx", ".ipm"),
)
"""Endings of file names that are no top-level domains."""
NO_SEED = "no address, prefix, range, host name or file"
_SCHEMES = {"", "http", "https"}
_PLAIN_HOST = re.compile(r"(?!-)(?:[a-z0-9_-]{1,63}\.)*(?![0-9]+$)[a-z0-9_-]{1,63}")
"""The one grammar of host names: labels of up to 63 characters (RFC 1035), the last one not all digits; and
none that looks like an option, which messages to agents do not carry."""
_USERINFO = re.compile(r"(?<=//)[^/]*@")
_UNREAD = str.maketrans("", "", "\t\r\n")
"""What `urlsplit` reads over wherever it stands: a password must not hide behind it."""
_DIGITS = frozenset("0123456789")
_SHARE = 0.6
"""Share of the cells looked at that must be seeds for a column without a name to be theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """A parsed seed."""

    text: str
    """As the user wrote it, without name and password."""
    host: str
    """In lower case, IDNs as A-labels, without a dot at the end; the text of the address if it is one."""
    first: Address | None = None
    """The address, or the first of a prefix or range; None for a host name."""
    last: Address | None = None
    """The same as first, unless it is a prefix or range."""
    scheme: str | None = None
    """`http` or `https` if the seed is a URL."""
    port: int | None = None

    @property
    def address(self) -> Address | None:
        """The address; None for host names, prefixes and ranges."""
        return self.first if self.first == self.last else None

    @property
    def is_range(self) -> bool:
        """Whether it is a prefix or range of several addresses."""
        return self.first != self.last

    @property
    def range_text(self) -> str:
        """The address, or the range's two ends."""
        return str(self.first) if self.first == self.last else f"{self.first} - {self.last}"

    def at(self, address: Address) -> Seed:
        """Return the seed of a host name with one of its addresses."""
        return replace(self, first=address, last=address)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnresolvedSeed:
    """A text that stands for no address, and why."""

    text: str
    """Without name and password."""
    reason: str


def parse_seed(text: str) -> Seed | UnresolvedSeed:
    """Parse a seed: `https://a.example:8443/x`, `a.example:80`, `192.0.2.0/24`, `[2001:db8::1]:443`."""
    word = text.strip()
    plain = plain_address(word)
    if plain is not None:
        return Seed(text=word, host=word, first=plain, last=plain)
    if len(word) <= LONGEST_NAME and _PLAIN_HOST.fullmatch(word):
        return Seed(text=word, host=word)
    found = _range_of(word)
    if found is not None:
        return Seed(text=word, host=str(found[0]), first=found[0], last=found[1])
    word = word.translate(_UNREAD)
    # What follows the last `@` cannot be a password, however broken the URL is.
    no_seed = UnresolvedSeed(text=word.rpartition("@")[2][:LONGEST_SEED], reason=NO_SEED)
    try:
        parts = urlsplit(word if "://" in word else f"//{word}")
        name, port = parts.hostname or "", parts.port
    except ValueError:
        return no_seed
    address = _address_of(name)
    host = str(address) if address else host_name(name)
    # `10.0.0.0/33` is a wrong prefix, not page 33 of a site.
    is_wrong_prefix = address is not None and not parts.scheme and parts.path.strip("/").isdigit()
    if host is None or parts.scheme not in _SCHEMES or len(word) > LONGEST_SEED or is_wrong_prefix:
        return no_seed
    scheme = parts.scheme or None
    return Seed(text=redacted(word), host=host, first=address, last=address, scheme=scheme, port=port)


def plain_address(word: str) -> IPv4Address | None:
    """Return the address of a word that is an IPv4 address and nothing else, as most of long lists are.

    Such a word is the text of its address: one with leading zeros, or with fewer than four numbers, is none.
    """
    if not word[:1].isdigit() or word[-1:] not in _DIGITS:
        return None
    try:
        return IPv4Address(int.from_bytes(inet_pton(AF_INET, word)))
    except (OSError, ValueError):
        return None


def host_name(text: str) -> str | None:
    """Normalise a host name, IDNs as A-labels; None if it cannot be one.

    `Bücher.example.` is `xn--bcher-kva.example`.
    """
    name = text.strip().rstrip(".").lower()
    if not name.isascii():
        name = _a_labels(name) or ""
    return name if len(name) <= LONGEST_NAME and _PLAIN_HOST.fullmatch(name) else None


def host_of(text: str) -> str:
    """Return the host of a URL or `host:port`, by which sites are known; other texts as they are."""
    seed = parse_seed(text)
    return seed.host if isinstance(seed, Seed) and not seed.is_range else text.strip().lower().rstrip(".")


def _a_labels(name: str) -> str | None:
    import dns.exception
    import dns.name

    try:
        return dns.name.from_text(name, idna_codec=dns.name.IDNA_2008_Practical).to_text().rstrip(".").lower()
    except (dns.exception.DNSException, UnicodeError, ValueError, IndexError):
        return None


def _range_of(word: str) -> tuple[Address, Address] | None:
    """Read an address, prefix or range, perhaps in brackets or with the scope of a link-local address."""
    if not (word[:1].isdigit() or ":" in word) or "//" in word:
        return None
    inner = word[1:-1] if word[:1] == "[" and word[-1:] == "]" else word
    try:
        return read_range(inner.partition("%")[0])
    except AddressError:
        return None


def _address_of(host: str) -> Address | None:
    try:
        return read_address(host.partition("%")[0])
    except AddressError:
        return None


def redacted(*words: str) -> str:
    """Join words as they may be shown: without the names and passwords of URLs and of `user:secret@host`."""
    return " ".join(map(_redacted, words))


def _redacted(text: str) -> str:
    if "@" not in text:
        return text
    if "//" in text:
        return _USERINFO.sub("", text)
    host, slash, path = text.partition("/")
    return host.rpartition("@")[2] + slash + path


# --- from the command line to texts


def read_seeds(words: Sequence[str]) -> Iterator[str]:
    """Replace files and `-` by the seeds in them; all words are checked before the first is read.

    Raises:
        InputError: A word is empty, names a folder or a file that does not exist, or there is no seed at all.
    """
    return _read(words, _texts_in)


def read_runs(words: Sequence[str]) -> Iterator[str | Targets]:
    """Read as `read_seeds` does, but addresses in long lists as runs of them, as soon as they arrive."""
    return _read(words, _runs_in)


def _read(words: Sequence[str], read_file: Callable[[Path], Iterator[Piece]]) -> Iterator[str | Piece]:
    for word in words:
        _check(word)
    read = (read_file(Path(word)) if is_file(word) else iter((word,)) for word in words)
    pieces: Iterator[str | Piece] = itertools.chain.from_iterable(read)
    first = next(pieces, None)
    if first is None:
        if words:
            named = ", ".join(name_of(Path(word)) for word in words)
            raise InputError(f"there are no seeds in {named}: expected addresses, host names or URLs")
        return iter(())
    return itertools.chain((first,), pieces)


def count_seeds(words: Sequence[str]) -> int | None:
    """Count what `read_seeds` returns, roughly: lines of files; None for pipes, which are read only once."""
    count = 0
    for word in words:
        if not is_file(word):
            count += 1
        elif word == STDIN or not Path(word).is_file():
            return None
        else:
            with Path(word).open("rb") as file:
                count += sum(piece.count(b"\n") for piece in iter(lambda: file.read(1 << 20), b""))
    return count


def is_file(word: str) -> bool:
    """Return whether a word names something to read from: a file, a pipe, standard input."""
    try:
        return word == STDIN or ("://" not in word and Path(word).exists() and not Path(word).is_dir())
    except (OSError, ValueError):
        return False


def _check(word: str) -> None:
    """Raise if a word is empty, or looks like a file that does not exist."""
    if not word.strip():  # from a variable of the shell that was never set
        raise InputError("a seed is empty: expected an address, a host name, a URL or a file of them")
    if "://" in word or is_file(word) or _range_of(word) is not None:
        return
    try:
        is_folder, is_inside = Path(word).is_dir(), Path(word).parent.is_dir()
    except (OSError, ValueError):
        return
    is_path = word.startswith(("/", "./", "../", "~")) or word in {".", ".."} or "\\" in word
    before, slash, _ = word.partition("/")
    is_path |= bool(slash) and (is_inside or ("." not in before and before != "localhost"))
    if is_folder and (is_path or "." not in word):
        raise InputError(f"{word} is a folder, not a file of seeds")
    if is_path or word.lower().endswith(ENDINGS):
        raise InputError(f"there is no file {word}")


def _texts_in(path: Path) -> Iterator[str]:
    """Read the seeds of a file: a plain list, or a table with a column of them; `#` starts a comment."""
    with open_table(path, is_list=True) as table:
        column, first = _first_rows(table)
        if table.tap is not None:
            table.tap.open_wide()
        yield from _texts(itertools.chain(first, table.rows), column)


def _runs_in(path: Path) -> Iterator[str | Targets]:
    """Read the seeds of a file; behind its first rows, which tell what it is, a plain list in runs."""
    with open_table(path, is_list=True) as table:
        column, first = _first_rows(table)
        yield from _texts(first, column)
        is_list = table.tap is not None and column == 0 and table.tap.close_for_blocks()
        yield from _texts(table.rows, column)  # of a list only what was decoded before the tap was closed
        if table.tap is None or not is_list:
            return
        for block in guarded(table.tap.blocks(), table.name):
            yield from _runs(block, table.name)
        rest = io.TextIOWrapper(cast("io.BufferedReader", table.tap), "utf-8", errors="replace", newline="")
        yield from _texts(rows_of_list(rest, table.name), column)
        rest.detach()


def _runs(block: bytes, name: str) -> Iterator[str | Targets]:
    """Cut a block of whole lines into runs of addresses, and other seeds one by one."""
    at = 0
    while at < len(block):
        targets, at = Targets.read(block, at)
        if len(targets):
            yield targets
            continue
        end = block.find(b"\n", at) + 1 or len(block)
        line = block[at:end].decode("utf-8", "replace")
        yield from _texts(rows_of_list(io.StringIO(line, newline=""), name), 0)
        at = end


def _first_rows(table: Table) -> tuple[int, list[Row]]:
    """Return the column of seeds, and the rows by which it was recognised, without a header."""
    first = list(itertools.islice(table.rows, LOOKED_AT))
    column, has_header = _column(table.name, [cells for _, cells in first], table.names)
    return column, first[has_header:]


def _texts(rows: Iterable[Row], column: int) -> Iterator[str]:
    for _, cells in rows:
        text = cells[column].partition("#")[0].strip() if column < len(cells) else ""
        if text:
            yield text


def _column(name: str, rows: list[list[str]], names: Sequence[str] | None) -> tuple[int, bool]:
    """Return the number of the column that holds seeds, and whether the first row names the columns."""
    header = [cell.strip().lower() for cell in names or (rows[0] if rows else ())]
    named = next((header.index(one) for one in COLUMNS if one in header), None)
    if named is not None:
        return named, names is None
    if names is not None:
        raise InputError(
            f"{name}: no column of seeds: there are {', '.join(names)}; expected {', '.join(COLUMNS)}"
        )
    width = max(map(len, rows), default=0)
    shares = [_share(row[column] for row in rows if column < len(row)) for column in range(width)]
    return next((column for column, share in enumerate(shares) if share >= _SHARE), 0), False


def _share(cells: Iterable[str]) -> float:
    """Return the share of cells that are seeds beyond doubt: addresses, or names with a dot."""
    marks = [("." in cell or ":" in cell) and isinstance(parse_seed(cell), Seed) for cell in cells]
    return sum(marks) / len(marks) if marks else 0.0
