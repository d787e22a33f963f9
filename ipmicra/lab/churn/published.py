"""What Xu et al. 2010 publish of the churn experiment, as far as its text states it."""

from __future__ import annotations

OVER_DHT: dict[str, float] = {"nc-can": 0.27, "lbi": 0.43, "lbi-rtt": 0.43, "lbi-split": 0.573}
"""Throughput above the hash DHT's; LBI's is more than this in the paper, LBI_split's 10 % above LBI's."""
OVER_LBI: dict[str, float] = {"lbi-rtt": 0.0, "lbi-split": 0.10}
RECRAWLED_15_OF_20: dict[str, float] = {"lbi": 0.9, "lbi-rtt": 0.9, "lbi-split": 0.9}
"""Share of sites crawled more than 15 of 20 times: above this."""


def published(scheme: str) -> dict[str, float]:
    """Return what the paper says of a scheme."""
    stated = {}
    if scheme in OVER_DHT:
        stated["over_dht"] = OVER_DHT[scheme]
    if scheme in OVER_LBI:
        stated["over_lbi"] = OVER_LBI[scheme]
    if scheme in RECRAWLED_15_OF_20:
        stated["recrawled_15_of_20"] = RECRAWLED_15_OF_20[scheme]
    return stated
