"""Hand-worked cases of the slow parser: every row of every table in `docs/dialects.md`."""

from __future__ import annotations

import datetime as dt
import ipaddress

import pytest

from ipmicra.model.finding import Fate, Reason, Tally
from ipmicra.model.registry import Registry
from tests.reference.slow_parser import (
    SlowDump,
    SlowOrganisation,
    SlowRegistration,
    read_iana,
    read_paragraphs,
    read_statistics,
    registry_of_dump,
)

LOWEST = str(ipaddress.IPv4Address(0))
OTHER_CLASSES = [
    "as-block",
    "as-set",
    "ashandle",
    "aut-num",
    "domain",
    "filter-set",
    "inet-rtr",
    "irt",
    "key-cert",
    "limerick",
    "mntner",
    "nic-hdl",
    "peering-set",
    "person",
    "pochandle",
    "poem",
    "poetic-form",
    "role",
    "route",
    "route6",
    "route-set",
    "rtr-set",
]


def ip(address: str) -> int:
    """Return an address as a number."""
    return int(ipaddress.ip_address(address))


def day(year: int, month: int, date: int) -> int:
    """Return a date as it is stored."""
    return (dt.date(year, month, date) - dt.date(1969, 12, 31)).days


def reasons(dump: SlowDump) -> list[Reason]:
    """Return the reasons of all findings."""
    return [reason for _, _, reason in dump.findings]


def registration(*lines: str, value: str = "192.0.2.0 - 192.0.2.255") -> SlowRegistration:
    """Read one paragraph that must give one registration."""
    dump = read_paragraphs("\n".join([f"inetnum: {value}", *lines]).encode())
    (only,) = dump.registrations
    return only


def findings_of(*lines: str) -> list[Reason]:
    """Read one registration with these attributes and return the reasons of its findings."""
    return reasons(read_paragraphs("\n".join(["inetnum: 192.0.2.0/24", *lines]).encode()))


def organisation(*lines: str) -> SlowOrganisation:
    """Read one paragraph that must give one organisation."""
    dump = read_paragraphs("\n".join(lines).encode())
    (only,) = dump.organisations
    return only


class TestFates:
    """What the tally and the findings say."""

    def test_a_plain_paragraph_is_kept_without_a_finding(self) -> None:
        dump = read_paragraphs(b"inetnum: 192.0.2.0 - 192.0.2.255\n")
        assert (dump.tally, dump.findings) == (Tally(kept=1), [])

    def test_a_repaired_paragraph_has_one_finding_for_each_correction(self) -> None:
        dump = read_paragraphs(b"inetnum: 192.0.2.255 - 192.000.2.0\ncountry: Greece\n")
        assert dump.tally == Tally(repaired=1)
        assert dump.findings == [
            (1, Fate.REPAIRED, Reason.REVERSED),
            (1, Fate.REPAIRED, Reason.LEADING_ZERO),
            (1, Fate.REPAIRED, Reason.BAD_COUNTRY),
        ]

    def test_a_skipped_paragraph_has_one_finding_even_if_it_also_needed_repair(self) -> None:
        dump = read_paragraphs(b"inetnum: 192.0.2.256/33\ncountry: Greece\njunk\n")
        assert (dump.tally, dump.findings) == (
            Tally(skipped=1),
            [(1, Fate.SKIPPED, Reason.OUT_OF_RANGE)],
        )

    def test_an_unknown_paragraph_has_one_finding(self) -> None:
        dump = read_paragraphs(b"garden: roses\n")
        assert (dump.tally, dump.findings) == (
            Tally(unknown=1),
            [(1, Fate.UNKNOWN, Reason.UNKNOWN_CLASS)],
        )

    def test_fates_add_up_to_the_number_of_paragraphs(self) -> None:
        dump = read_paragraphs(b"inetnum: 10/8\n\ninetnum: 10.1/8\n\nperson: A\n\ngarden: B\n\n% only this\n")
        assert dump.tally == Tally(kept=1, repaired=1, skipped=1, unknown=1)

    def test_a_finding_names_the_first_line_that_is_not_a_comment(self) -> None:
        dump = read_paragraphs(b"% head\n\n# a note\n% another\nperson: A\n")
        assert dump.findings == [(5, Fate.SKIPPED, Reason.OTHER_CLASS)]


