"""Postal addresses of holders, and how far they are believed."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest

from ipmicra.edge.geodata.places import load_gazetteer
from ipmicra.locate.config import LocateConfig
from ipmicra.locate.registry import read_postal, registry_hint
from ipmicra.model.organisation import HolderEvidence, Organisation
from ipmicra.model.registry import Registry
from ipmicra.model.subnet import Subnet


def subnet(
    address: str | None, country: str | None, holder_country: str | None = None, own: str | None = None
) -> Subnet:
    organisation = Organisation(
        number=1, handle="ORG-1", name="Example", address=address, country=holder_country,
        registry=Registry.RIPE, evidence=HolderEvidence.ORG,
    )  # fmt: skip
    return Subnet(
        row=1, first=IPv4Address("192.0.2.0"), last=IPv4Address("192.0.2.255"), depth=1, netname="N",
        organisation=organisation, registry=Registry.RIPE, country=country, status=None, date=None,
        geoloc=None, geofeed=None, postal_address=own,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("address", "country", "city"),
    [
        ("Stationsplein 11, 1012 AB Amsterdam, Netherlands", None, "Amsterdam"),
        ("12 Main Street, New York, NY 10001, US", None, "New York City"),
        ("Hauptstr. 5, D-60313 Frankfurt am Main, GERMANY", "DE", "Frankfurt am Main"),
        ("1 High Street, London EC2A 4NE, United Kingdom", None, "London"),
        ("Av. Paulista 1000, São Paulo", "BR", "São Paulo"),
        ("10 Rue de Rivoli, 75001 Paris", "FR", "Paris"),
        ("100 Cambridge Street, Cambridge, MA 02139, US", None, "Cambridge"),
    ],
)
def test_city_is_found_in_postal_addresses(address: str, country: str | None, city: str) -> None:
    location = read_postal(load_gazetteer(), address, country)
    assert location is not None
    assert location.city == city


def test_region_of_the_address_chooses_between_cities_of_one_name() -> None:
    location = read_postal(load_gazetteer(), "1 Congress St, Portland, ME 04101, US", None)
    assert location is not None
    assert location.latitude == pytest.approx(43.66, abs=0.1)


@pytest.mark.parametrize(("address", "least_km"), [("PO Box 1, Texas, US", 200.0), ("PO Box 1, US", 1000.0)])
def test_without_a_city_region_or_country_counts_with_an_honest_radius(address: str, least_km: float) -> None:
    location = read_postal(load_gazetteer(), address, None)
    assert location is not None
    assert location.city is None
    assert location.radius_km > least_km


def test_address_without_any_country_says_nothing() -> None:
    assert read_postal(load_gazetteer(), "Somewhere 1", None) is None


def test_radius_grows_and_weight_falls_as_neighbours_disagree() -> None:
    lineage = [subnet("Amsterdam, Netherlands", "NL")]
    hints = [
        registry_hint(lineage, neighbours, load_gazetteer(), LocateConfig())
        for neighbours in (["NL"] * 4, ["NL", "NL", "NL", "BR"], ["BR"] * 4)
    ]
    radii = [hint.location.radius_km for hint in hints if hint]
    weights = [hint.weight for hint in hints if hint]
    assert radii == sorted(set(radii))
    assert weights == sorted(set(weights), reverse=True)
    assert weights[-1] == LocateConfig().registry_least_weight


def test_address_of_the_registration_itself_goes_before_that_of_its_holder() -> None:
    lineage = [subnet("Av. 9 de Julio 1, Buenos Aires", "AR", "AR", own="Mendoza")]
    hint = registry_hint(lineage, [], load_gazetteer(), LocateConfig())
    assert hint is not None
    assert hint.location.city == "Mendoza"
    assert hint.evidence == "address of 192.0.2.0/24: Mendoza"


def test_address_that_names_no_city_gives_way_to_one_that_does() -> None:
    lineage = [subnet("Av. 9 de Julio 1, Buenos Aires", "AR", "AR", own="Edificio B")]
    hint = registry_hint(lineage, [], load_gazetteer(), LocateConfig())
    assert hint is not None
    assert hint.location.city == "Buenos Aires"


def test_own_address_abroad_gives_way_to_the_country_of_the_subnet() -> None:
    hint = registry_hint([subnet(None, "UY", own="Miami, FL, US")], [], load_gazetteer(), LocateConfig())
    assert hint is not None
    assert (hint.location.city, hint.location.country) == (None, "UY")


def test_headquarters_abroad_give_way_to_the_country_of_the_subnet() -> None:
    hint = registry_hint([subnet("Amsterdam, Netherlands", "KE")], [], load_gazetteer(), LocateConfig())
    assert hint is not None
    assert (hint.location.country, hint.location.city) == ("KE", None)


def test_wider_subnet_speaks_when_the_narrowest_tells_nothing() -> None:
    lineage = [subnet("1010 Vienna, Austria", "AT"), subnet(None, None)]
    hint = registry_hint(lineage, [], load_gazetteer(), LocateConfig())
    assert hint is not None
    assert hint.location.city == "Vienna"
    assert registry_hint([], [], load_gazetteer(), LocateConfig()) is None
