"""Network namespaces for a campaign: one for each process, joined by a router that can drop what it likes.

Theory of operation
-------------------
The campaign runs itself again in a network namespace of its own (`unshare`), which is the router: nothing of
the machine's own network is touched, and all of it is gone with its last process. Each process of the fleet
gets a namespace with one veth to the router and an address 10.77.N.2.

Partitions are rules of the router's policy routing (`ip rule … blackhole`): packets from one address to
another vanish without a word, which no proxy can imitate; in one direction or in both. So iproute2 is all
that is needed, and neither nftables nor `netem`. Sites are addresses of the router itself: probes always
pass.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tests.cli.command_line import ROOT

FIRST_RULE = 100
SITES = "10.80.0.0/12"
"""Where sites are; the router answers for all of these addresses."""


def why_not() -> str | None:
    """Return why there can be no namespaces here; None if there can."""
    if os.getuid() != 0:
        return "it needs root"
    missing = [name for name in ("ip", "unshare", "mount") if shutil.which(name) is None]
    if missing:
        return f"it needs {', '.join(missing)} (iproute2, util-linux)"
    tried = subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True, check=False)
    return tried.stderr.decode().strip() if tried.returncode else None


def run_inside(*words: str) -> int:
    """Run this campaign's module again, with names of namespaces of its own; return the exit code."""
    own = f"exec {sys.executable} -m {shlex.join(words)}"
    command = f"mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns && {own}"
    inside = ["unshare", "--net", "--mount", "sh", "-c", command]
    return subprocess.run(inside, cwd=ROOT, check=False).returncode


def ip(*words: str) -> None:
    """Run iproute2."""
    subprocess.run(["ip", *words], check=True)


def _join(name: str, number: int) -> None:
    """Make a namespace, and join it to this one."""
    near, far = f"v{number}", f"w{number}"
    ip("netns", "add", name)
    ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", name)
    ip("address", "add", f"10.77.{number}.1/30", "dev", near)
    ip("link", "set", near, "up")
    within = ("-n", name)
    ip(*within, "link", "set", "lo", "up")
    ip(*within, "address", "add", f"10.77.{number}.2/30", "dev", far)
    ip(*within, "link", "set", far, "up")
    ip(*within, "route", "add", "default", "via", f"10.77.{number}.1")


@dataclass
class Router:
    """The namespace that all others are joined to; use it inside `run_inside`, as a context."""

    names: Sequence[str]
    """Of the other namespaces."""
    _rules: dict[tuple[str, str], int] = field(default_factory=dict)

    def __enter__(self) -> Self:
        ip("link", "set", "lo", "up")
        ip("route", "replace", "local", SITES, "dev", "lo")
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        for number, name in enumerate(self.names, 1):
            _join(name, number)
        return self

    def __exit__(self, *_: object) -> None:
        """Remove all of it, so that another router may take the same names."""
        for source, target in list(self._rules):
            self.restore(source, target)
        for number, name in enumerate(self.names, 1):
            ip("link", "delete", f"v{number}")  # the kernel would do so some time after the namespace
            ip("netns", "delete", name)

    def address(self, name: str) -> str:
        return f"10.77.{self.names.index(name) + 1}.2"

    def gateway(self, name: str) -> str:
        """Return the router's own address as a namespace sees it."""
        return f"10.77.{self.names.index(name) + 1}.1"

    def prefix(self, name: str) -> list[str]:
        """Return the words that run a command in a namespace."""
        return ["ip", "netns", "exec", name]

    def drop(self, source: str, target: str) -> None:
        """Drop what one sends to another from now on."""
        if (source, target) not in self._rules:
            number = FIRST_RULE + len(self.names) * self.names.index(source) + self.names.index(target)
            self._rules[source, target] = number
            ip("rule", "add", *self._rule(source, target))

    def restore(self, source: str, target: str) -> None:
        """Pass it on again."""
        if (source, target) in self._rules:
            ip("rule", "del", *self._rule(source, target))
            del self._rules[source, target]

    def _rule(self, source: str, target: str) -> list[str]:
        number = FIRST_RULE + len(self.names) * self.names.index(source) + self.names.index(target)
        places = ("from", self.address(source), "to", self.address(target))
        return [*places, "blackhole", "priority", str(number)]
