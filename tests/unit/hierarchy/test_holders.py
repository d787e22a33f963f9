"""Who holds a subnet: evidence by evidence."""

from __future__ import annotations

import pytest

from ipmicra.model.organisation import HolderEvidence, Organisation
from ipmicra.model.registry import Registry
from ipmicra.parse.dialect import Dialect
from tests.reference.fast_building import built, columns_of


def holder(*lines: str, more: str = "", dialect: Dialect = Dialect.RPSL) -> Organisation:
    """Return the organisation of 10.0.0.0/8, registered with the given lines beside further paragraphs."""
    text = "\n".join(["inetnum: 10.0.0.0/8", *lines]) + f"\n\n{more}"
    found = built(text, dialect).lookup("10.0.0.1").organisation
    assert found is not None
    return found


def facts(organisation: Organisation) -> tuple[HolderEvidence, str | None, str | None]:
    return organisation.evidence, organisation.handle, organisation.name


ALPHA = "organisation: ORG-A\norg-name: Alpha\naddress: 1 Road\naddress: Town\ncountry: GR\nsource: RIPE\n\n"


def test_org_handle_leads_to_name_address_and_country() -> None:
    found = holder("org: ORG-A", "mnt-by: M-1", "descr: Someone", more=ALPHA)
    assert facts(found) == (HolderEvidence.ORG, "ORG-A", "Alpha")
    assert (found.address, found.country, found.label) == ("1 Road, Town", "GR", "Alpha")


def test_handles_are_the_same_in_any_case() -> None:
    assert facts(holder("org: org-a", more=ALPHA)) == (HolderEvidence.ORG, "ORG-A", "Alpha")


def test_handle_without_an_object_stands_for_itself() -> None:
    found = holder("org: ORG-GONE", "descr: Someone", more=ALPHA)
    assert facts(found) == (HolderEvidence.ORG, "ORG-GONE", None)
    assert (found.label, found.address, found.country) == ("ORG-GONE", None, None)


def test_ownerid_leads_to_the_owner_in_the_same_paragraph() -> None:
    found = holder("ownerid: BR-X", "owner: Exemplo", "address: Rua", "country: BR", dialect=Dialect.LACNIC)
    assert facts(found) == (HolderEvidence.OWNERID, "BR-X", "Exemplo")
    assert (found.address, found.country) == ("Rua", "BR")


def test_ownerid_without_owner_stands_for_itself() -> None:
    assert facts(holder("ownerid: BR-X")) == (HolderEvidence.OWNERID, "BR-X", None)


def test_owner_without_ownerid_is_a_holder_by_name() -> None:
    found = holder("owner: Cooperativa Ejemplo", "city: Rosario", "mnt-by: M-1", dialect=Dialect.LACNIC)
    assert facts(found) == (HolderEvidence.OWNER, None, "Cooperativa Ejemplo")
    assert found.address is None, "the address is the registration's, which may be one of many"


def test_owners_of_one_name_are_one_holder() -> None:
    more = "inetnum: 11.0.0.0/8\nowner: EJEMPLO  SA.\ncity: Salta\nsource: LACNIC\n"
    hierarchy = built(f"inetnum: 10.0.0.0/8\nowner: Ejemplo SA\ncity: Rosario\nsource: LACNIC\n\n{more}")
    one, other = hierarchy.lookup("10.0.0.1"), hierarchy.lookup("11.0.0.1")
    assert one.organisation == other.organisation
    assert (one.postal_address, other.postal_address) == ("Rosario", "Salta")


def test_address_of_a_registration_is_kept_where_its_holder_has_another() -> None:
    more = "inetnum: 11.0.0.0/8\nownerid: AR-X\nowner: Ejemplo\ncity: Salta\nchanged: 20000101\n"
    hierarchy = built(
        f"inetnum: 10.0.0.0/8\nownerid: AR-X\nowner: Ejemplo\ncity: Rosario\nchanged: 20200101\n\n{more}"
    )
    main, branch = hierarchy.lookup("10.0.0.1"), hierarchy.lookup("11.0.0.1")
    assert main.organisation == branch.organisation
    assert main.organisation is not None
    assert main.organisation.address == "Rosario", "of the newest"
    assert (main.postal_address, branch.postal_address) == (None, "Salta")


def test_orgid_leads_to_arins_organisation() -> None:
    more = "OrgID: X-1\nOrgName: Example\nStreet: 1 Road\nCity: Town\nState/Prov: VA\nCountry: US\n"
    text = f"NetHandle: NET-10\nNetRange: 10.0.0.0 - 10.255.255.255\nOrgID: X-1\n\n{more}"
    found = built(text, Dialect.ARIN).lookup("10.0.0.1").organisation
    assert found is not None
    assert facts(found) == (HolderEvidence.ORGID, "X-1", "Example")
    assert (found.address, found.country) == ("1 Road, Town, VA", "US")


def test_opaque_id_is_the_holder_in_statistics() -> None:
    line = "ripencc|GR|ipv4|10.0.0.0|256|20190228|allocated|abc-1\n"
    found = built(line, Dialect.STATISTICS).lookup("10.0.0.1").organisation
    assert found is not None
    assert facts(found) == (HolderEvidence.OPAQUE, "abc-1", None)
    assert found.registry is Registry.RIPE


