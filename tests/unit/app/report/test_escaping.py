"""Names come from outside: whatever they hold, it stays text. Each case is named after an attack."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.app.report.data import ReportCrawler, ReportData
from ipmicra.app.report.page import render
from ipmicra.app.report.plots.svg import to_svg
from tests.page_reader import Page
from tests.report_attacks import ATTACKS, poisoned
from tests.report_world import invented_data


def shape_of(page: Page) -> list[tuple[str, tuple[str, ...]]]:
    """Every tag with its attributes' names: what a text must not be able to change."""
    return [(tag.name, tuple(tag.attributes)) for tag in page.tags]


@pytest.mark.parametrize("attack", ATTACKS)
def test_attack_stays_text_in_the_page(attack: str) -> None:
    harmless = "y" * len(ATTACKS[attack])
    report = render(poisoned(ATTACKS[attack]))
    assert shape_of(Page(report.html)) == shape_of(Page(render(poisoned(harmless)).html))
    assert report.html.encode()


@pytest.mark.parametrize("attack", ATTACKS)
def test_attack_stays_text_in_every_plot(attack: str) -> None:
    for scene in render(poisoned(ATTACKS[attack])).scenes:
        root = ElementTree.fromstring(to_svg(scene))
        names = {element.tag.split("}")[1] for element in root.iter()}
        assert names <= {"svg", "title", "desc", "g", "rect", "circle", "path", "text"}
        allowed = {"class", "d", "x", "y", "cx", "cy", "r", "width", "height", "viewBox", "role", "transform"}
        for element in root.iter():
            for attribute in element.attrib:
                assert attribute in allowed or attribute.split("-")[0] in {"fill", "stroke", "font", "text"}


def test_name_is_shown_as_it_is_written() -> None:
    text = "A & B <C> \"D\" 'E' – Ελλάς 日本"
    page = Page(render(poisoned(text)).html)
    assert page.one("h1").text == text
    assert text in page.one("table", id="table-sites").text


def test_direction_and_control_characters_leave_a_mark() -> None:
    page = Page(render(poisoned("evil\u202egpj\x1b[31m")).html)
    assert page.one("h1").text == "evil\ufffdgpj\ufffd[31m"


@given(st.text(max_size=40))
def test_any_text_leaves_the_structure_alone(text: str) -> None:
    site = replace(invented_data(1).sites[0], place=None, address=None)
    fleet = (ReportCrawler(name="a"),) * 12
    pages = [
        Page(render(ReportData(crawlers=fleet, sites=(replace(site, host=name, organisation=name),))).html)
        for name in (text or "x", "y" * max(len(text), 1))
    ]
    assert shape_of(pages[0]) == shape_of(pages[1])
