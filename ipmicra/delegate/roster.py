"""The crawlers as the delegator sees them: by index, with load and marks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ipmicra.model.crawler import Crawler, CrawlerState


class Roster:
    """Crawlers by index, in the order in which they first joined; an index is never used again."""

    def __init__(self) -> None:
        """Begin with none."""
        self.crawlers: list[Crawler] = []
        self.load: list[int] = []
        """Sites given to each."""
        self.marks: list[int] = []
        """Impossible samples of each."""
        self._checked: list[int] = []
        """Samples of each that light could have disproved, the impossible ones included."""
        self._is_present: list[bool] = []
        self._is_willing: list[bool] = []
        """Whether each is reachable and not marked too often."""
        self._limit: frozenset[int] | None = None
        self.usable_flags: list[bool] = []
        """Whether each may be asked."""
        self._indices: dict[str, int] = {}
        self._usable: list[int] = []

    def __len__(self) -> int:
        """Count all that ever joined."""
        return len(self.crawlers)

    def __repr__(self) -> str:
        """Count those present."""
        return f"<Roster: {sum(self._is_present)} of {len(self.crawlers)} crawlers present>"

    def join(self, crawler: Crawler) -> tuple[int, bool]:
        """Add a crawler, or let it come back; give its index and whether it is new."""
        index = self._indices.get(crawler.name)
        is_new = index is None
        if index is None:
            index = self._indices[crawler.name] = len(self.crawlers)
            self.crawlers.append(crawler)
            self.load.append(0)
            self.marks.append(0)
            self._checked.append(0)
            self._is_present.append(False)
            self._is_willing.append(False)
        self.crawlers[index] = crawler
        self._is_present[index] = crawler.state is not CrawlerState.LEFT
        self._is_willing[index] = crawler.state is CrawlerState.JOINED
        self._renew()
        return index, is_new

    def leave(self, name: str) -> int | None:
        """Let a crawler go; give its index, None if it was not there."""
        index = self._indices.get(name)
        if index is None or not self._is_present[index]:
            return None
        self._is_present[index] = self._is_willing[index] = False
        self._renew()
        return index

    def check(self, index: int) -> None:
        """Count a sample that light allows, at a place that it could have been impossible for."""
        self._checked[index] += 1

    def mark(self, index: int, allowed: int) -> int:
        """Count an impossible sample; a crawler with too many is asked no more.

        Places are wrong now and then, and then an honest crawler seems to lie. So most of what could be
        checked must be impossible, too.
        """
        self.marks[index] += 1
        self._checked[index] += 1
        if self._is_liar(index, allowed):
            self._is_willing[index] = False
            self._renew()
        return self.marks[index]

    def clear(self, index: int, allowed: int) -> int:
        """Take back a mark that a wrong place was to blame for; unless others weigh, it is asked again."""
        self.marks[index] -= 1
        self._checked[index] -= 1
        if not self._is_liar(index, allowed):
            has_joined = self.crawlers[index].state is CrawlerState.JOINED
            self._is_willing[index] = has_joined and self.is_present(index)
            self._renew()
        return self.marks[index]

    def _is_liar(self, index: int, allowed: int) -> bool:
        return self.marks[index] >= allowed and 2 * self.marks[index] > self._checked[index]

    def limit(self, names: Iterable[str] | None) -> None:
        """Let only these be asked or chosen until told otherwise, None for all; others keep their subnets."""
        known = self._indices
        self._limit = None if names is None else frozenset(known[one] for one in names if one in known)
        self._renew()

    def index_of(self, name: str) -> int | None:
        """Give a crawler's index, None if it never joined."""
        return self._indices.get(name)

    def name(self, index: int) -> str:
        """Give a crawler's name."""
        return self.crawlers[index].name

    def is_present(self, index: int) -> bool:
        """Tell whether a crawler may hold subnets."""
        return self._is_present[index]

    def is_usable(self, index: int) -> bool:
        """Tell whether a crawler may be asked."""
        return self.usable_flags[index]

    def usable(self) -> list[int]:
        """Give the crawlers that may be asked; not to be changed."""
        return self._usable

    def _renew(self) -> None:
        self.usable_flags = [
            is_willing and (self._limit is None or index in self._limit)
            for index, is_willing in enumerate(self._is_willing)
        ]
        self._usable = [index for index, is_usable in enumerate(self.usable_flags) if is_usable]

    def least_loaded(self) -> int | None:
        """Give the usable crawler with the fewest sites, the first of several."""
        return min(self.usable(), key=self.load.__getitem__, default=None)

    def __iter__(self) -> Iterator[Crawler]:
        """Go through all that ever joined."""
        return iter(self.crawlers)