class TestLines:
    """How lines make attributes and attributes paragraphs."""

    def test_carriage_returns_before_line_feeds_are_dropped(self) -> None:
        dump = read_paragraphs(b"inetnum: 10.0.0.0/8\r\nnetname: TEN\r\n\r\nperson: A\r\n")
        assert dump.registrations[0].netname == "TEN"
        assert dump.tally == Tally(kept=1, skipped=1)

    def test_only_one_carriage_return_is_dropped(self) -> None:
        assert read_paragraphs(b"inetnum: 10/8\nnetname: A\r\r\n").registrations[0].netname == "A\r"

    def test_a_line_of_spaces_and_tabs_ends_a_paragraph(self) -> None:
        assert read_paragraphs(b"inetnum: 10/8\n \t \nnetname: A\n").tally == Tally(kept=1, unknown=1)

    @pytest.mark.parametrize("sign", [b"#", b"%"])
    def test_a_comment_line_ends_nothing(self, sign: bytes) -> None:
        dump = read_paragraphs(b"inetnum: 10/8\ndescr: a\n" + sign + b" inside\n b\nnetname: A\n")
        assert (dump.registrations[0].descr, dump.registrations[0].netname) == ("a b", "A")

    def test_comments_alone_are_no_paragraph(self) -> None:
        assert read_paragraphs(b"% a\n# b\n\n% c\n").tally == Tally()

    def test_keys_ignore_case(self) -> None:
        assert registration("NetName: A", "COUNTRY: gr").netname == "A"

    def test_spaces_and_tabs_around_a_value_are_dropped(self) -> None:
        assert registration("netname: \t A B\t ").netname == "A B"

    def test_a_value_may_hold_colons(self) -> None:
        assert registration("geofeed:https://example.net/a").geofeed == "https://example.net/a"

    def test_a_key_may_have_31_bytes_and_no_more(self) -> None:
        assert findings_of("k" * 31 + ": a") == []
        assert findings_of("k" * 32 + ": a") == [Reason.JUNK_LINE]

    def test_a_key_holds_no_blank_and_is_not_empty(self) -> None:
        assert findings_of("net name: a") == [Reason.JUNK_LINE]
        assert findings_of("netname : a") == [Reason.JUNK_LINE]
        assert findings_of(": a") == [Reason.JUNK_LINE]

    @pytest.mark.parametrize("first", [" ", "\t", "+"])
    def test_a_continuation_line_is_joined_with_one_space(self, first: str) -> None:
        assert registration("descr: one", f"{first}  two ").descr == "one two"

    def test_only_the_first_byte_of_a_continuation_is_its_mark(self) -> None:
        assert registration("descr: one", "++two").descr == "one +two"
        assert registration("descr: one", " +two").descr == "one +two"

    def test_an_empty_side_is_joined_without_the_space(self) -> None:
        assert registration("descr:", " two").descr == "two"
        assert registration("descr: one", "+").descr == "one"
        assert registration("descr: one", "+", "+ two").descr == "one two"

    def test_a_continued_range_is_one_range(self) -> None:
        (only,) = read_paragraphs(b"inetnum: 10.0.0.0 -\n  10.0.0.255\n").registrations
        assert (only.first, only.last) == (ip("10.0.0.0"), ip("10.0.0.255"))

    @pytest.mark.parametrize("first", ["junk", " inetnum: 10/8", "+inetnum: 10/8", ": 10/8"])
    def test_junk_first_makes_a_paragraph_unknown(self, first: str) -> None:
        dump = read_paragraphs(f"{first}\ninetnum: 10/8\n".encode())
        assert (dump.tally, reasons(dump)) == (Tally(unknown=1), [Reason.NO_ATTRIBUTE])

    def test_junk_further_down_goes_with_its_continuation_lines(self) -> None:
        assert registration("netname: A", "junk", " B", "% note", "+ C", "descr: d").netname == "A"

    def test_several_junk_lines_are_one_finding(self) -> None:
        assert findings_of("junk", "more junk", "netname: A", "junk") == [Reason.JUNK_LINE]

    def test_junk_in_an_organisation_is_a_repair(self) -> None:
        assert reasons(read_paragraphs(b"organisation: ORG-A\njunk\n")) == [Reason.JUNK_LINE]

    def test_junk_in_other_classes_is_no_finding_of_its_own(self) -> None:
        assert reasons(read_paragraphs(b"person: A\njunk\n")) == [Reason.OTHER_CLASS]

    def test_a_last_line_needs_no_line_feed(self) -> None:
        assert read_paragraphs(b"inetnum: 10/8\nnetname: A").registrations[0].netname == "A"

    def test_an_empty_dump_holds_nothing(self) -> None:
        assert read_paragraphs(b"") == SlowDump()


class TestClasses:
    """What the first attribute makes of a paragraph."""

    @pytest.mark.parametrize("name", ["inetnum", "inet6num", "INETNUM"])
    def test_range_classes_become_registrations(self, name: str) -> None:
        assert read_paragraphs(f"{name}: 10.0.0.0/8\n".encode()).registrations[0].line == 1

    @pytest.mark.parametrize("name", ["NetHandle", "V6NetHandle"])
    def test_handle_classes_become_registrations(self, name: str) -> None:
        dump = read_paragraphs(f"{name}: NET-1\nNetRange: 10.0.0.0 - 10.0.0.255\n".encode())
        assert dump.registrations[0].last == ip("10.0.0.255")

    @pytest.mark.parametrize("name", ["organisation", "OrgID"])
    def test_organisation_classes_become_organisations(self, name: str) -> None:
        assert organisation(f"{name}: ORG-1").handle == "ORG-1"

    @pytest.mark.parametrize("name", OTHER_CLASSES)
    def test_other_classes_are_skipped(self, name: str) -> None:
        dump = read_paragraphs(f"{name}: A\ninetnum: 10/8\n".encode())
        assert (dump.tally, reasons(dump), dump.registrations) == (Tally(skipped=1), [Reason.OTHER_CLASS], [])

    @pytest.mark.parametrize("name", ["netrange", "garden", "org", "ownerid"])
    def test_any_other_first_attribute_is_unknown(self, name: str) -> None:
        assert reasons(read_paragraphs(f"{name}: 10/8\ninetnum: 10/8\n".encode())) == [Reason.UNKNOWN_CLASS]


