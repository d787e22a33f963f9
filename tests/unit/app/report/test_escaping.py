"""Names come from outside: whatever they hold, it stays text. Each case is named after an attack."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.app.report.data import (
    Flag,
    HierarchyFigures,
    ReportCrawler,
    ReportData,
    ReportSubnet,
    SubnetNode,
)
from ipmicra.app.report.page import render
from ipmicra.app.report.plots.svg import to_svg
from tests.page_reader import Page
from tests.report_world import invented_data

ATTACKS = {
    "script tag": "<script>alert(1)</script>",
    "script end tag": "</script><script>alert(1)</script>",
    "style end tag": "</style><script>alert(1)</script>",
    "title end tag": "</title><img src=x onerror=alert(1)>",
    "attribute breakout by double quote": '" onmouseover="alert(1)" x="',
    "attribute breakout by single quote": "' onmouseover='alert(1)' x='",
    "attribute breakout by angle": '"><svg onload=alert(1)>',
    "image with error handler": "<img src=x onerror=alert(1)>",
    "svg with load handler": "<svg/onload=alert(1)>",
    "svg end tag": "</svg><script>alert(1)</script>",
    "foreign object": "<foreignObject><iframe src=javascript:alert(1)></foreignObject>",
    "comment end": "--><script>alert(1)</script><!--",
    "cdata end": "]]><script>alert(1)</script>",
    "entity already written": "&lt;script&gt;alert(1)&lt;/script&gt;",
    "entity without semicolon": "&ltscript&gtalert(1)",
    "template literal": "${alert(1)}",
    "css expression": "x}*{background:url(https://evil.example/)}",
    "meta refresh": '<meta http-equiv="refresh" content="0;url=https://evil.example/">',
    "base tag": '<base href="https://evil.example/">',
    "null byte in tag": "<scr\0ipt>alert(1)</scr\0ipt>",
    "lone surrogate": "a\ud800b",
    "right to left override": "evil\u202egpj.exe",
    "control characters": "a\x1b[31mb\x07",
    "very long name": "x" * 5000,
}


def poisoned(text: str) -> ReportData:
    """A report with the text wherever a text from outside can stand."""
    data = invented_data(30)
    crawlers = (ReportCrawler(name=text, place=data.crawlers[0].place), *data.crawlers[1:])
    place = data.crawlers[0].place
    assert place is not None
    crawlers = (replace(crawlers[0], place=replace(place, city=text, country=text)), *crawlers[1:])
    sites = [
        replace(site, host=text, organisation=text, country=text, flag=Flag.ANYCAST if i % 2 else None)
        for i, site in enumerate(data.sites)
    ]
    address = data.sites[0].address
    assert address is not None
    sites[0] = replace(sites[0], subnet=ReportSubnet(first=address, last=address, label=text), crawler=0)
    node = SubnetNode(label=text, parent=None, name=text, is_delegated=True, crawlers=((0, 20),))
    return replace(
        data,
        crawlers=crawlers,
        sites=tuple(sites),
        title=text,
        policy=text,
        when=text,
        command=text,
        notes=(text,),
        tree=(node,),
        hierarchy=HierarchyFigures(edition=text, subnets=1, organisations=1),
    )


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
