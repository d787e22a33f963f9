"""Texts that attack a page, and reports with such a text wherever one from outside can appear."""

from __future__ import annotations

from dataclasses import replace

from ipmicra.app.report.data import (
    Flag,
    HierarchyFigures,
    ReportCrawler,
    ReportData,
    ReportSubnet,
    SubnetNode,
)
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
    """Make a report with the text wherever a text from outside can appear."""
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
