"""Labels of host names as operators write them: codes, roles, interfaces, numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ipmicra.locate import vocabulary as words
from ipmicra.locate.config import NameConfig
from ipmicra.locate.readings import WHOLE, Meaning
from ipmicra.locate.tokens import CODE_LENGTH, TokenReader

_NUMBERS = re.compile(r"\d+")
_PIECES = re.compile(r"[-_]+")
_RUNS = re.compile(r"[a-z]+|0")
_ROLE_FIRST = re.compile(f"({'|'.join(words.GLUED_ROLES)})([a-z]+)$")
_ROLE_LAST = re.compile(f"([a-z]+?)({'|'.join(words.GLUED_ROLES)})$")
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
_LONG_ROLE = 4
"""Letters of a role that is no chance beginning of a word: what is glued to it may be a code."""
_SURE_HUBS = words.HUBS - words.NEVER_CODES - words.SOFT_CODES
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
    is_whole: bool
    """It fills its label, except for a number."""
    is_edge: bool
    """It begins or ends a label of several pieces."""
    is_last: bool
    """It ends the label."""
    has_number: bool
    is_joined: bool
    """It is spread over pieces: `fort-myers`."""
    is_doubtful: bool
    """It may be a chance part of a word, so that the country must agree."""


@dataclass(slots=True)
class Label:
    """What a label means by itself."""

    candidates: tuple[Candidate, ...]
    has_role: bool
    has_router: bool
    """A piece is what only routers are called: `rtsw`, `cr1`, but not `cs`."""
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
        hints = _hints(pieces) if candidates else _NOTHING
        return Label(
            candidates=tuple(candidates),
            has_role=any(_is_role(piece) for piece in pieces),
            has_router=any(_is_router(piece) for piece in pieces),
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
            if len(pieces[i].lead) >= _CITY_LENGTH and not self._tokens.is_word(pieces[i].lead):
                for rest, is_doubtful in _unglued(pieces[i].lead):
                    is_cut = len(pieces[i].lead) - len(rest) <= _LONG_ROLE
                    found += self._candidate(rest, pieces, i, 1, is_cut=is_cut, is_doubtful=is_doubtful)
            i += 1
        return found

    def _joined(self, pieces: list[_Piece], i: int) -> tuple[str, int] | None:
        """Find a city whose name is spread over pieces: `new-york`."""
        for count in range(min(_MOST_JOINED, len(pieces) - i), 1, -1):
            part = pieces[i : i + count]
            token = "".join([piece.lead for piece in part])
            if len(token) <= _CITY_LENGTH or not self._tokens.is_city(token):
                continue
            if all(len(piece.lead) > 1 for piece in part) and not any(
                piece.has_number for piece in part[:-1]
            ):
                return token, count
        return None

    def _candidate(
        self,
        token: str,
        pieces: list[_Piece],
        i: int,
        count: int,
        *,
        is_cut: bool = False,
        is_doubtful: bool = False,
    ) -> list[Candidate]:
        meanings = self._tokens.meanings(token)
        if is_cut:
            meanings = tuple(meaning for meaning in meanings if meaning.reading in WHOLE)
        if pieces[i].lead != token and count == 1 and token in words.NEVER_CODES:
            return []  # `st1res`: a role glued to what is rather another role
        if not meanings:
            return []
        config, last = self._config, pieces[i + count - 1]
        behind = pieces[i + count] if i + count < len(pieces) else None
        points = 0.0
        if last.has_number or (behind and behind.runs == ("0",)):
            points += config.digits
        is_whole = len(pieces) == count and len(last.runs) <= _PLAIN_RUNS
        points += config.whole_label * is_whole
        points += config.joined * (count > 1)
        beside = [pieces[k] for k in (i - 1, i + count) if 0 <= k < len(pieces)]
        has_role = (last.lead != token and count == 1) or any(map(_is_machine, beside))
        is_last = i + count == len(pieces)
        is_edge = len(pieces) > count and (i == 0 or is_last)
        most = points + (config.adjacent_role if has_role else config.role) + config.agreement
        most += config.edge * is_edge
        likely = tuple(meaning for meaning in meanings if meaning.points + most >= config.enough)
        if not likely:
            return []
        return [
            Candidate(
                token=token,
                meanings=likely,
                points=points,
                has_adjacent_role=has_role,
                is_whole=is_whole,
                is_edge=is_edge,
                is_last=is_last,
                has_number=last.has_number,
                is_joined=count > 1,
                is_doubtful=is_doubtful,
            )
        ]


def _piece(text: str) -> _Piece:
    runs = tuple(_RUNS.findall(text))
    return _Piece(runs[0] if runs and runs[0] != "0" else "", runs, "0" in runs)


def _hints(pieces: list[_Piece]) -> frozenset[str]:
    """Return the countries and states in a label, unless the letters may mean anything: `-in-`."""
    return frozenset(
        _country(piece.lead)
        for piece in pieces
        if len(piece.lead) == 2 and not piece.has_number and piece.lead not in _TELLS_NOTHING  # noqa: PLR2004
    )


def _tokens(piece: _Piece) -> list[str]:
    """Return what may be a place in a piece: its first letters, or what follows a role and its number."""
    runs, lead = piece.runs, piece.lead
    if not lead or len(runs) > _MOST_RUNS:
        return []
    if len(runs) > _PLAIN_RUNS and len(runs[2]) > 1:
        if _is_glue(lead) and len(runs[2]) >= CODE_LENGTH:  # `cr1fra2`
            return [runs[2]]
        if len(lead) == 1 and runs[2] in _SURE_HUBS:  # `n1mel`
            return [runs[2]]
        if not _is_glue(runs[2]) and len(lead) < _CLLI_LENGTH:
            return []
    return [lead]


def _unglued(lead: str) -> list[tuple[str, bool]]:
    """Return what a role is glued to, and whether that may be chance: `stbarcelona`, `speedtestdelhi`.

    Behind a city the role must not be short: `parisst`, but also `alarmist`.
    """
    found = []
    if first := _ROLE_FIRST.match(lead):
        role, rest = first[1], first[2]
        if len(role) >= _LONG_ROLE or len(rest) > _CITY_LENGTH:
            found.append((rest, False))
        elif len(rest) > CODE_LENGTH or rest in words.HUBS:
            found.append((rest, rest not in words.HUBS or role not in words.ROLES))
    last = _ROLE_LAST.match(lead)
    if last and (len(last[2]) >= _LONG_ROLE or last[2] in words.ROLES):
        rest = last[1]
        is_sure = len(rest) > _CITY_LENGTH or rest in words.HUBS or len(last[2]) >= _LONG_ROLE
        if is_sure and len(rest) >= CODE_LENGTH:
            found.append((rest, False))
    return found


def _is_glue(letters: str) -> bool:
    return letters in words.ROLES or letters in words.ACCESS or letters in words.GLUED_ROLES


def _is_role(piece: _Piece) -> bool:
    """Return whether a piece is what routers, interfaces, lines or servers are called."""
    return piece.lead in words.ACCESS or _is_machine(piece)


def _is_router(piece: _Piece) -> bool:
    is_told = piece.has_number or len(piece.lead) >= CODE_LENGTH
    return is_told and (piece.lead in words.ROLES or piece.lead in words.INTERFACES)


def _is_machine(piece: _Piece) -> bool:
    """Return whether a piece is what routers and interfaces are called: `cr1`, `100ge13`, `core`."""
    lead = piece.lead or (piece.runs[1] if len(piece.runs) > 1 else "")
    if len(lead) == 1:
        return piece.has_number and lead in words.ROLES
    is_numbered = piece.has_number and (lead in words.ACCESS or lead in words.NUMBERED_ROLES)
    return lead in words.ROLES or lead in words.INTERFACES or is_numbered


def _country(letters: str) -> str:
    return words.ALIASES.get(letters, letters.upper())
