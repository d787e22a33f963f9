"""Run a loopback world until its standard input ends, which it does however the parent process ends."""

from __future__ import annotations

import json
import resource
import signal
import sys
from pathlib import Path

from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.loopback.loopback_world import load_world


def main() -> None:
    """Run the world of a folder; print the URLs of its agents as one line of JSON.

    A second argument names the file that gets a line for every page served.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent process
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a socket per site and per connection
    log = Path(sys.argv[2]) if len(sys.argv) > 2 else None  # noqa: PLR2004 - program, folder, log
    with LoopbackInternet(load_world(Path(sys.argv[1])), log=log) as internet:
        urls = {crawler.name: crawler.agent_url for crawler in internet.crawlers.values()}
        sys.stdout.write(json.dumps({"port": internet.port, "token": internet.token, "urls": urls}) + "\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
