"""Plots as files, and the numbers they show."""

from __future__ import annotations

import io
import struct
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from ipmicra.app.report import write
from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import Flag, ReportCrawler, ReportData, ReportSite
from ipmicra.app.report.page import render
from ipmicra.app.report.plots.axes import nice_step, short, ticks
from ipmicra.app.report.plots.crawler_load import load_bars, load_unit
from ipmicra.app.report.plots.curves import FRAME, draw_curves
from ipmicra.app.report.plots.histogram import count_probes, draw_probes
from ipmicra.app.report.plots.legend import with_key
from ipmicra.app.report.plots.map import bundles, draw_map
from ipmicra.app.report.plots.raster import to_png
from ipmicra.app.report.plots.scene import Path as Line
from ipmicra.app.report.plots.scene import Rect, Scene, Text
from ipmicra.app.report.plots.svg import to_svg
from ipmicra.errors import InputError
from tests.report_world import invented_data

DATA = invented_data(200)
CONFIG = ReportConfig()
SCENES = {scene.name: scene for scene in render(DATA).scenes}


@pytest.mark.parametrize("name", SCENES)
def test_svg_is_well_formed_and_names_itself(name: str) -> None:
    root = ElementTree.fromstring(to_svg(SCENES[name]))
    names = {"svg": "http://www.w3.org/2000/svg"}
    assert root.findtext("svg:title", namespaces=names) == SCENES[name].title
    assert root.findtext("svg:desc", namespaces=names) == SCENES[name].alt
    assert root.get("viewBox") == f"0 0 {SCENES[name].width:g} {SCENES[name].height:g}"


@pytest.mark.parametrize("name", SCENES)
def test_png_has_two_dots_for_each_pixel_and_something_on_it(name: str) -> None:
    from matplotlib.image import imread

    picture = to_png(SCENES[name])
    width, height = struct.unpack(">II", picture[16:24])
    assert picture.startswith(b"\x89PNG")
    assert (width, height) == (round(SCENES[name].width * 2), round(SCENES[name].height * 2))
    pixels = imread(io.BytesIO(picture))
    assert 0.01 < float((pixels != pixels[0, 0]).any(axis=-1).mean()) < 0.99


def test_plots_are_written_side_by_side(tmp_path: Path) -> None:
    names = write.write_plots(render(DATA), tmp_path / "new" / "folder")
    assert sorted(path.name for path in names) == sorted(
        f"{name}.{kind}" for name in SCENES for kind in ("svg", "png")
    )
    assert all(path.stat().st_size > 500 for path in names)


@pytest.mark.parametrize("name", ["map", "hilbert", "subnets"])
def test_plot_in_a_file_names_its_crawlers(name: str) -> None:
    names = [crawler.name for crawler in DATA.crawlers]
    keyed = with_key(SCENES[name], names)
    drawn = {part.crawler for part in SCENES[name].layers if part.crawler is not None}
    texts = [shape for part in keyed.layers for shape in part.shapes if isinstance(shape, Text)]
    below = {text.text for text in texts if text.y > SCENES[name].height}
    assert below == {names[number] for number in drawn}
    assert all(text.y < keyed.height for text in texts)
    assert all(text.x + 6 * len(text.text) < keyed.width for text in texts if text.text in below)


def test_plot_with_bars_or_curves_needs_no_key() -> None:
    for name in ("load", "rtt", "probes"):
        assert with_key(SCENES[name], ["x"] * 12) == SCENES[name]


def test_key_of_very_many_crawlers_is_bounded() -> None:
    data = invented_data(2000, crawlers=100)
    scene = next(scene for scene in render(data).scenes if scene.name == "map")
    keyed = with_key(scene, [crawler.name for crawler in data.crawlers])
    assert keyed.height < 2 * scene.height
    assert any(isinstance(shape, Text) and shape.text == "and 40 more" for shape in keyed.layers[-1].shapes)


def test_without_matplotlib_there_are_svg_files_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "has_png", lambda: False)
    assert {path.suffix for path in write.write_plots(render(DATA), tmp_path)} == {".svg"}


def test_png_without_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match="ipmicra\\[plot\\]"):
        to_png(SCENES["rtt"])


def test_curves_rise_from_none_to_all() -> None:
    columns = Columns(DATA)
    scene = draw_curves(columns, CONFIG)
    assert scene is not None
    drawn = [shape for layer in scene.layers if layer.kind == "curve" for shape in layer.shapes]
    assert len(drawn) == len(columns.curves) == 4
    for line in drawn:
        assert isinstance(line, Line)
        heights = [y for _, y in line.lines[0]]
        assert heights == sorted(heights, reverse=True)
        assert heights[-1] == pytest.approx(FRAME.top)


