"""Runs a loopback world until its standard input ends: whoever started it went away, however that came."""

from __future__ import annotations

import json
import resource
import signal
import sys
from pathlib import Path

from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.loopback.world import load_world


def main() -> None:
    """Play the world of a folder; say in one line of JSON where its agents are."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for whoever started us
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a socket each for sites, and for visits
    with LoopbackInternet(load_world(Path(sys.argv[1]))) as internet:
        urls = {crawler.name: crawler.agent_url for crawler in internet.crawlers.values()}
        sys.stdout.write(json.dumps({"port": internet.port, "token": internet.token, "urls": urls}) + "\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
