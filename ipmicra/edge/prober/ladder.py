"""Measure a round trip: try one way after another until one answers.

Theory of operation
-------------------
The ladder has four rungs: TCP (a handshake), HEAD, GET (the first byte of an answer) and ICMP (an echo). A
probe starts at the rung that its order names and climbs as long as there is no answer; the first rung with a
round trip is the answer, and its smallest round trip is the sample. On each rung up to `samples` round
trips are taken, and a rung is given up after `patience` failures.

Some losses make further rungs pointless. Where the handshake times out, an HTTP request would wait for the
same handshake; `_DEADLY` lists, per rung, the losses after which only ICMP is left.

A refused connection is a round trip too: some machine at that distance sent it. Not always the site's,
though: firewalls refuse in its name. So refusals are compared with one echo, and if that takes much longer,
the echo counts instead (`_without_middlebox`).

The address of an order is pinned once, before the first rung, and every connection goes to that literal
address: a name that resolves differently a moment later (DNS rebinding) changes nothing. The dialler checks
the policy again at each connection.

An answer is always returned; failures are answers with a loss and a reason. Errors of this machine (no free
sockets) are `Loss.AGENT`, never the site's.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

from ipmicra.edge.prober.exchange import Exchange, ProberConfig, RefusedConnectError, failed
from ipmicra.edge.prober.http import HttpVisit
from ipmicra.edge.prober.icmp import take_icmp
from ipmicra.edge.prober.sockets import Dialler, handshake_ms
from ipmicra.errors import InputError
from ipmicra.model.address import Address
from ipmicra.model.sample import Loss, Rung, Timings
from ipmicra.wire.limits import LIMITS
from ipmicra.wire.messages import Answer, ProbeOrder

Resolve = Callable[[str], Awaitable[list[Address]]]
USUAL_PORTS = {"https": (443,), "http": (80,), None: (443, 80)}
"""Ports that are tried, by scheme; a seed without one may speak either."""
RUNGS = (Rung.TCP, Rung.HEAD, Rung.GET, Rung.ICMP)
_SILENT, _DEAF = frozenset({Loss.TIMEOUT, Loss.UNREACHABLE}), frozenset({Loss.UNREACHABLE, Loss.TLS})
_DEADLY = {Rung.TCP: _SILENT, Rung.HEAD: _DEAF, Rung.GET: _DEAF, Rung.ICMP: frozenset[Loss]()}
"""Losses on a rung after which HTTP is pointless: it would find no server, or the same failing TLS."""


class Prober:
    """Carries out orders: one answer each, whatever happens."""

    def __init__(
        self,
        config: ProberConfig | None = None,
        dialler: Dialler | None = None,
        resolve: Resolve | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Measure through a dialler; hosts without an address are asked of `resolve`."""
        self._config = config or ProberConfig()
        self._dialler = dialler or Dialler()
        self._resolve = resolve
        self._clock = clock
        self._numbers = itertools.count(1)

    async def probe(self, order: ProbeOrder) -> Answer:
        """Measure; failures are answers with a reason."""
        taken_s = self._clock()
        address, dns_ms, trouble = await self.pinned(order)
        if address is None or trouble is not None:
            failure = trouble or Exchange(loss=Loss.UNREACHABLE, detail="no address")
            return _lost(order, address, [failure], taken_s)
        failures: list[Exchange] = []
        is_dead = False
        for rung in RUNGS[RUNGS.index(order.first_rung) :]:
            if is_dead and rung is not Rung.ICMP:
                continue
            used, exchanges = await self._climbed(order, address, rung)
            answered = [one for one in exchanges if one.ms is not None]
            if answered:
                found = _found(order, address, used, answered, dns_ms, taken_s)
                return await self._downloaded(order, address, found) if order.download else found
            failures += [one._replace(detail=f"{used.value}: {one.detail}") for one in exchanges[-1:]]
            is_dead = all(one.loss in _DEADLY[rung] for one in exchanges)
        return _lost(order, address, failures, taken_s)

    async def pinned(self, order: ProbeOrder) -> tuple[Address | None, float | None, Exchange | None]:
        """Return the address of an order, the time to resolve it, and what forbids or prevents the probe."""
        address, dns_ms = order.address, None
        if address is None:
            if self._resolve is None or order.host is None:
                return None, None, Exchange(loss=Loss.REFUSED_ORDER, detail="names are not resolved here")
            start = time.perf_counter()
            try:
                address = (await self._resolve(order.host))[0]
            except InputError as error:
                return None, None, Exchange(loss=Loss.UNREACHABLE, detail=f"{order.host}: {error}")
            dns_ms = (time.perf_counter() - start) * 1e3
        try:
            why = self._dialler.permit(self._dialler.dialled(address), order.port)
        except RefusedConnectError as error:
            why = str(error)
        return address, dns_ms, None if why is None else Exchange(loss=Loss.REFUSED_ORDER, detail=why)

    async def _climbed(self, order: ProbeOrder, address: Address, rung: Rung) -> tuple[Rung, list[Exchange]]:
        """Try a rung; return the one that was used in the end, and its exchanges."""
        if rung is Rung.TCP:
            return await self._without_middlebox(order, address, await self._tcp(order, address))
        if rung is Rung.ICMP:
            return rung, await self._repeated(order, lambda s: self._icmp(address, s))
        return rung, await self._http(order, address, rung)

    async def _tcp(self, order: ProbeOrder, address: Address) -> list[Exchange]:
        """Try port after port: a handshake is better than a refusal, a refusal better than nothing."""
        refused: list[Exchange] = []
        exchanges: list[Exchange] = []
        for port in ports_of(order):
            exchanges = await self._repeated(
                order,
                lambda s, port=port: take_tcp(self._dialler, address, port, s),  # type: ignore[misc]
            )
            if any(one.ms is not None and not one.is_refusal for one in exchanges):
                return [one for one in exchanges if not one.is_refusal]
            refused = refused or [one for one in exchanges if one.is_refusal]
        return refused or exchanges

    async def _without_middlebox(
        self, order: ProbeOrder, address: Address, exchanges: list[Exchange]
    ) -> tuple[Rung, list[Exchange]]:
        """Compare refusals with an echo: one that is much faster was sent by a middlebox."""
        refusals = [one.ms for one in exchanges if one.is_refusal and one.ms is not None]
        if not refusals:
            return Rung.TCP, exchanges
        echo = await self._icmp(address, order.timeout_ms / 1e3)
        limit_ms = min(refusals) * self._config.middlebox_factor + self._config.middlebox_slack_ms
        if echo.ms is None or echo.ms <= limit_ms:
            return Rung.TCP, exchanges
        detail = f"refused by a middlebox after {min(refusals):.1f} ms; the echo counts"
        return Rung.ICMP, [echo._replace(detail=detail)]

    async def _http(self, order: ProbeOrder, address: Address, rung: Rung) -> list[Exchange]:
        exchanges: list[Exchange] = []
        for port in ports_of(order):
            visit = self._visit(order, address, port, rung)
            try:
                exchanges = await self._repeated(order, visit.take)
            finally:
                visit.close()
            if any(one.ms is not None for one in exchanges):
                break
        return exchanges

    async def _downloaded(self, order: ProbeOrder, address: Address, answer: Answer) -> Answer:
        """Download the main page once and time it; a page that cannot be had leaves the answer as it is."""
        for port in ports_of(order):
            visit = self._visit(order, address, port, Rung.GET, is_page=True)
            download_ms = await visit.download(order.timeout_ms / 1e3)
            if download_ms is not None:
                timings = replace(answer.timings or Timings(), download_ms=download_ms)
                return replace(answer, timings=timings)
        return answer

    def _visit(
        self, order: ProbeOrder, address: Address, port: int, method: Rung, *, is_page: bool = False
    ) -> HttpVisit:
        is_tls = order.scheme == "https" or (order.scheme is None and port == USUAL_PORTS["https"][0])
        return HttpVisit(
            dialler=self._dialler,
            config=self._config,
            address=address,
            port=port,
            host=order.host,
            is_tls=is_tls,
            method=method,
            is_page=is_page,
        )

    async def _icmp(self, address: Address, timeout_s: float) -> Exchange:
        return await take_icmp(self._dialler, address, next(self._numbers), timeout_s)

    async def _repeated(
        self, order: ProbeOrder, take: Callable[[float], Awaitable[Exchange]]
    ) -> list[Exchange]:
        """Take as many round trips as were ordered; give up after a few failures."""
        exchanges: list[Exchange] = []
        failures = 0
        while len(exchanges) < order.samples + failures and failures < self._config.patience:
            exchanges.append(await take(order.timeout_ms / 1e3))
            if exchanges[-1].ms is None:
                failures += 1
            if exchanges[-1].loss is Loss.REFUSED_ORDER:
                break
        return exchanges


