"""The page: its structure, what it says, and that it asks nobody for anything."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from dataclasses import replace

import pytest

from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import HierarchyFigures, ReportCrawler, ReportData, ReportSite
from ipmicra.app.report.page import Report, render
from ipmicra.app.report.tables import pick_sites
from ipmicra.model.quantities import percent
from tests.page_reader import Page
from tests.report_world import invented_data

DATA = invented_data(300)


@pytest.fixture(scope="module")
def report() -> Report:
    return render(DATA)


@pytest.fixture(scope="module")
def page(report: Report) -> Page:
    return Page(report.html)


def test_every_plot_is_there_with_a_heading_a_caption_and_an_alternative_text(page: Page) -> None:
    plots = page.all("svg")
    assert [plot.attributes["id"] for plot in plots] == [
        *("plot-map", "plot-rtt", "plot-probes", "plot-load", "plot-trade", "plot-hilbert", "plot-subnets"),
    ]
    assert all(len(plot.attributes["aria-label"]) > 30 for plot in plots)
    assert all(plot.attributes["role"] in {"img", "group"} for plot in plots)
    assert len(page.all("figure")) == len(page.all("figcaption")) == 7
    assert all(caption.text for caption in page.all("figcaption"))


def test_figures_on_top_are_those_of_the_summary(page: Page, report: Report) -> None:
    shown = {tag.text for tag in page.all("b")}
    summary = report.summary
    assert f"{summary.sites:,}" in shown
    assert summary.optimal is not None
    assert percent(summary.optimal) in shown
    assert f"{summary.probes_per_site:.2f}" in shown
    assert f"{summary.mean_rtt_ms:.1f} ms" in shown
    tops = " ".join(tag.text for tag in page.all("dl", class_="tiles"))
    assert f"site hash {summary.hash_rtt_ms:.1f} ms" in tops


def test_legend_has_a_button_a_crawler_with_its_number_of_sites(page: Page) -> None:
    buttons = {tag.attributes["data-c"]: tag.text for tag in page.all("button") if "data-c" in tag.attributes}
    counts = Counter(site.crawler for site in DATA.sites)
    for number, crawler in enumerate(DATA.crawlers):
        assert buttons[str(number)] == f"{crawler.name} {counts[number]:,}"


def test_table_of_sites_has_every_site_with_its_crawler(page: Page) -> None:
    rows = [tag for tag in page.all("tr") if tag.above[-2:] == ("table", "tbody")]
    texts = [row.text for row in rows]
    for site in DATA.sites:
        assert site.crawler is not None
        name = DATA.crawlers[site.crawler].name
        assert any(text.startswith(site.host) and name in text for text in texts), site.host


def test_anycast_and_unprobeable_sites_are_listed(page: Page) -> None:
    for flag in ("anycast", "unprobeable"):
        table = page.one("table", id=f"table-{flag}")
        assert all(site.host in table.text for site in DATA.sites if site.flag == flag)
        assert table.text.startswith(str(sum(site.flag == flag for site in DATA.sites)))


def test_heads_of_tables_are_buttons_and_scrolling_regions_can_be_reached(page: Page) -> None:
    assert len(page.all("th")) == len([tag for tag in page.all("button") if tag.above[-1] == "th"]) > 20
    assert all(tag.attributes["tabindex"] == "0" for tag in page.all("div", class_="scroll"))


def test_crawlers_and_bars_can_be_reached_by_keyboard(page: Page) -> None:
    reached = [tag.attributes["aria-label"] for tag in page.tags if tag.attributes.get("tabindex") == "0"]
    for crawler in DATA.crawlers:
        assert sum(label.startswith(crawler.name) for label in reached) == 2  # on the map and in the bars


def test_ids_are_unique(page: Page) -> None:
    ids = Counter(tag.attributes["id"] for tag in page.tags if "id" in tag.attributes)
    assert [name for name, count in ids.items() if count > 1] == []


def test_page_names_no_address_to_fetch_from(page: Page, report: Report) -> None:
    forbidden = {
        "src",
        "href",
        "srcset",
        "action",
        "data",
        "poster",
        "xlink:href",
        "background",
        "formaction",
    }
    assert [tag for tag in page.tags if forbidden & tag.attributes.keys()] == []
    assert {tag.name for tag in page.tags} & {
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
    } == set()
    assert re.findall(r"https?:|url\(|@import|fetch\(|XMLHttpRequest|import\(", report.html) == []


def test_policy_lets_only_our_own_style_and_script_run(page: Page) -> None:
    policy = page.one("meta", http_equiv="Content-Security-Policy").attributes["content"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for name, rule in (("style", "style-src"), ("script", "script-src")):
        digest = base64.b64encode(hashlib.sha256(page.one(name).text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"


def test_nothing_that_the_policy_would_refuse_is_used(page: Page) -> None:
    refused = [
        tag
        for tag in page.tags
        if "style" in tag.attributes or any(name.startswith("on") for name in tag.attributes)
    ]
    assert refused == []


def test_same_data_gives_the_same_page(report: Report) -> None:
    assert render(invented_data(300)).html == report.html


def test_smallest_report_has_what_is_known_and_no_empty_plots() -> None:
    data = ReportData(crawlers=(ReportCrawler(name="only"),), sites=(ReportSite(host="a", crawler=0),))
    page = Page(render(data).html)
    assert [plot.attributes["id"] for plot in page.all("svg")] == ["plot-load"]
    assert "nobody" not in page.one("table", id="table-sites").text


@pytest.mark.parametrize("crawlers", [(), (ReportCrawler(name="idle"),)], ids=["no crawler", "idle crawler"])
def test_report_on_nothing_is_still_a_page(crawlers: tuple[ReportCrawler, ...]) -> None:
    page = Page(render(ReportData(crawlers=crawlers, sites=())).html)
    assert page.one("h1").text
    assert [tag.text for tag in page.all("b")][:1] == ["0"]


def test_hierarchy_command_time_and_notes_are_told() -> None:
    figures = HierarchyFigures(edition="abc 2026-01-01", subnets=1234, organisations=56)
    data = replace(
        DATA, hierarchy=figures, notes=("3 problems in the input: x",), command="ipmicra report 'a b'"
    )
    header = Page(render(data).html).one("header").text
    for text in (
        "abc 2026-01-01, 1,234 subnets, 56 organisations",
        "3 problems",
        "ipmicra report 'a b'",
        DATA.when,
    ):
        assert text in header


def test_page_says_how_sites_were_chosen_when_not_all_are_listed() -> None:
    config = ReportConfig(site_rows=40, slowest_rows=10)
    table = Page(render(DATA, config).html).one("table", id="table-sites")
    assert "40 of 300" in table.text
    assert "even sample" in table.text


def test_sample_of_sites_holds_the_worst_and_is_the_same_each_time() -> None:
    config = ReportConfig(site_rows=40, slowest_rows=10)
    columns = Columns(DATA)
    assert columns.oracle_ms is not None
    lost = columns.ours_ms - columns.oracle_ms
    picked = pick_sites(columns, config)
    assert len(picked) == 40
    assert picked == sorted(set(picked)) == pick_sites(Columns(DATA), config)
    assert set((-lost).argsort(kind="stable")[:10].tolist()) <= set(picked)


def test_many_crawlers_share_a_bar_and_are_told() -> None:
    data = invented_data(400, crawlers=100)
    page = Page(render(data, ReportConfig(max_bars=10, max_legend=20)).html)
    legend = page.one("nav").text
    assert "and 80 crawlers more" in legend
    assert "90 others" in page.one("figure", id="load").text
    assert "colours and shapes repeat after 28 crawlers" in legend


def test_every_table_can_be_saved_as_csv(page: Page) -> None:
    tables = [tag.attributes["id"] for tag in page.all("table")]
    assert [tag.attributes["data-csv"] for tag in page.all("button", class_="csv")] == tables