class TestFields:
    """Which attribute fills which field."""

    def test_first_non_empty_value_counts(self) -> None:
        assert registration("netname:", "netname: # none", "netname: B", "netname: C").netname == "B"

    def test_structured_values_end_at_a_hash_after_lines_were_joined(self) -> None:
        assert registration("netname: A # note", " more").netname == "A"

    def test_free_values_keep_their_hash(self) -> None:
        assert registration("descr: room #4").descr == "room #4"
        assert registration("descr: # only").descr == "# only"

    def test_first_range_counts_even_if_it_is_empty(self) -> None:
        dump = read_paragraphs(b"inetnum:\ninet6num: 2001:db8::/32\nnetrange: 10/8\n")
        assert reasons(dump) == [Reason.NO_RANGE]

    @pytest.mark.parametrize(
        ("key", "holder"), [("org", "ORG"), ("ownerid", "OWNERID"), ("orgid", "ORGID"), ("OrgID", "ORGID")]
    )
    def test_handle_says_its_kind(self, key: str, holder: str) -> None:
        read = registration(f"{key}: H-1 # note")
        assert (read.handle, read.holder) == ("H-1", holder)

    def test_first_non_empty_handle_of_any_kind_counts(self) -> None:
        read = registration("org: # none", "ownerid: B", "org: A")
        assert (read.handle, read.holder) == ("B", "OWNERID")

    def test_without_a_handle_there_is_no_kind(self) -> None:
        read = registration()
        assert (read.handle, read.holder) == ("", "")

    def test_maintainer_is_the_first_that_is_no_registrys_own(self) -> None:
        lines = ("mnt-by: RIPE-NCC-HM-MNT, ripe-ncc-end-mnt\tMNT-A", "mnt-by: MNT-B")
        assert registration(*lines).maintainer == "MNT-A"

    def test_maintainers_are_looked_for_in_all_lines(self) -> None:
        assert registration("mnt-by: APNIC-HM # MNT-C", "mnt-by:", "mnt-by: MNT-B").maintainer == "MNT-B"

    def test_with_registry_maintainers_alone_there_is_none(self) -> None:
        assert registration("mnt-by: maint-apnic-ap,MNT-APJII-ID").maintainer == ""

    @pytest.mark.parametrize("key", ["status", "NetType"])
    def test_status_has_two_names(self, key: str) -> None:
        assert registration(f"{key}: ASSIGNED PA # old").status == "ASSIGNED PA"

    def test_country_is_upper_cased(self) -> None:
        assert registration("country: gr # Hellas").country == "GR"

    @pytest.mark.parametrize("value", ["Greece", "G", "G1", "GR GB", "ÄÖ"])
    def test_other_countries_are_left_out(self, value: str) -> None:
        assert registration(f"country: {value}", "country: GR").country == ""
        assert findings_of(f"country: {value}") == [Reason.BAD_COUNTRY]

    def test_an_empty_country_is_no_finding(self) -> None:
        assert findings_of("country:", "country: # none") == []

    def test_geoloc_is_kept_as_text(self) -> None:
        assert registration("geoloc: 38.00 23.73 # Athens").geoloc == "38.00 23.73"

    def test_geofeed_attribute_wins_over_remarks(self) -> None:
        lines = ("remarks: Geofeed https://example.net/a", "geofeed: https://example.net/b#c")
        assert registration(*lines).geofeed == "https://example.net/b"

    @pytest.mark.parametrize(
        "remark",
        [
            "Geofeed https://example.net/a",
            "GEOFEED:https://example.net/a",
            "geofeed \t : \t https://example.net/a and more",
            "geofeed https://example.net/a#b",
        ],
    )
    def test_geofeed_is_found_in_remarks(self, remark: str) -> None:
        assert registration(f"remarks: {remark}").geofeed == "https://example.net/a"
        assert registration(f"comment: {remark}").geofeed == "https://example.net/a"

    @pytest.mark.parametrize("remark", ["our geofeed https://a", "geofeeds https://a", "geofeed", "geofeed:"])
    def test_other_remarks_are_no_geofeed(self, remark: str) -> None:
        assert registration(f"remarks: {remark}").geofeed == ""
        assert registration(f"remarks: {remark}", "remarks: geofeed b").geofeed == "b"

    @pytest.mark.parametrize("key", ["org-name", "OrgName"])
    def test_organisation_name_has_two_names(self, key: str) -> None:
        assert organisation("organisation: ORG-1", "owner: no", f"{key}: Example #1").name == "Example #1"

    def test_address_lines_are_joined_in_their_order(self) -> None:
        lines = ("Street: 1 Elm #2", "City: Sampleton", "State/Prov:", "PostalCode: 123", "Address: End")
        assert organisation("OrgID: EX", *lines).address == "1 Elm #2, Sampleton, 123, End"

    def test_organisation_takes_its_handle_from_its_class_alone(self) -> None:
        assert organisation("organisation: ORG-1 # note", "org: ORG-2").handle == "ORG-1"

    def test_organisation_without_a_handle_is_skipped(self) -> None:
        dump = read_paragraphs(b"organisation: # none\norg: ORG-2\norg-name: Example\n")
        assert (dump.organisations, reasons(dump)) == ([], [Reason.NO_HANDLE])

    def test_organisation_has_country_date_registry_and_line(self) -> None:
        lines = ("% note", "organisation: O", "country: gr", "created: 2001-02-03", "source: ARIN")
        read = organisation(*lines)
        assert (read.country, read.date, read.registry, read.line) == (
            "GR",
            day(2001, 2, 3),
            Registry.ARIN,
            2,
        )

    def test_an_owner_in_a_registration_is_an_organisation_too(self) -> None:
        data = (
            b"inetnum: 200.1/16\nowner: Example #1\nownerid: BR-EX-LACNIC # id\naddress: Rua A\n"
            b"address: Exemplo\ncountry: BR\nchanged: 20190102\n"
        )
        dump = read_paragraphs(data, Registry.LACNIC)
        assert dump.tally == Tally(kept=1)
        assert dump.organisations == [
            SlowOrganisation(
                handle="BR-EX-LACNIC",
                name="Example #1",
                address="Rua A, Exemplo",
                country="BR",
                date=day(2019, 1, 2),
                registry=Registry.LACNIC,
                line=1,
            )
        ]

    @pytest.mark.parametrize("lines", [b"ownerid: X\nowner:\n", b"ownerid: # X\nowner: A\n", b"owner: A\n"])
    def test_without_both_owner_and_ownerid_there_is_no_organisation(self, lines: bytes) -> None:
        assert read_paragraphs(b"inetnum: 200.1/16\n" + lines).organisations == []

    def test_a_registration_without_a_range_yields_no_organisation(self) -> None:
        assert read_paragraphs(b"inetnum: ?\nownerid: X\nowner: A\n").organisations == []


