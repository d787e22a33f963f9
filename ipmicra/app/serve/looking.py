"""What is known of a host or an address: explanations, look-ups and places, in threads beside the loop."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from ipmicra.app.describe.delegation import describe_explanation
from ipmicra.app.describe.hierarchy import describe_found
from ipmicra.app.describe.location import describe_located
from ipmicra.app.explain.explain import Explanation, explain_found
from ipmicra.app.explain.render import render
from ipmicra.app.locate.locate import LocateOptions, LocateRun
from ipmicra.app.lookup.lookup import look_up_texts
from ipmicra.app.serve.deciding import Deciding
from ipmicra.app.serve.reading import Reader
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.edge.dns.bulk import resolve_seeds
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.model.foreign_text import printable
from ipmicra.model.site import Site


class Looking:
    """Looks into the hierarchy and the store of a coordinator; changes nothing."""

    def __init__(self, deciding: Deciding, reader: Reader) -> None:
        """Use what a coordinator has open."""
        self._deciding, self._reader = deciding, reader
        self._local = threading.local()

    # --- one site

    async def explain(self, text: str) -> dict[str, Any]:
        """Describe why a site has its crawler."""
        return describe_explanation(await self._explained(text))

    async def explain_lines(self, text: str) -> list[str]:
        """Explain the same in lines for people."""
        return [printable(line) for line in render(await self._explained(text))]

    async def _explained(self, text: str) -> Explanation:
        site, rules = await self._find(text), self._deciding.options.rules
        hierarchy = self._deciding.hierarchy
        return await self._reader.read(lambda store: explain_found(store, hierarchy, site, rules))

    async def _find(self, text: str) -> Site:
        options = self._deciding.options
        async for found in resolve_seeds([text], self._deciding.store, options.dns, is_pinning=False):
            if isinstance(found, Site):
                return found
            raise RefusedError("unresolved", f"{found.text[:200]}: {found.reason}")
        raise AssertionError("one answer for each text")

    # --- the hierarchy

    async def lookup(self, targets: Sequence[str], *, one_each: bool = False) -> list[dict[str, Any]]:
        """Describe the subnets that contain each target, widest first; a name for each of its addresses.

        With `one_each` only its first address counts.
        """
        hierarchy = self._deciding.hierarchy

        def look_up() -> list[dict[str, Any]]:
            return [describe_found(hierarchy, one) for one in look_up_texts(hierarchy, targets)]

        found = await self._reader.run(look_up)
        return list({one["target"]: one for one in reversed(found)}.values())[::-1] if one_each else found

    async def locate(self, targets: Sequence[str], *, is_offline: bool = False) -> list[dict[str, Any]]:
        """Describe where each target is, with every vote."""
        hierarchy = self._deciding.hierarchy

        def locate() -> list[dict[str, Any]]:
            run = self._locator(hierarchy, is_offline=is_offline)
            return [describe_located(one) for one in run.locate_texts(targets)]

        return await self._reader.run(locate)

    def _locator(self, hierarchy: Hierarchy, *, is_offline: bool) -> LocateRun:
        """Return this thread's locator: making one reads tables, which takes longer than most questions."""
        made: dict[bool, tuple[Hierarchy, LocateRun]] = self._local.__dict__.setdefault("made", {})
        found = made.get(is_offline)
        if found is None or found[0] is not hierarchy:
            run = LocateRun(LocateOptions(is_offline=is_offline), hierarchy)
            found = made[is_offline] = hierarchy, run
        return found[1]
