"""The report in a real browser: nothing is asked of the network, and hovering, clicking and typing work."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

from ipmicra.app.report.data import HistoryStep, ReportSite
from ipmicra.app.report.write import write_report
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser, running_browser
from tests.patience import wait_until
from tests.report_attacks import ATTACKS, poisoned
from tests.report_world import invented_data

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=MISSING)

HISTORY = tuple(
    HistoryStep(
        start_s=i * 86400.0, length_s=86400.0, delegations=90 - i, probes=3 * i, mean_rtt_ms=20.0, moves=i % 4
    )
    for i in range(40)
)
DATA = replace(invented_data(400), history=HISTORY)
ESCAPE = "\ue00c"
ENTER = "\ue007"
ROWS = "[...document.querySelectorAll('#table-sites tbody tr')]"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with running_browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(DATA, path)
    return path


@pytest.fixture
def page(browser: Browser, file: Path) -> Browser:
    browser.open(file)
    return browser


def test_page_opens_without_complaint_and_without_a_request(page: Browser) -> None:
    assert page.complaints() == []
    assert page.run("return performance.getEntriesByType('resource').length") == 0
    assert page.run("return document.querySelectorAll('svg').length") == 8


def test_pointing_at_a_crawler_shows_its_tip_and_leaving_hides_it(page: Browser) -> None:
    assert page.run("return document.getElementById('tip').hidden")
    page.point_at("#plot-map .crawler.k3 path")
    assert page.run("return document.getElementById('tip').textContent").startswith("new-york (New York, US)")
    assert not page.run("return document.getElementById('tip').hidden")
    page.point_at("h1")
    assert page.run("return document.getElementById('tip').hidden")


def test_pointing_at_a_square_names_prefix_crawler_and_holder(page: Browser) -> None:
    page.point_at("#plot-hilbert .cell rect")
    lines = page.run("return document.getElementById('tip').textContent").splitlines()
    assert re.fullmatch(r"[\d.]+/\d+", lines[0])
    assert "site" in lines[1]
    assert lines[2].startswith("Invented Networks")


def test_tip_stays_inside_the_window(page: Browser) -> None:
    for selector in (
        "#plot-map .crawler.k11 path",
        "#plot-load .bar rect",
        "#plot-rtt .band rect:last-child",
    ):
        page.point_at(selector)
        box = page.run(
            "const b = document.getElementById('tip').getBoundingClientRect();"
            "return [b.left, b.right, b.top, b.bottom]"
        )
        assert box[0] >= 0
        assert box[1] <= 1280
        assert box[2] >= 0
        assert box[3] <= 900


def test_legend_picks_out_one_crawler_and_gives_the_others_back(page: Browser) -> None:
    page.click('.legend [data-c="1"]')
    sites = [site for site in DATA.sites if site.crawler == 1]
    shown = f"return {ROWS}.filter(row => row.offsetParent).length"
    assert page.run(shown) == len(sites)
    opacity = "return getComputedStyle(document.querySelector('#plot-map .crawler.k{}')).fillOpacity"
    assert page.run(opacity.format(1)) == "1"
    assert float(page.run(opacity.format(2))) < 0.2
    assert (
        page.run("return document.querySelector('.legend [data-c=\"1\"]').getAttribute('aria-pressed')")
        == "true"
    )
    page.press(ESCAPE)
    assert page.run(shown) == len(DATA.sites)
    assert page.run(opacity.format(2)) == "1"


def test_clicking_a_crawler_or_its_bar_picks_it_out(page: Browser) -> None:
    only = "return document.documentElement.dataset.only ?? null"
    page.click("#plot-load .bar.k2 rect")
    assert page.run(only) == "2"
    page.click("#plot-load .bar.k2 rect")
    assert page.run(only) is None
    page.run("document.querySelector('#plot-map .crawler.k4 path').focus()")
    page.press(ENTER)
    assert page.run(only) == "4"


def test_tables_sort_numbers_as_numbers_and_back(page: Browser) -> None:
    rows = ROWS.replace("sites", "crawlers")
    column = f"return {rows}.map(row => Number(row.cells[3].dataset.v))"
    head = "#table-crawlers th:nth-child(4) button"
    page.click(head)
    falling = page.run(column)
    assert falling == sorted(falling, reverse=True)
    page.click(head)
    assert page.run(column) == sorted(falling)
    assert (
        page.run("return document.querySelector('#table-crawlers th:nth-child(4)').ariaSort") == "ascending"
    )


def test_typing_finds_sites(page: Browser) -> None:
    page.type("input[data-for=table-sites]", "site39.")
    shown = f"return {ROWS}.filter(row => !row.hidden).map(row => row.cells[0].textContent)"
    assert page.run(shown) == ["www.site39.example"]


CAPTION = "return document.querySelector('#table-sites caption').innerText.trim()"


def test_caption_counts_what_the_filters_leave(page: Browser) -> None:
    assert page.run(CAPTION) == "All 400"
    page.type("input[data-for=table-sites]", "site39")
    assert page.run(CAPTION) == "11 of 400 rows"
    page.click('.legend [data-c="1"]')
    left = page.run(f"return {ROWS}.filter(row => row.offsetParent).length")
    assert page.run(CAPTION) == f"{left} of 400 rows"


@pytest.mark.parametrize(
    ("text", "is_wanted"),
    [
        ("77.0.0.0/8", lambda site: str(site.address).startswith("77.")),
        ("77.0.0.0 - 77.255.255.255", lambda site: str(site.address).startswith("77.")),
        ("probes=3 country=br", lambda site: site.probes == 3 and site.country == "BR"),
        ("probes>=4", lambda site: site.probes >= 4),
        ("::/0", lambda site: False),
    ],
)
def test_search_understands_prefixes_and_comparisons(
    page: Browser, text: str, is_wanted: Callable[[ReportSite], bool]
) -> None:
    page.type("input[data-for=table-sites]", text)
    shown = f"return {ROWS}.filter(row => !row.hidden).map(row => row.cells[0].textContent)"
    assert page.run(shown) == [site.host for site in DATA.sites if is_wanted(site)]


def test_filters_are_in_the_address_and_a_link_brings_them_back(browser: Browser, file: Path) -> None:
    browser.open(file)
    browser.click('.legend [data-c="1"]')
    browser.type("input[data-for=table-sites]", "probes=1")
    browser.click("#table-crawlers th:nth-child(4) button")
    kept = f"{CAPTION} + ' ' + document.documentElement.dataset.only"
    before, link = browser.run(kept), browser.run("return location.href")
    assert "crawler=frankfurt" in link
    browser.open(file)
    assert browser.run(kept) == "All 400 undefined"
    browser.run(f"location.href = {link!r}")
    wait_until(lambda: browser.run(kept) == before, "the filters are back")
    assert (
        browser.run("return document.querySelector('#table-crawlers th:nth-child(4)').ariaSort")
        == "descending"
    )


def test_square_of_the_address_map_leads_to_its_sites(page: Browser) -> None:
    page.click("#plot-hilbert .cell rect")
    prefix = page.run("return document.querySelector('#plot-hilbert .cell rect').dataset.q")
    shown = page.run(f"return {ROWS}.filter(row => !row.hidden).map(row => row.cells[1].textContent)")
    assert shown
    assert all(ip_address(text) in ip_network(prefix) for text in shown)
    assert page.run("return document.activeElement.value") == prefix


def test_click_on_a_subnet_drills_down_and_the_crumbs_lead_back(page: Browser) -> None:
    count = (
        "return [...document.querySelectorAll('#plot-subnets .subnet rect')]"
        ".filter(rect => rect.getClientRects().length).length"
    )
    widest = "#plot-subnets .subnet rect[data-b^='0,'][data-b$=',0']"
    before = page.run(count)
    page.click(widest)
    assert page.run("return location.hash").startswith("#subnet=77.0.0.0")
    width = page.run("return document.getElementById('plot-subnets').getBoundingClientRect().width")
    assert page.run(f"return document.querySelector({widest!r}).getBoundingClientRect().width") > 0.98 * width
    labels = page.run(
        "return [...document.querySelectorAll('#plot-subnets .box text')].map(t => t.textContent)"
    )
    assert "77.187.0.0/16" in labels
    assert len(labels) >= 10
    page.click(".crumbs button:last-child")
    shown = page.run(f"return {ROWS}.filter(row => !row.hidden).length")
    assert shown == sum(str(site.address).startswith("77.") for site in DATA.sites)
    page.click(".crumbs button")
    assert page.run(count) == before
    assert "subnet" not in page.run("return location.hash")


def test_table_is_saved_as_csv_with_what_is_shown(browser: Browser, file: Path, tmp_path: Path) -> None:
    browser.save_to(tmp_path)
    browser.open(file)
    browser.type("input[data-for=table-sites]", "site39.")
    browser.click("[data-csv=table-sites]")
    saved = tmp_path / "ipmicra-sites.csv"
    wait_until(saved.exists, "the file is saved")
    with saved.open(newline="", encoding="utf-8") as lines:
        (row,) = csv.DictReader(lines)
    site = DATA.sites[39]
    assert (row["host"], row["address"], row["probes"]) == (site.host, str(site.address), str(site.probes))


@pytest.mark.parametrize("width", [1400, 800, 380])
def test_labels_of_a_plot_do_not_overlap(browser: Browser, file: Path, width: int) -> None:
    browser.open(file, width=width)
    overlaps = browser.run(
        "const found = [];"
        "const groups = ['map .name', 'hilbert .block', 'subnets .box', 'history', 'rtt', 'probes', 'load',"
        "  'trade'];"
        "for (const group of groups.map(g => `#plot-${g} text`)) {"
        "  const boxes = [...document.querySelectorAll(group)].filter(t => t.getClientRects().length)"
        "    .map(t => [t.textContent, t.getBoundingClientRect()]);"
        "  for (const [i, [a, p]] of boxes.entries()) for (const [b, q] of boxes.slice(i + 1)) {"
        "    if (p.left < q.right - 1 && q.left < p.right - 1"
        "      && p.top < q.bottom - 3 && q.top < p.bottom - 3)"
        "      found.push(`${a} | ${b}`);"
        "  }"
        "} return found"
    )
    assert overlaps == []


def test_paper_shows_light_whole_tables_without_controls(browser: Browser, file: Path) -> None:
    browser.open(file, is_dark=True)
    try:
        browser.print_out()
        seen = "return ['.legend', '.tools', '.csv'].filter(s => document.querySelector(s).offsetHeight)"
        assert browser.run(seen) == []
        assert browser.run("return getComputedStyle(document.body).backgroundColor") == "rgb(245, 246, 248)"
        cut = "[...document.querySelectorAll('.scroll')].filter(s => s.scrollHeight > s.clientHeight + 1)"
        assert browser.run(f"return {cut}.length") == 0
    finally:
        browser.print_out(is_over=True)


def test_cells_on_a_phone_are_whole_and_name_their_column(browser: Browser, file: Path) -> None:
    browser.open(file, width=380)
    cut = browser.run(
        "return [...document.querySelectorAll('#table-sites td, #table-crawlers td')]"
        ".filter(cell => cell.scrollWidth > cell.clientWidth + 1).length"
    )
    assert cut == 0
    named = (
        "return getComputedStyle(document.querySelector('#table-sites td:nth-child(2)'), '::before').content"
    )
    assert browser.run(named) in {"attr(data-h)", '"address"'}
    assert browser.run("return document.querySelector('#table-sites td:nth-child(2)').dataset.h") == "address"


def test_map_zooms_round_the_chosen_crawler_and_back(page: Browser) -> None:
    view = "return document.getElementById('plot-map').getAttribute('viewBox').split(' ').map(Number)"
    whole = page.run(view)
    page.click('.legend [data-c="9"]')
    page.click("[data-zoom=in]")
    page.click("[data-zoom=in]")
    x, y, width, height = page.run(view)
    cx, cy = page.run(
        "const b = document.querySelector('#plot-map .crawler.k9 path').getBBox();"
        "return [b.x + b.width / 2, b.y + b.height / 2]"
    )
    assert width < whole[2] / 2
    assert x < cx < x + width
    assert y < cy < y + height
    page.click("[data-zoom=all]")
    assert page.run(view) == whole


@pytest.mark.parametrize("width", [1400, 800, 380])
def test_nothing_sticks_out_of_the_window(browser: Browser, file: Path, width: int) -> None:
    browser.open(file, width=width)
    assert (
        browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    )
    smallest = browser.run(
        "return Math.min(...[...document.querySelectorAll('#plot-rtt text, #plot-load text')]"
        ".map(text => text.getBoundingClientRect().height))"
    )
    assert smallest > 9


def test_colours_follow_the_surroundings(browser: Browser, file: Path) -> None:
    grounds = []
    for is_dark in (False, True):
        browser.open(file, is_dark=is_dark)
        grounds.append(browser.run("return getComputedStyle(document.body).backgroundColor"))
    assert grounds == ["rgb(245, 246, 248)", "rgb(15, 20, 26)"]


def test_no_attack_runs_in_the_page(browser: Browser, tmp_path: Path) -> None:
    """All attacks at once; an alert would stop the driver, a blocked script would show in the console."""
    text = " ".join(ATTACKS[name] for name in ATTACKS if name != "very long name")
    path = tmp_path / "attack.html"
    write_report(poisoned(text), path)
    browser.open(path)
    assert browser.complaints() == []
    assert browser.run("return document.querySelectorAll('script').length") == 1
    assert browser.run("return document.querySelectorAll('img, iframe, base, foreignObject').length") == 0
    assert "alert(1)" in browser.run("return document.querySelector('h1').textContent")
    browser.point_at("#plot-map .crawler.k0 path")
    assert browser.run("return document.getElementById('tip').children.length") == 0


def test_policy_stops_a_script_that_was_put_in_later(browser: Browser, tmp_path: Path) -> None:
    """The second line of defence: were escaping to fail, the policy would still refuse the script."""
    path = tmp_path / "tampered.html"
    write_report(replace(DATA, sites=DATA.sites[:20], true_rtt_ms=None), path)
    html = path.read_text(encoding="utf-8")
    path.write_text(html.replace("</main>", "<script>window.hacked = 1</script></main>"), encoding="utf-8")
    browser.open(path)
    assert browser.run("return window.hacked ?? null") is None
    assert any("Content Security Policy" in message for message in browser.complaints())
