"""Labels of host names as operators write them: codes, roles, interfaces, numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ipmicra.locate import vocabulary as words
from ipmicra.locate.config import NameConfig
from ipmicra.locate.tokens import CODE_LENGTH, Meaning, TokenReader

_NUMBERS = re.compile(r"\d+")
_PIECES = re.compile(r"[-_]+")
_RUNS = re.compile(r"[a-z]+|0")
_ROLE_FIRST = re.compile(f"(?:{'|'.join(words.LEADING_ROLES)})([a-z]+)$")
_ROLE_LAST = re.compile(f"([a-z]+?)(?:{'|'.join(words.LEADING_ROLES)})$")
_MOST_KEPT = 1 << 17
_NOTHING: frozenset[str] = frozenset()
_MOST_JOINED = 3
"""Pieces of a city's name: `rio-de-janeiro`."""
_MOST_RUNS = 4
"""Runs of letters and numbers in a piece; more look like a number in hexadecimal."""
_CITY_LENGTH = 5
_PLAIN_RUNS = 2
"""Letters and a number."""
_CLLI_LENGTH = 6
_TELLS_NOTHING = frozenset(
    """
    ae ar be br bb ce cr er et fe ge gi gr gw hu in ip ir it lo mx ns pe po pr ps se so sr st sw te
    to tr vm ve xe
    """.split()
)
"""Two letters that mean a role, an interface or similar at least as often as a country."""


@dataclass(slots=True)
class Candidate:
    """A token that may be a place, with the points of its surroundings in the label."""

    token: str
    meanings: tuple[Meaning, ...]
    points: float
    has_adjacent_role: bool


@dataclass(slots=True)
class Label:
    """What a label means by itself."""

    candidates: tuple[Candidate, ...]
    has_role: bool
    area: str
    """Letters of a country or region if the label is nothing else; capital."""
    area_is_firm: bool
    """The letters hardly mean anything else."""
    hints: frozenset[str]
    """Letters of countries beside a candidate, capital."""


@dataclass(slots=True)
class _Piece:
    lead: str
    """Letters at the start; empty if there are none."""
    runs: tuple[str, ...]
    has_number: bool


class LabelReader:
    """Reads labels; each shape is read once."""

    def __init__(self, tokens: TokenReader, config: NameConfig) -> None:
        """Start with nothing read."""
        self._tokens = tokens
        self._config = config
        self._known: dict[str, Label] = {}

    def read(self, label: str) -> Label:
        """Read a label; numbers count only as such, so that `cpe-1-2` and `cpe-3-4` are one shape."""
        known = self._known.get(label)
        if known is None:
            shape = _NUMBERS.sub("0", label)
            known = self._known.get(shape) or self._read(shape)
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            self._known[label] = self._known[shape] = known
        return known

    def _read(self, shape: str) -> Label:
        pieces = [_piece(text) for text in _PIECES.split(shape) if text]
        candidates = self._candidates(pieces)
        area = shape.upper() if shape.isalpha() and len(shape) == 2 else words.COUNTRY_WORDS.get(shape, "")  # noqa: PLR2004
        hints = (
            _NOTHING
            if not candidates
            else frozenset(
                _country(piece.lead)
                for piece in pieces
                if len(piece.lead) == 2 and not piece.has_number  # noqa: PLR2004
            )
        )
        return Label(
            candidates=tuple(candidates),
            has_role=any(_is_role(piece) for piece in pieces),
            area=_country(area.lower()) if area else "",
            area_is_firm=bool(area) and shape not in _TELLS_NOTHING,
            hints=hints,
        )

    def _candidates(self, pieces: list[_Piece]) -> list[Candidate]:
        found: list[Candidate] = []
        i = 0
        while i < len(pieces):
            joined = self._joined(pieces, i) if i + 1 < len(pieces) else None
            if joined:
                token, count = joined
                found += self._candidate(token, pieces, i, count)
                i += count
                continue
            for token in _tokens(pieces[i]):
                found += self._candidate(token, pieces, i, 1)
            i += 1
        return found

    def _joined(self, pieces: list[_Piece], i: int) -> tuple[str, int] | None:
        """Find a city whose name is spread over pieces: `new-york`."""
        for count in range(min(_MOST_JOINED, len(pieces) - i), 1, -1):
            part = pieces[i : i + count]
            token = "".join([piece.lead for piece in part])
            if len(token) <= _CITY_LENGTH or not self._tokens.is_large_city(token):
                continue
            if all(len(piece.lead) > 1 for piece in part) and not any(
                piece.has_number for piece in part[:-1]
            ):
                return token, count
        return None

    def _candidate(self, token: str, pieces: list[_Piece], i: int, count: int) -> list[Candidate]:
        meanings = self._tokens.meanings(token)
        if not meanings:
            return []
        config, last = self._config, pieces[i + count - 1]
        behind = pieces[i + count] if i + count < len(pieces) else None
        points = 0.0
        if last.has_number or (behind and behind.runs == ("0",)):
            points += config.digits
        if len(pieces) == count and len(last.runs) <= _PLAIN_RUNS:
            points += config.whole_label
        beside = [pieces[k] for k in (i - 1, i + count) if 0 <= k < len(pieces)]
        has_role = (last.lead != token and count == 1) or any(map(_is_machine, beside))
        most = points + (config.adjacent_role if has_role else config.role) + config.agreement
        likely = tuple(meaning for meaning in meanings if meaning.points + most >= config.enough)
        return [Candidate(token, likely, points, has_role)] if likely else []


def _piece(text: str) -> _Piece:
    runs = tuple(_RUNS.findall(text))
    return _Piece(runs[0] if runs and runs[0] != "0" else "", runs, "0" in runs)


def _tokens(piece: _Piece) -> list[str]:
    """Return the tokens of a piece that may be places: its first letters, or what a role is glued to."""
    runs, lead = piece.runs, piece.lead
    if (
        not lead
        or len(runs) > _MOST_RUNS
        or (len(runs) > _PLAIN_RUNS and len(lead) < _CLLI_LENGTH and len(runs[2]) > 1)
    ):
        # `cr1fra2`: the code follows a role and its number
        return (
            [runs[2]] if len(runs) in {3, 4} and lead in words.ROLES and len(runs[2]) == CODE_LENGTH else []
        )
    if len(lead) <= _CITY_LENGTH - 1:
        return [lead]
    found = (_ROLE_FIRST.match(lead), _ROLE_LAST.match(lead))
    rests = [match[1] for match in found if match]
    return [lead, *(rest for rest in rests if rest in words.HUBS or len(rest) > _CITY_LENGTH)]


def _is_role(piece: _Piece) -> bool:
    """Return whether a piece is what routers, interfaces, lines or servers are called."""
    return piece.lead in words.ACCESS or _is_machine(piece)


def _is_machine(piece: _Piece) -> bool:
    """Return whether a piece is what routers and interfaces are called: `cr1`, `100ge13`, `core`."""
    lead = piece.lead or (piece.runs[1] if len(piece.runs) > 1 else "")
    if len(lead) == 1:
        return piece.has_number and lead in words.ROLES
    return lead in words.ROLES or lead in words.INTERFACES or (lead in words.ACCESS and piece.has_number)


def _country(letters: str) -> str:
    return words.ALIASES.get(letters, letters.upper())