async def take_tcp(dialler: Dialler, address: Address, port: int, timeout_s: float) -> Exchange:
    """Time one handshake; a refused one is a round trip too."""
    start = time.perf_counter()
    try:
        timed, elapsed_ms = await dialler.connect(address, port, start + timeout_s)
    except ConnectionRefusedError:
        refused_ms = (time.perf_counter() - start) * 1e3
        return Exchange(ms=refused_ms, is_refusal=True, detail=f"port {port} refused")
    except (OSError, RefusedConnectError) as error:
        return failed(error)
    rtt_ms = handshake_ms(timed.socket, elapsed_ms)
    timed.close()
    if rtt_ms is None:
        return Exchange(loss=Loss.TIMEOUT, detail="the handshake was sent twice, so its time proves nothing")
    return Exchange(ms=rtt_ms, timings=Timings(tcp_ms=rtt_ms))


def ports_of(order: ProbeOrder) -> tuple[int, ...]:
    """Return the ports that an order may try."""
    return (order.port,) if order.port is not None else USUAL_PORTS[order.scheme]


def _found(
    order: ProbeOrder,
    address: Address,
    rung: Rung,
    exchanges: list[Exchange],
    dns_ms: float | None,
    taken_s: float,
) -> Answer:
    best = min(exchanges, key=lambda one: one.ms or 0.0)
    timings = best.timings or Timings()
    if dns_ms is not None:
        timings = replace(timings, dns_ms=dns_ms)
    return Answer(
        order=order.id,
        address=address,
        rtt_ms=best.ms,
        rung=rung,
        all_ms=tuple(one.ms for one in exchanges if one.ms is not None),
        timings=timings,
        detail=best.detail[: LIMITS.max_detail],
        taken_s=taken_s,
    )


def _lost(order: ProbeOrder, address: Address | None, failures: list[Exchange], taken_s: float) -> Answer:
    """Answer without a round trip; the first rung's loss counts, the reasons of all are listed."""
    loss = next((one.loss for one in failures if one.loss is not None), Loss.TIMEOUT)
    detail = "; ".join(dict.fromkeys(one.detail for one in failures))
    return Answer(
        order=order.id, address=address, loss=loss, detail=detail[: LIMITS.max_detail], taken_s=taken_s
    )
