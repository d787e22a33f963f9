"""Subnets in subnets: how sites are nested, and how that is drawn."""

from __future__ import annotations

import itertools
from collections import Counter
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import ReportCrawler, ReportData, ReportSite, ReportSubnet, SubnetNode
from ipmicra.app.report.loaders.holders import with_hierarchy
from ipmicra.app.report.nest import nested_by_prefix
from ipmicra.app.report.plots.icicle import LEFT, ROW, TOP, WIDTH, brief, draw_icicle, grown
from ipmicra.app.report.plots.scene import Rect, Text
from ipmicra.edge.hierarchy_file import Hierarchy
from tests.cli.command_line import built_file
from tests.report_world import invented_data

CRAWLERS = tuple(ReportCrawler(name=name) for name in ("ath", "nyc", "sgp"))
DUMP = """inetnum: 10.0.0.0 - 10.255.255.255
netname: WIDE
org: ORG-A1-RIPE

inetnum: 10.1.0.0 - 10.1.255.255
netname: MIDDLE

inetnum: 10.1.2.0 - 10.1.2.255
netname: NARROW
descr: Beta Hosting
country: GR

organisation: ORG-A1-RIPE
org-name: Alpha Carrier
"""


def site(address: str, crawler: int | None = 0, subnet: str | None = None) -> ReportSite:
    network = ip_network(subnet) if subnet else None
    return ReportSite(
        host=address,
        address=ip_address(address),
        crawler=crawler,
        subnet=ReportSubnet(first=network[0], last=network[-1], label=subnet) if network and subnet else None,
    )


def labels(nodes: tuple[SubnetNode, ...]) -> list[tuple[str, str | None]]:
    return [(node.label, None if node.parent is None else nodes[node.parent].label) for node in nodes]


def test_without_hierarchy_sites_are_nested_by_first_bytes_down_to_their_subnet() -> None:
    nodes = nested_by_prefix(
        [site("10.1.2.3", 0, "10.1.2.0/23"), site("10.1.9.9", 1), site("2001:db8::1", 2)]
    )
    assert labels(nodes) == [
        ("10.0.0.0/8", None),
        ("10.1.0.0/16", "10.0.0.0/8"),
        ("10.1.2.0/23", "10.1.0.0/16"),
        ("10.1.9.0/24", "10.1.0.0/16"),
        ("10.1.9.9", "10.1.9.0/24"),
        ("2001::/16", None),
        ("2001:db8::/32", "2001::/16"),
        ("2001:db8::/48", "2001:db8::/32"),
        ("2001:db8::1", "2001:db8::/48"),
    ]
    assert [node.label for node in nodes if node.is_delegated] == ["10.1.2.0/23"]


def test_hierarchy_gives_lineage_holder_country_and_subnet(tmp_path: Path) -> None:
    sites = (site("10.1.2.3", 0), site("10.9.0.1", 1), site("10.1.2.200", 2, "10.1.2.128/25"))
    with Hierarchy.open(built_file(tmp_path, DUMP)) as hierarchy:
        data = with_hierarchy(ReportData(crawlers=CRAWLERS, sites=sites), hierarchy)
    first, second, third = data.sites
    assert (first.organisation, first.country) == ("Beta Hosting", "GR")
    assert first.subnet is not None
    assert first.subnet.label == "10.1.2.0/24"
    assert (second.organisation, third.subnet) == ("Alpha Carrier", sites[2].subnet)
    assert labels(data.tree) == [
        ("10.0.0.0/8", None),
        ("10.1.0.0/16", "10.0.0.0/8"),
        ("10.1.2.0/24", "10.1.0.0/16"),
        ("10.1.2.128/25", "10.1.2.0/24"),
    ]
    assert data.hierarchy is not None
    assert data.hierarchy.organisations == 2
    assert data.hierarchy.subnets >= 3


def test_address_nobody_registered_keeps_what_the_site_says(tmp_path: Path) -> None:
    with Hierarchy.open(built_file(tmp_path, DUMP)) as hierarchy:
        data = with_hierarchy(
            ReportData(crawlers=CRAWLERS, sites=(site("99.1.2.3"), ReportSite(host="no-address", crawler=0))),
            hierarchy,
        )
    assert [one.organisation for one in data.sites] == [None, None]
    assert labels(data.tree) == [("99.1.2.3", None)]


TREES = st.lists(
    st.tuples(st.integers(-1, 8), st.dictionaries(st.integers(0, 2), st.integers(1, 5))), max_size=9
).map(
    lambda rows: tuple(
        SubnetNode(label=f"n{i}", parent=above if 0 <= above < i else None, crawlers=tuple(own.items()))
        for i, (above, own) in enumerate(rows)
    )
)