def test_tip_of_a_curve_tells_every_way() -> None:
    scene = draw_curves(Columns(DATA), CONFIG)
    assert scene is not None
    (band,) = [layer for layer in scene.layers if layer.kind == "band"]
    last = band.shapes[-1]
    assert isinstance(last, Rect)
    assert last.tip.splitlines()[1:] == [
        f"{name}: 100.0 %" for name in ("predict", "nearest", "site hash", "random")
    ]


def test_lone_round_trip_can_be_drawn() -> None:
    data = ReportData(
        crawlers=(ReportCrawler(name="a"),), sites=(ReportSite(host="h", crawler=0, rtt_ms=0.0),)
    )
    assert draw_curves(Columns(data), CONFIG) is not None


def test_probes_beyond_the_last_bar_share_it() -> None:
    names, counts = count_probes(np.array([0, 1, 1, 12, 13, 99]), 12)
    assert (names[-1], counts[-1], counts[1]) == (">12", 2, 2)
    assert counts.sum() == 6
    names, counts = count_probes(np.array([0, 2]), 12)
    assert (names, counts.tolist()) == (["0", "1", "2", "3", "4"], [1, 0, 1, 0, 0])


def test_no_histogram_without_counts() -> None:
    bare = tuple(replace(site, probes=None) for site in DATA.sites)
    assert draw_probes(Columns(replace(DATA, sites=bare)), CONFIG) is None


def test_bars_hold_all_pages_or_else_all_sites_that_have_a_crawler() -> None:
    bare = replace(DATA, sites=tuple(replace(site, pages=None) for site in DATA.sites))
    counted = replace(DATA, sites=tuple(replace(site, pages=7) for site in DATA.sites))
    for data, unit, amount in ((bare, "sites", 1), (counted, "pages", 7)):
        assert load_unit(Columns(data)) == unit
        for most in (3, 12, 40):
            amounts = [bar.amount for bar in load_bars(Columns(data), most)]
            assert sum(amounts) == amount * len(data.sites)
            assert len(amounts) == min(most + 1, 12)
            assert amounts[:most] == sorted(amounts[:most], reverse=True)


def test_sites_are_counted_where_the_pages_of_some_are_unknown() -> None:
    first, *others = DATA.sites
    data = replace(DATA, sites=(replace(first, pages=None), *(replace(site, pages=7) for site in others)))
    assert load_unit(Columns(data)) == "sites"


def test_bundles_hold_every_placed_site_once() -> None:
    found = bundles(Columns(DATA), 6.0, 10_000)
    assert sum(bundle.sites for bundle in found) == len(DATA.sites)
    assert [bundle.sites for bundle in found] == sorted((bundle.sites for bundle in found), reverse=True)
    for bundle in found:
        assert -90 <= bundle.place[0] <= 90


def test_map_needs_a_place() -> None:
    bare = ReportData(
        crawlers=(ReportCrawler(name="a"),),
        sites=tuple(replace(site, place=None, crawler=0) for site in DATA.sites),
    )
    assert draw_map(Columns(bare), CONFIG) is None


def test_map_draws_no_more_arcs_than_allowed() -> None:
    scene = draw_map(Columns(invented_data(3000)), ReportConfig(max_arcs=25, max_dots=40))
    assert scene is not None
    count = {
        kind: sum(len(layer.shapes) for layer in scene.layers if layer.kind == kind)
        for kind in ("arc", "dot")
    }
    assert count == {"arc": 25, "dot": 40}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1234, "1,234"),
        (12_345, "12.3 k"),
        (999_999, "1,000 k"),
        (2_345_678, "2.35 M"),
        (0.25, "0.25"),
    ],
)
def test_numbers_are_written_short(value: float, text: str) -> None:
    assert short(value) == text


@pytest.mark.parametrize("top", [0.0, 0.3, 1.0, 7.0, 10.0, 99.0, 1234.0])
def test_ticks_are_round_and_reach_the_top(top: float) -> None:
    found = ticks(top)
    assert found[0] == 0
    assert found[-1] >= top
    assert len(found) <= 8
    assert nice_step(top) > 0


def test_report_of_ten_thousand_sites_is_under_two_megabytes() -> None:
    assert len(render(invented_data(10_000)).html.encode()) < 2_000_000


@pytest.mark.slow
def test_report_hardly_grows_with_the_sites() -> None:
    """A report of 30,000 sites stays under the budget of 10,000."""
    assert len(render(invented_data(30_000)).html.encode()) < 2_000_000


def test_scene_of_flagged_sites_only_is_drawn() -> None:
    sites = tuple(replace(site, flag=Flag.UNPROBEABLE, rtt_ms=None) for site in DATA.sites)
    scenes: tuple[Scene, ...] = render(replace(DATA, sites=sites, true_rtt_ms=None)).scenes
    assert {scene.name for scene in scenes} == {"map", "hilbert", "probes", "load", "subnets"}
