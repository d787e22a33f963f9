"""Pieces as assignments keep them: filters of first-level directories."""

from __future__ import annotations

from collections.abc import Iterable

from ipmicra.assign.balance.load import believed_pages
from ipmicra.assign.balance.pieces import Piece
from ipmicra.model.assignment import Assignment


def filters_of(piece: Piece) -> tuple[str, ...]:
    """Give a piece's filters: its directories, and `-/news/` for those that are not part of the rest."""
    return (*piece.directories, *(f"-{name}" for name in piece.others))


def earlier_pieces(before: Iterable[Assignment]) -> dict[str, list[Piece]]:
    """Give the pieces into which hosts were cut before; hosts that are whole are not named."""
    found: dict[str, list[Piece]] = {}
    for one in before:
        if one.of > 1:
            found.setdefault(one.host, []).append(_piece_of(one))
    return found


def _piece_of(one: Assignment) -> Piece:
    """Read a piece back; only the rest piece has directories that are not part of it."""
    others = tuple(name[1:] for name in one.filters if name.startswith("-"))
    return Piece(
        number=one.piece,
        of=one.of,
        directories=tuple(name for name in one.filters if not name.startswith("-")),
        is_rest=bool(others),
        others=others,
        pages=int(believed_pages([one.pages]).pages[0]),
    )