@given(TREES)
def test_subnet_has_the_sites_of_everything_below(nodes: tuple[SubnetNode, ...]) -> None:
    def counted(i: int) -> Counter[int]:
        total = Counter(dict(nodes[i].crawlers))
        for j, node in enumerate(nodes):
            if node.parent == i:
                total += counted(j)
        return total

    roots = grown(nodes)
    assert sorted(root.node.label for root in roots) == sorted(
        node.label for node in nodes if node.parent is None
    )
    for root in roots:
        assert root.crawlers == counted(nodes.index(root.node))
        assert root.sites == root.crawlers.total()


@given(TREES)
def test_boxes_of_a_level_never_overlap_and_lie_in_the_frame(nodes: tuple[SubnetNode, ...]) -> None:
    scene = draw_icicle(Columns(ReportData(crawlers=CRAWLERS, sites=(), tree=nodes)), ReportConfig())
    if scene is None:
        assert not any(node.crawlers for node in nodes)
        return
    rows: dict[float, list[Rect]] = {}
    for layer in scene.layers:
        if layer.kind.startswith("subnet") and not layer.is_hidden:
            for shape in layer.shapes:
                assert isinstance(shape, Rect)
                rows.setdefault(shape.y, []).append(shape)
    for y, rects in rows.items():
        rects.sort(key=lambda rect: rect.x)
        assert rects[0].x >= LEFT
        assert all(a.x + a.width <= b.x + 0.01 for a, b in itertools.pairwise(rects))
        assert rects[-1].x + rects[-1].width <= WIDTH
        assert (y - TOP) % ROW == 0


def test_small_subnets_are_drawn_together_and_none_is_lost() -> None:
    nodes = (
        SubnetNode(label="big", parent=None, crawlers=((0, 10_000),)),
        *(
            SubnetNode(label=f"small{i}", parent=None, is_delegated=True, crawlers=((1, 1),))
            for i in range(50)
        ),
    )
    scene = draw_icicle(Columns(ReportData(crawlers=CRAWLERS, sites=(), tree=nodes)), ReportConfig())
    assert scene is not None
    tips = [
        (layer.is_hidden, shape.tip)
        for layer in scene.layers
        for shape in layer.shapes
        if isinstance(shape, Rect) and shape.tip
    ]
    assert sum(is_hidden for is_hidden, _ in tips) == 50
    assert sorted(tip for is_hidden, tip in tips if not is_hidden) == [
        "50 small subnets\n50 sites: nyc 50\n50 delegated subnets inside",
        "big\n10,000 sites: ath 10,000",
    ]


def test_drawing_stays_bounded_however_many_subnets_there_are() -> None:
    columns = Columns(invented_data(6000))
    scene = draw_icicle(columns, ReportConfig())
    assert scene is not None
    boxes = sum(len(layer.shapes) for layer in scene.layers if layer.kind == "subnet")
    hidden = sum(len(layer.shapes) for layer in scene.layers if layer.is_hidden)
    assert 0 < hidden <= ReportConfig().icicle_boxes
    assert 100 < boxes < ReportConfig().icicle_depth * WIDTH / ReportConfig().icicle_narrowest + 500


@pytest.mark.parametrize("crawler", [None, 0])
def test_site_without_crawler_is_in_no_subnet(crawler: int | None) -> None:
    assert bool(nested_by_prefix([site("10.0.0.1", crawler)])) is (crawler is not None)


@pytest.mark.parametrize(
    ("label", "shortened"),
    [
        ("10.1.36.0/22", ".36/22"),
        ("80.0.0.0/8", "80/8"),
        ("2001:db8:40::/48", ":40/48"),
        ("10.1.9.9", "10.1.9.9"),
        ("10.0.0.1 - 10.0.0.9", "10.0.0.1 - 10.0.0.9"),
    ],
)
def test_slim_boxes_have_the_last_part_of_a_prefix(label: str, shortened: str) -> None:
    assert brief(label) == shortened


def test_boxes_below_the_first_row_have_labels() -> None:
    scene = draw_icicle(Columns(invented_data(400)), ReportConfig())
    assert scene is not None
    (texts,) = [layer for layer in scene.layers if layer.kind == "box"]
    rows = Counter(int((text.y - TOP) // ROW) for text in texts.shapes if isinstance(text, Text))
    assert len(rows) == 3
    assert min(rows.values()) >= 5


def test_every_box_has_a_span_inside_that_of_the_box_above() -> None:
    scene = draw_icicle(Columns(invented_data(1500)), ReportConfig(icicle_depth=2, icicle_boxes=300))
    assert scene is not None
    spans = {
        shape.span
        for layer in scene.layers
        for shape in layer.shapes
        if isinstance(shape, Rect) and shape.span and shape.tip and "small" not in layer.kind
    }
    for start, sites, depth in spans:
        above = [
            one
            for one in spans
            if one[2] == depth - 1 and one[0] <= start and start + sites <= one[0] + one[1]
        ]
        assert depth == 0 or len(above) == 1