class TestRanges:
    """The forms of a range and what is wrong with them."""

    @pytest.mark.parametrize(
        ("value", "first", "last"),
        [
            ("192.0.2.0 - 192.0.2.255", "192.0.2.0", "192.0.2.255"),
            ("192.0.2.0-192.0.2.130", "192.0.2.0", "192.0.2.130"),
            ("192.0.2.0\t -\t192.0.2.7 # note", "192.0.2.0", "192.0.2.7"),
            ("192.0.2.0/25", "192.0.2.0", "192.0.2.127"),
            ("190.190/15", "190.190.0.0", "190.191.255.255"),
            ("10/8", "10.0.0.0", "10.255.255.255"),
            ("200.1.2/24", "200.1.2.0", "200.1.2.255"),
            ("0.0.0.0/0", LOWEST, "255.255.255.255"),
            ("2001:db8::/32", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2001:0DB8:0:0:0:0:0:0/127", "2001:db8::", "2001:db8::1"),
            ("2001:db8:: - 2001:db8::5", "2001:db8::", "2001:db8::5"),
            ("::/0", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("1:2:3:4:5:6:7::/128", "1:2:3:4:5:6:7:0", "1:2:3:4:5:6:7:0"),
        ],
    )
    def test_forms_of_a_range_are_read_as_they_stand(self, value: str, first: str, last: str) -> None:
        dump = read_paragraphs(f"inetnum: {value}\n".encode())
        (read,) = dump.registrations
        assert (read.first, read.last, read.family) == (
            ip(first),
            ip(last),
            ipaddress.ip_address(first).version,
        )
        assert dump.findings == []

    @pytest.mark.parametrize("value", ["", "# none", " \t "])
    def test_an_empty_range_is_no_range(self, value: str) -> None:
        assert reasons(read_paragraphs(f"inetnum: {value}\n".encode())) == [Reason.NO_RANGE]

    def test_a_paragraph_without_a_range_attribute_has_no_range(self) -> None:
        assert reasons(read_paragraphs(b"NetHandle: NET-1\n")) == [Reason.NO_RANGE]

    @pytest.mark.parametrize(
        "value",
        [
            "192.0.2.256 - 192.0.3.0",
            "192.0.2.0 - 999.0.3.0",
            "300/8",
            "192.0.2.0/33",
            "192.0.2.0/128",
            "2001:db8::/129",
            "256.0.0.1",
        ],
    )
    def test_numbers_that_are_too_large_are_out_of_range(self, value: str) -> None:
        assert reasons(read_paragraphs(f"inetnum: {value}\n".encode())) == [Reason.OUT_OF_RANGE]

    @pytest.mark.parametrize(
        "value",
        [
            "none",
            "192.0.2",
            "192.0.2.0.1",
            "192.0.2.0 - 192.0.2",
            "192.0.2.0 -",
            "- 192.0.2.0",
            "192.0.2.0 192.0.2.9",
            "192.0.2.0 - 192.0.2.9 - 192.0.2.10",
            "192.0.2.0/24 - 192.0.3.0",
            "192.0.2.0 /24",
            "192.0.2.0/ 24",
            "192.0.2.0/",
            "192.0.2.0/0024",
            "192.0.2.0/24/25",
            "192.0.2./24",
            ".0.2.0/24",
            "1920.0.2.0/24",
            "192.0.2.x/24",
            "999.0.2.0 - none",
            "192.0.2.0 - 2001:db8::",
            "2001:db8:: - 192.0.2.0",
            "2001:db8::1::/64",
            "2001:db8:/32",
            "12345::/16",
            "1:2:3:4:5:6:7/112",
            "1:2:3:4:5:6:7:8::/128",
            "2001:db8::192.0.2.1/128",
            "fe80::1%eth0",
            "2001:db8:: /32",
            "2001:db8::g/64",
        ],
    )
    def test_other_text_is_a_bad_range(self, value: str) -> None:
        assert reasons(read_paragraphs(f"inetnum: {value}\n".encode())) == [Reason.BAD_RANGE]

    @pytest.mark.parametrize(
        ("value", "first", "last", "reason"),
        [
            ("192.0.2.9 - 192.0.2.0", "192.0.2.0", "192.0.2.9", Reason.REVERSED),
            ("2001:db8::9 - 2001:db8::", "2001:db8::", "2001:db8::9", Reason.REVERSED),
            ("192.0.2.77/24", "192.0.2.0", "192.0.2.255", Reason.HOST_BITS),
            ("190.191/15", "190.190.0.0", "190.191.255.255", Reason.HOST_BITS),
            ("2001:db8::1/126", "2001:db8::", "2001:db8::3", Reason.HOST_BITS),
            ("192.000.002.0/24", "192.0.2.0", "192.0.2.255", Reason.LEADING_ZERO),
            ("192.0.2.00 - 192.0.2.010", "192.0.2.0", "192.0.2.10", Reason.LEADING_ZERO),
            ("192.0.2.1", "192.0.2.1", "192.0.2.1", Reason.SINGLE_ADDRESS),
            ("2001:db8::1", "2001:db8::1", "2001:db8::1", Reason.SINGLE_ADDRESS),
        ],
    )
    def test_repairs_of_a_range(self, value: str, first: str, last: str, reason: Reason) -> None:
        dump = read_paragraphs(f"inet6num: {value}\n".encode())
        (read,) = dump.registrations
        assert (read.first, read.last, reasons(dump)) == (ip(first), ip(last), [reason])

    def test_repairs_add_up(self) -> None:
        dump = read_paragraphs(b"inetnum: 192.0.02.9/24\n")
        assert reasons(dump) == [Reason.HOST_BITS, Reason.LEADING_ZERO]


class TestDates:
    """Which date counts and how it is stored."""

    def test_first_day_of_1970_is_one(self) -> None:
        assert registration("created: 1970-01-01").date == 1

    @pytest.mark.parametrize(
        ("value", "stored"),
        [
            ("2019-02-28", day(2019, 2, 28)),
            ("2019-02-28T10:11:12Z", day(2019, 2, 28)),
            ("2019-02-28 # note", day(2019, 2, 28)),
            ("20190228", day(2019, 2, 28)),
            ("hostmaster@example.net 20190228", day(2019, 2, 28)),
            ("2020-02-29", day(2020, 2, 29)),
            ("2148-12-31", day(2148, 12, 31)),
            ("2019-13-01 20190228", day(2019, 2, 28)),
        ],
    )
    def test_forms_of_a_date(self, value: str, stored: int) -> None:
        assert registration(f"changed: {value}").date == stored
        assert findings_of(f"changed: {value}") == []

    @pytest.mark.parametrize(
        "value",
        [
            "yesterday",
            "1969-12-31",
            "2149-01-01",
            "2019-02-29",
            "2019-00-01",
            "2019-01-00",
            "20191301",
            "201902281",
            "20190228 by me",
            "28.02.2019",
        ],
    )
    def test_other_dates_are_left_out(self, value: str) -> None:
        assert registration(f"changed: {value}").date == 0
        assert findings_of(f"changed: {value}") == [Reason.BAD_DATE]

    @pytest.mark.parametrize(
        ("lines", "stored"),
        [
            (("created: 2001-01-01", "changed: 2002-02-02", "last-modified: 2003-03-03"), day(2003, 3, 3)),
            (("RegDate: 2001-01-01", "Updated: 2002-02-02"), day(2002, 2, 2)),
            (("created: 2001-01-01", "regdate: 2000-01-01"), day(2001, 1, 1)),
            (("updated:", "changed: # none", "updated: 2002-02-02", "changed: 2003-03-03"), day(2002, 2, 2)),
            (("last-modified:", "created: 2001-01-01"), day(2001, 1, 1)),
        ],
    )
    def test_best_rank_and_in_it_the_first_value_count(self, lines: tuple[str, ...], stored: int) -> None:
        assert registration(*lines).date == stored

    def test_lower_ranks_are_not_tried_for_a_bad_date(self) -> None:
        assert registration("last-modified: soon", "created: 2001-01-01").date == 0

    def test_an_empty_date_is_no_finding(self) -> None:
        assert findings_of("changed:") == []


class TestRegistries:
    """Who published a paragraph."""

    @pytest.mark.parametrize(
        ("source", "registry"),
        [
            ("RIPE", Registry.RIPE),
            ("ripe # Filtered", Registry.RIPE),
            ("RIPE-NONAUTH", Registry.RIPE),
            ("Apnic", Registry.APNIC),
            ("AFRINIC", Registry.AFRINIC),
            ("LACNIC", Registry.LACNIC),
            ("ARIN Whois", Registry.ARIN),
            ("JPNIC", Registry.APNIC),
            ("KRNIC", Registry.APNIC),
            ("TWNIC", Registry.APNIC),
            ("CNNIC", Registry.APNIC),
            ("IDNIC", Registry.APNIC),
            ("VNNIC", Registry.APNIC),
            ("IRINN", Registry.APNIC),
            ("RADB", Registry.NONE),
            ("RIPENCC", Registry.NONE),
            ("", Registry.NONE),
        ],
    )
    def test_source_names_the_registry(self, source: str, registry: Registry) -> None:
        assert registration(f"source: {source}").registry is registry

    def test_default_registry_is_taken_without_a_known_source(self) -> None:
        dump = read_paragraphs(b"inetnum: 10/8\nsource: RADB\n\ninetnum: 11/8\n", Registry.LACNIC)
        assert [each.registry for each in dump.registrations] == [Registry.LACNIC, Registry.LACNIC]

    def test_registry_of_a_dump_is_that_of_its_first_known_source(self) -> None:
        data = b"person: A\nsource: RADB\n\nrole: B\nsource: AFRINIC # f\n\nmntner: C\nsource: RIPE\n"
        assert registry_of_dump(data) is Registry.AFRINIC

    def test_sources_after_the_first_64_kib_do_not_count_for_the_dump(self) -> None:
        assert registry_of_dump(b"%\n" * 32768 + b"person: A\nsource: RIPE\n") is Registry.NONE

    @pytest.mark.parametrize("key", ["NetHandle", "V6NetHandle", "ASHandle", "POCHandle", "OrgID"])
    def test_arin_dialect_names_its_registry(self, key: str) -> None:
        assert registry_of_dump(f"{key}: X\n".encode()) is Registry.ARIN

    @pytest.mark.parametrize("key", ["owner", "ownerid", "inetnum-up"])
    def test_lacnic_dialect_names_its_registry(self, key: str) -> None:
        assert registry_of_dump(f"inetnum: 200/8\n{key}: X\n".encode()) is Registry.LACNIC

    def test_other_dialects_name_none(self) -> None:
        assert registry_of_dump(b"inetnum: 200/8\n") is Registry.NONE


class TestText:
    """How bytes become text."""

    def test_valid_utf8_is_read_as_such(self) -> None:
        assert registration("descr: Παράδειγμα").descr == "Παράδειγμα"

    def test_other_bytes_are_latin_1(self) -> None:
        assert (
            read_paragraphs(b"inetnum: 10/8\ndescr: Caf\xe9 Muster\n").registrations[0].descr == "Café Muster"
        )

    def test_each_value_is_judged_alone(self) -> None:
        dump = read_paragraphs(b"inetnum: 10/8\ndescr: Caf\xe9\nnetname: Caf\xc3\xa9\n")
        assert (dump.registrations[0].descr, dump.registrations[0].netname) == ("Café", "Café")

    def test_1000_bytes_are_kept_whole(self) -> None:
        assert registration("descr: " + "x" * 1000).descr == "x" * 1000
        assert findings_of("descr: " + "x" * 1000) == []

    @pytest.mark.parametrize("key", ["netname", "descr", "org", "mnt-by", "status", "geoloc", "geofeed"])
    def test_longer_values_are_cut(self, key: str) -> None:
        assert findings_of(f"{key}: " + "x" * 1001) == [Reason.VALUE_CUT]

    def test_several_cut_values_are_one_finding(self) -> None:
        assert findings_of("netname: " + "x" * 1001, "descr: " + "x" * 2000) == [Reason.VALUE_CUT]

    def test_a_cut_falls_at_the_start_of_a_character(self) -> None:
        assert registration("descr: x" + "é" * 500).descr == "x" + "é" * 499

    def test_bytes_are_those_of_the_text_as_utf8(self) -> None:
        dump = read_paragraphs(b"inetnum: 10/8\ndescr: " + b"\xe9" * 501 + b"\n")
        assert dump.registrations[0].descr == "é" * 500
        assert reasons(dump) == [Reason.VALUE_CUT]

    @pytest.mark.parametrize("line", ["org-name: " + "x" * 1001, "address: " + "x" * 1001])
    def test_values_of_an_organisation_are_cut(self, line: str) -> None:
        assert reasons(read_paragraphs(f"organisation: O\n{line}\n".encode())) == [Reason.VALUE_CUT]

    def test_a_joined_address_is_cut_as_one_value(self) -> None:
        read = organisation("organisation: O", "address: " + "a" * 600, "address: " + "b" * 600)
        assert read.address == "a" * 600 + ", " + "b" * 398

    def test_values_that_are_not_kept_are_not_cut(self) -> None:
        better = "org: O"
        assert (
            findings_of(better, "remarks: " + "x" * 2000, "phone: " + "x" * 2000, "owner: " + "x" * 2000)
            == []
        )

    @pytest.mark.parametrize("line", ["owner: " + "x" * 1001, "city: " + "x" * 1001])
    def test_name_of_the_holder_and_address_of_a_registration_are_kept_and_cut(self, line: str) -> None:
        assert findings_of(line) == [Reason.VALUE_CUT]


STATISTICS = b"ripencc|GR|ipv4|192.0.2.0|256|20190228|allocated|abc-1\n"


def statistics_reasons(line: str) -> list[Reason]:
    """Read one line of statistics and return the reasons of its findings."""
    return reasons(read_statistics(line.encode()))


class TestStatistics:
    """Lines of delegated and delegated-extended statistics."""

    def test_an_extended_line_is_a_registration(self) -> None:
        assert read_statistics(STATISTICS).registrations == [
            SlowRegistration(
                first=ip("192.0.2.0"),
                last=ip("192.0.2.255"),
                family=4,
                handle="abc-1",
                holder="OPAQUE",
                status="allocated",
                country="GR",
                date=day(2019, 2, 28),
                registry=Registry.RIPE,
                line=1,
            )
        ]

    def test_a_line_without_opaque_id_has_no_holder(self) -> None:
        for line in (
            b"arin|US|ipv4|10.0.0.0|1|20190228|assigned",
            b"arin|US|ipv4|10.0.0.0|1|20190228|assigned|",
        ):
            (read,) = read_statistics(line).registrations
            assert (read.handle, read.holder) == ("", "")

    def test_further_fields_are_ignored(self) -> None:
        (read,) = read_statistics(
            b"apnic|JP|ipv6|2001:db8::|32|20190228|allocated|A1|e-stats|x"
        ).registrations
        assert (read.handle, read.family, read.registry) == ("A1", 6, Registry.APNIC)

    def test_blanks_and_carriage_returns_are_dropped(self) -> None:
        (read,) = read_statistics(b" arin | us\t|ipv4| 10.0.0.0 |256 | 20190228 | assigned\r\n").registrations
        assert (read.country, read.status, read.date) == ("US", "assigned", day(2019, 2, 28))

    def test_blank_lines_and_comments_are_no_paragraphs(self) -> None:
        dump = read_statistics(b"# note\n\n \t\n\t# note\n" + STATISTICS)
        assert (dump.tally, dump.registrations[0].line) == (Tally(kept=1), 5)

    @pytest.mark.parametrize("version", ["2", "2.3"])
    def test_version_line_is_a_header(self, version: str) -> None:
        line = f"{version}|ripencc|1539900000|188|19830705|20181019|+0200"
        assert statistics_reasons(line) == [Reason.HEADER]

    def test_summary_line_is_skipped(self) -> None:
        assert statistics_reasons("ripencc|*|ipv4|*|71000|summary") == [Reason.SUMMARY]

    def test_as_numbers_are_skipped(self) -> None:
        assert statistics_reasons("ripencc|GR|asn|64496|1|20190228|allocated|abc") == [Reason.ASN]

    @pytest.mark.parametrize(
        "line",
        [
            "ripencc|GR|ipv4|192.0.2.0|256|20190228",
            "ripencc|GR|ipv5|192.0.2.0|256|20190228|allocated",
            "interNIC|GR|ipv4|192.0.2.0|256|20190228|allocated",
            "hello",
            "|||||||",
        ],
    )
    def test_other_lines_are_unknown(self, line: str) -> None:
        dump = read_statistics(line.encode())
        assert (dump.tally, reasons(dump)) == (Tally(unknown=1), [Reason.BAD_LINE])

    @pytest.mark.parametrize(
        ("name", "registry"),
        [
            ("afrinic", Registry.AFRINIC),
            ("apnic", Registry.APNIC),
            ("arin", Registry.ARIN),
            ("lacnic", Registry.LACNIC),
            ("ripencc", Registry.RIPE),
            ("iana", Registry.IANA),
        ],
    )
    def test_registry_is_the_first_field(self, name: str, registry: Registry) -> None:
        (read,) = read_statistics(f"{name}||ipv4|10.0.0.0|8|19900101|reserved".encode()).registrations
        assert read.registry is registry

    @pytest.mark.parametrize(
        ("start", "count"), [("10.0.0.0", 73728), ("255.255.255.255", 1), (LOWEST, 2**32)]
    )
    def test_a_count_need_not_be_a_prefix(self, start: str, count: int) -> None:
        (read,) = read_statistics(f"arin|US|ipv4|{start}|{count}|19900101|assigned".encode()).registrations
        assert read.last - read.first + 1 == count

    @pytest.mark.parametrize(
        ("start", "value", "reason"),
        [
            ("10.0.0.0", "0", Reason.BAD_RANGE),
            ("10.0.0.0", "", Reason.BAD_RANGE),
            ("10.0.0.0", "-1", Reason.BAD_RANGE),
            ("10.0.0.0", "many", Reason.BAD_RANGE),
            ("10.0.0", "256", Reason.BAD_RANGE),
            ("", "256", Reason.BAD_RANGE),
            ("2001:db8::", "32", Reason.BAD_RANGE),
            ("255.255.255.0", "257", Reason.OUT_OF_RANGE),
            (LOWEST, "99999999999999999999999", Reason.OUT_OF_RANGE),
            ("10.0.0.256", "1", Reason.OUT_OF_RANGE),
        ],
    )
    def test_bad_ipv4_lines_are_skipped(self, start: str, value: str, reason: Reason) -> None:
        assert statistics_reasons(f"arin|US|ipv4|{start}|{value}|19900101|assigned") == [reason]

    @pytest.mark.parametrize(
        ("start", "value", "reason"),
        [
            ("2001:db8::", "129", Reason.OUT_OF_RANGE),
            ("2001:db8::", "", Reason.BAD_RANGE),
            ("10.0.0.0", "32", Reason.BAD_RANGE),
            ("2001:db8::/32", "32", Reason.BAD_RANGE),
            ("2001:db8::1", "32", Reason.HOST_BITS),
        ],
    )
    def test_ipv6_lines_have_the_reasons_of_ranges(self, start: str, value: str, reason: Reason) -> None:
        assert statistics_reasons(f"arin|US|ipv6|{start}|{value}|19900101|assigned") == [reason]

    def test_leading_zeros_are_repaired(self) -> None:
        assert statistics_reasons("arin|US|ipv4|010.0.0.0|8|19900101|assigned") == [Reason.LEADING_ZERO]

    @pytest.mark.parametrize("country", ["", "*"])
    def test_no_country_is_no_finding(self, country: str) -> None:
        assert statistics_reasons(f"arin|{country}|ipv4|10.0.0.0|8|19900101|assigned") == []

    def test_other_countries_are_left_out(self) -> None:
        assert statistics_reasons("arin|USA|ipv4|10.0.0.0|8|19900101|assigned") == [Reason.BAD_COUNTRY]

    @pytest.mark.parametrize("date", ["", "00000000"])
    def test_no_date_is_no_finding(self, date: str) -> None:
        assert statistics_reasons(f"arin|US|ipv4|10.0.0.0|8|{date}|assigned") == []

    @pytest.mark.parametrize("date", ["1990-01-01", "19901301", "soon", "19690101"])
    def test_other_dates_are_left_out(self, date: str) -> None:
        assert statistics_reasons(f"arin|US|ipv4|10.0.0.0|8|{date}|assigned") == [Reason.BAD_DATE]

    def test_lines_are_tested_in_the_order_of_the_table(self) -> None:
        assert statistics_reasons("2|x|asn|y|z|summary") == [Reason.HEADER]
        assert statistics_reasons("interNIC|x|asn|y|z|summary") == [Reason.SUMMARY]
        assert statistics_reasons("interNIC|x|asn") == [Reason.ASN]


IANA_V4 = (
    b"Prefix,Designation,Date,WHOIS,RDAP,Status [1],Note\r\n"
    b"000/8,IANA - Local Identification,1981-09,,,RESERVED,[2]\r\n"
    b'002/8,RIPE NCC,2009-09,whois.ripe.net,"https://a\r\nhttps://b",ALLOCATED,\r\n'
    b"003/8,Administered by Example,1994-05,,,LEGACY,\r\n"
)


class TestIana:
    """The three CSV files of IANA."""

    def test_ipv4_address_space_is_read(self) -> None:
        dump = read_iana(IANA_V4)
        assert dump.tally == Tally(kept=3, skipped=1)
        assert dump.registrations[1] == SlowRegistration(
            first=ip("2.0.0.0"),
            last=ip("2.255.255.255"),
            family=4,
            netname="RIPE NCC",
            descr="RIPE NCC",
            status="ALLOCATED",
            date=day(2009, 9, 1),
            registry=Registry.IANA,
            line=3,
        )

    def test_header_is_skipped(self) -> None:
        assert read_iana(IANA_V4).findings == [(1, Fate.SKIPPED, Reason.HEADER)]

    def test_a_byte_order_mark_is_ignored(self) -> None:
        assert read_iana(b"\xef\xbb\xbf" + IANA_V4) == read_iana(IANA_V4)

    def test_white_space_within_a_cell_is_one_space(self) -> None:
        (read,) = read_iana(b'Prefix,Designation\n 010/8 ,"Private\r\n  Use "\n').registrations
        assert (read.first, read.netname) == (ip("10.0.0.0"), "Private Use")

    def test_a_record_of_several_lines_is_one_paragraph(self) -> None:
        assert [each.line for each in read_iana(IANA_V4).registrations] == [2, 3, 5]

    def test_ipv6_unicast_assignments_are_read(self) -> None:
        data = (
            b"Prefix,Designation,Date,WHOIS,RDAP,Status,Note\n2001:0200::/23,APNIC,1999-07-01,,,ALLOCATED,\n"
        )
        (read,) = read_iana(data).registrations
        assert (read.first, read.family, read.netname, read.status, read.date) == (
            ip("2001:200::"),
            6,
            "APNIC",
            "ALLOCATED",
            day(1999, 7, 1),
        )

    def test_ipv6_address_space_is_read(self) -> None:
        data = b'IPv6 Prefix,Allocation,Reference,Notes\n2000::/3,Global Unicast,[RFC3513],"a, b"\n'
        (read,) = read_iana(data).registrations
        assert (read.first, read.netname, read.descr, read.status, read.date) == (
            ip("2000::"),
            "Global Unicast",
            "Global Unicast",
            "",
            0,
        )

    def test_leading_zeros_are_no_repair_here(self) -> None:
        assert reasons(read_iana(b"Prefix,Designation\n010/8,Private\n")) == [Reason.HEADER]

    @pytest.mark.parametrize(
        ("row", "reason"),
        [
            ("300/8,X,1990-01,,,LEGACY", Reason.OUT_OF_RANGE),
            ("none,X,1990-01,,,LEGACY", Reason.BAD_RANGE),
            (",X,1990-01,,,LEGACY", Reason.NO_RANGE),
            ("010/8,X,1990-13,,,LEGACY", Reason.BAD_DATE),
            ("010.1/8,X,1990-01,,,LEGACY", Reason.HOST_BITS),
        ],
    )
    def test_ranges_and_dates_have_their_usual_reasons(self, row: str, reason: Reason) -> None:
        data = f"Prefix,Designation,Date,WHOIS,RDAP,Status\n{row}\n".encode()
        assert reasons(read_iana(data)) == [Reason.HEADER, reason]

    def test_blank_rows_are_no_paragraphs(self) -> None:
        assert read_iana(b"Prefix,Designation\n\n010/8,Private\n \t\n,,\n").tally == Tally(kept=1, skipped=1)
