"""Invented words, holders and lines of text, about as varied as those of the registries."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

ONSETS = "b br c ch d dr f fl g gr h j k kl l m n p pl qu r s sk st t tr v w z".split()
VOWELS = "a e i o u ai au ea ei ia io ou".split()
CODAS = ["", "", "", "l", "n", "r", "s", "t", "nt", "rk", "x"]
KINDS = (
    "Networks Telecom Hosting Broadband University Bank Carrier Media Logistics Hospital Energy Systems "
    "Cloud Wireless Holding Cable Software Foundation Transport Insurance"
).split()
PLACES = "Street Avenue Road Square Lane Park Court Quay Gate Hill".split()
USES = (
    "customer network|dynamic pool|static addresses|server housing|office|point of presence|dsl pool|"
    "video service|branch office|school network|management network|point-to-point links|wireless access|"
    "virtual machines|colocation"
).split("|")
PHRASES = (
    "Please send reports of abuse to abuse@{domain}|For questions of routing: noc@{domain}, phone +{phone}|"
    "------------------------------------------------------|Peering policy: https://{domain}/peering|"
    "Spam and scans: please send logs with the time zone|Looking glass: https://lg.{domain}/|INFRA-AW|"
    "*** used for {word} {word} customers only ***|Mail to other addresses about this range is not read|"
    "24/7 operations centre: +{phone}|All {word} services are filtered at the border|"
    "Ticket {number} of {word} {word}|Addresses are handed out by DHCP and change daily|"
    "Contact for law enforcement: legal@{domain}|Reverse DNS is kept by {word} {word}|"
    "See https://{domain}/{word}/{number} for details"
).split("|")
LETTERS = "ABCDEFGHIJKLMNOPRSTVWZ"
LINES = 40_000
"""Lines of descriptions to draw from."""
CLOCKS = 20_000
"""Times of day to draw from."""
DAYS = 8000
"""Days from 2001 on that dates are drawn from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """An invented holder of allocations, with all that its paragraphs have in common."""

    number: int
    name: str
    stem: str
    country: str
    city: str
    street: str
    phone: str
    domain: str
    contacts: tuple[str, str]
    """Handles of two contacts, without the registry's ending."""
    remarks: tuple[str, ...]


class Vocabulary:
    """Pools that the generator draws from; the same seed gives the same pools."""

    def __init__(self, rng: np.random.Generator, countries: tuple[str, ...]) -> None:
        """Draw the pools."""
        self.rng = rng
        self.countries = countries
        self.words = self._draw_words(6000)
        self.lines = self._draw_lines(LINES)
        self.foreign_lines = [
            f"{line.replace('a', 'ä', 1).replace('o', 'ó', 1)} ñ" for line in self.lines[:500]
        ]
        start = dt.date(2001, 1, 1)
        self.days = [(start + dt.timedelta(days=day)).isoformat() for day in range(DAYS)]
        self.times = [f"{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}" for s in self._numbers(86400, CLOCKS)]

    def _numbers(self, below: int, count: int) -> list[int]:
        """Draw numbers from 0 on."""
        drawn: list[int] = self.rng.integers(0, below, count).tolist()
        return drawn

    def _draw_words(self, count: int) -> list[str]:
        """Make words of one to three syllables."""
        sounds = self.rng.random((count, 3, 3))
        return ["".join(map(_syllable, sounds[i, : 1 + i % 3])) for i in range(count)]

    def word(self) -> str:
        """Draw a word; the first ones of the pool are common, the last ones rare."""
        return self.words[int(len(self.words) * self.rng.random() ** 2.5)]

    def _draw_lines(self, count: int) -> list[str]:
        """Draw lines of descriptions: one to three words, a use, a number."""
        picks = (len(self.words) * self.rng.random((count, 3)) ** 2.5).astype(int).tolist()
        rest = zip(
            self._numbers(3, count), self._numbers(len(USES), count), self._numbers(2000, count), strict=True
        )
        return [
            f"{' '.join(self.words[i] for i in pick[more:]).capitalize()} {USES[use]} {number}"
            for pick, (more, use, number) in zip(picks, rest, strict=True)
        ]

    def holders(self, count: int) -> list[Holder]:
        """Draw holders."""
        return [self._draw_holder(number) for number in range(count)]

    def _draw_holder(self, number: int) -> Holder:
        """Draw one holder."""
        kind, place, shift, phone = (
            int(part) for part in self.rng.integers([len(KINDS), len(PLACES), 500, 10**9])
        )
        stem = self.word()[:7] + self.word()[:5]
        domain = f"{stem}.example"
        return Holder(
            number=number,
            name=f"{stem.capitalize()} {KINDS[kind]}",
            stem=stem.upper(),
            country=self.countries[int(len(self.countries) * self.rng.random() ** 2)],
            city=self.word().capitalize() + "ton",
            street=f"{shift} {self.word().capitalize()} {PLACES[place]}",
            phone=str(30_000_000_000 + phone),
            domain=domain,
            contacts=(handle(2 * number), handle(2 * number + 1)),
            remarks=tuple(self._draw_remark(domain) for _ in range(int(self.rng.integers(3, 10)))),
        )

    def _draw_remark(self, domain: str) -> str:
        """Draw one line of remarks."""
        phrase = PHRASES[int(self.rng.integers(len(PHRASES)))]
        number = int(self.rng.integers(10**9))
        return phrase.format(domain=domain, phone=30_000_000_000 + number, number=number, word=self.word())


def _syllable(sounds: NDArray[np.float64]) -> str:
    """Make a syllable of three random numbers."""
    pools = (ONSETS, VOWELS, CODAS)
    return "".join(pool[int(len(pool) * sound)] for pool, sound in zip(pools, sounds, strict=True))


def handle(number: int) -> str:
    """Write a number as a handle: letters, then digits; no two numbers have the same."""
    count = len(LETTERS)
    return f"{LETTERS[number % count]}{LETTERS[number * 7 // count % count]}{number}"
