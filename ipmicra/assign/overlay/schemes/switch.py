"""SWITCH: one scheme for the first crawlers, another for the rest."""

from __future__ import annotations

from ipmicra.assign.overlay.schemes.join import Cut, JoinView, Scheme


def switch(before: Scheme, share: float, after: Scheme) -> Scheme:
    """Make a scheme that changes once this share of the expected crawlers has joined."""

    def choose(view: JoinView) -> Cut:
        """Split as the scheme whose turn it is."""
        return before(view) if view.joined_share < share else after(view)

    return choose