def test_opaque_ids_of_two_registries_are_two_organisations() -> None:
    lines = (
        "ripencc|GR|ipv4|10.0.0.0|256|20190228|allocated|a\narin|US|ipv4|11.0.0.0|256|20190228|allocated|a\n"
    )
    assert len(built(lines, Dialect.STATISTICS).organisations) == 2


def test_org_handles_of_two_registries_are_one_organisation() -> None:
    text = "inetnum: 10.0.0.0/8\norg: O\nsource: RIPE\n\ninetnum: 11.0.0.0/8\norg: O\nsource: APNIC\n"
    assert len(built(text).organisations) == 1


def test_first_maintainer_that_is_no_registrys_own_is_the_holder() -> None:
    found = holder("mnt-by: RIPE-NCC-HM-MNT, ripe-ncc-x", "mnt-by: MAINT-EX", "descr: Someone")
    assert facts(found) == (HolderEvidence.MAINTAINER, "MAINT-EX", None)


def test_a_registrys_own_maintainer_is_not_a_holder() -> None:
    found = holder("mnt-by: RIPE-NCC-HM-MNT", "descr: Someone")
    assert facts(found) == (HolderEvidence.DESCRIPTION, None, "Someone")


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_registrations_alike_the_one_with_better_evidence_is_kept(order: int) -> None:
    both = ["inetnum: 10.0.0.0/8\norg: O\n", "inetnum: 10.0.0.0/8\nmnt-by: A\n"][::order]
    found = built("\n".join(both)).lookup("10.0.0.1").organisation
    assert found is not None
    assert facts(found) == (HolderEvidence.ORG, "O", None)


@pytest.mark.parametrize("order", [1, -1])
def test_values_that_are_not_kept_still_count_as_detail(order: int) -> None:
    both = [
        "inetnum: 10.0.0.0/8\norg: O-1\n",
        "inetnum: 10.0.0.0/8\norg: O-2\nmnt-by: M\ndescr: Someone\n",
    ][::order]
    found = built("\n".join(both)).lookup("10.0.0.1").organisation
    assert found is not None
    assert facts(found) == (HolderEvidence.ORG, "O-2", None)


def test_a_registration_without_evidence_has_no_holder() -> None:
    assert built("inetnum: 10.0.0.0/8\nnetname: A\n").lookup("10.0.0.1").organisation is None


@pytest.mark.parametrize("other", ["EXAMPLE NET, INC", " Example\tNet, Inc. ", "example  net, inc.;"])
def test_descriptions_that_differ_in_case_blanks_or_stops_are_one_holder(other: str) -> None:
    text = f"inetnum: 10.0.0.0/8\ndescr: Example Net, Inc.\n\ninetnum: 11.0.0.0/8\ndescr: {other}\n"
    hierarchy = built(text)
    assert len(hierarchy.organisations) == 1
    assert hierarchy.organisations[1].name == "Example Net, Inc."
    assert len(hierarchy.subnets_of(1)) == 2


def test_descriptions_of_two_registries_are_two_holders() -> None:
    text = "inetnum: 10.0.0.0/8\ndescr: A\nsource: RIPE\n\ninetnum: 11.0.0.0/8\ndescr: A\nsource: ARIN\n"
    assert len(built(text).organisations) == 2


def objects(*names_and_dates: tuple[str, str]) -> str:
    return "".join(
        f"organisation: ORG-A\norg-name: {name}\nlast-modified: {date}\n\n" for name, date in names_and_dates
    )


def test_newest_organisation_object_wins() -> None:
    old, new = ("Old", "2001-01-01"), ("New", "2002-02-02")
    for pair in ((old, new), (new, old)):
        assert holder("org: ORG-A", more=objects(*pair)).name == "New"


def test_organisation_object_that_says_more_wins_over_a_newer_one() -> None:
    more = objects(("New", "2020-01-01")) + objects(("Full", "2001-01-01")).rstrip() + "\naddress: Road\n"
    assert holder("org: ORG-A", more=more).name == "Full"


def test_handle_of_another_kind_is_another_organisation() -> None:
    more = "inetnum: 11.0.0.0/8\nownerid: ORG-A\n\n" + ALPHA
    hierarchy = built("inetnum: 10.0.0.0/8\norg: ORG-A\n\n" + more)
    assert [each.evidence for each in hierarchy.search("org-a")] == [
        HolderEvidence.ORG,
        HolderEvidence.OWNERID,
    ]
    assert len(hierarchy.subnets_of("org-a")) == 2


def test_registrations_that_differ_in_the_kind_of_handle_alone_are_merged_in_any_order() -> None:
    by_org, by_owner = "inetnum: 10.0.0.0/8\norg: X\n", "inetnum: 10.0.0.0/8\nownerid: X\n"
    one, other = built(f"{by_org}\n{by_owner}"), built(f"{by_owner}\n{by_org}")
    assert one.content_hash == other.content_hash


def test_organisations_that_hold_nothing_are_left_out() -> None:
    assert len(built(ALPHA + "inetnum: 10.0.0.0/8\ndescr: A\n").organisations) == 1
    assert len(columns_of((ALPHA.encode(), Dialect.RPSL)).organisations) == 1
