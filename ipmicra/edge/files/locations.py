"""Files and feeds that `locate` reads: users' tables, geofeeds, samples, crawlers with their places."""

from __future__ import annotations

from math import isnan
from pathlib import Path

from ipmicra.edge.files.crawlers import read_crawlers
from ipmicra.edge.files.fields import Fields
from ipmicra.edge.files.measurements.reading import read_measurements
from ipmicra.edge.files.tables import read_records
from ipmicra.errors import FetchError
from ipmicra.model.address import Address
from ipmicra.model.location import Location
from ipmicra.model.sample import Loss, Sample

SITE_RADIUS_KM = 5.0
"""How far a site may be from coordinates without a radius: as in worlds, they mean a building."""
FEED_TIMEOUT_S = 10.0
"""Longest silence of a server."""
FEED_TOTAL_S = 60.0
"""Longest time for a geofeed, however its bytes trickle in."""
FEED_LIMIT_BYTES = 8 << 20
"""Larger geofeeds are refused."""


def read_crawler_places(path: Path, findings: list[str]) -> dict[str, Location]:
    """Read where crawlers are; those without a place are left out."""
    places: dict[str, Location] = {}
    for row in read_crawlers(path, findings.append):
        if row.location is None:
            findings.append(f"{row.where}: crawler {row.name} has no place on Earth")
        else:
            places[row.name] = row.location
    return places


def read_places(path: Path, findings: list[str]) -> dict[Address, Location]:
    """Read where addresses are: `address,latitude,longitude[,radius_km,country]`; `host` may stand beside."""
    places: dict[Address, Location] = {}
    for where, record in read_records(path, ("address", "latitude", "longitude"), findings.append):
        fields = Fields(record, where, findings.append)
        address, place = fields.address(), fields.place(SITE_RADIUS_KM, fields.country())
        if address is None or place is None:
            findings.append(f"{where}: no address with a place on Earth")
        else:
            places[address] = place
    return places


def read_samples(path: Path, findings: list[str]) -> list[Sample]:
    """Read samples from a file of measurements; the shortest round trip of each pair counts."""
    measured = read_measurements(path)
    names, samples = list(measured.crawlers), []
    for (crawler, site), rtt_ms in measured.rtt_ms.items():
        if isinstance(site, str):
            measured.left_out.add("no address", site)
            continue
        is_lost = isnan(rtt_ms)
        samples.append(
            Sample(
                crawler=names[crawler],
                address=site,
                rtt_ms=None if is_lost else rtt_ms,
                loss=Loss.TIMEOUT if is_lost else None,
            )
        )
    findings += [f"{measured.name}: {text}" for text in measured.left_out.texts("row")]
    return samples


def fetch_feed(url: str, schemes: tuple[str, ...] = ("https",)) -> list[str]:
    """Download a geofeed; only over the schemes allowed, of limited size."""
    import requests  # loaded where a feed is fetched

    from ipmicra.edge.pace.blocking import guard, guarded_session

    if url.split(":", 1)[0].lower() not in schemes:
        raise FetchError(url, f"only {' and '.join(schemes)} is fetched")
    content, reason = b"", ""
    with guard(FEED_TOTAL_S) as limit, guarded_session() as session:
        try:
            with session.get(url, timeout=FEED_TIMEOUT_S, stream=True, allow_redirects=False) as answer:
                if answer.status_code != requests.codes.ok:
                    raise FetchError(url, f"the server answered {answer.status_code}")
                for piece in answer.iter_content(1 << 16):
                    content += piece
                    if len(content) > FEED_LIMIT_BYTES:
                        raise FetchError(url, f"the geofeed is larger than {FEED_LIMIT_BYTES >> 20} MiB")
        except requests.RequestException as error:
            reason = str(error)
    if limit.is_over or reason:
        raise FetchError(url, f"not finished within {FEED_TOTAL_S:g} s" if limit.is_over else reason)
    return content.decode("utf-8", "replace").splitlines()
