"""Examples that end the help of each command."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "demo": (
        "ipmicra demo",
        "ipmicra demo --keep --sites 100 -o world.html",
    ),
    "fetch": (
        "ipmicra fetch",
        "ipmicra fetch ripe apnic --kind whois --to dumps",
    ),
    "build": (
        "ipmicra build rir_dumps/*.gz",
        "ipmicra build rir_dumps/sample/* -o sample.ipm --findings findings.jsonl",
    ),
    "info": (
        "ipmicra info",
        "ipmicra info sample.ipm --verify",
    ),
    "lookup": (
        "ipmicra lookup 193.0.6.139 example.org 2001:db8::/32",
        "ipmicra lookup addresses.txt --format csv > subnets.csv",
    ),
    "org": (
        "ipmicra org 'example carrier'",
        "ipmicra org ORG-EX1-RIPE --subnets 50 --json",
    ),
    "diff": ("ipmicra diff old.ipm new.ipm --limit 20",),
    "locate": (
        "ipmicra locate www.example.org 193.0.6.139",
        "ipmicra locate --offline --tables hosts.txt",
    ),
    "crawler add": (
        "ipmicra crawler add fra 203.0.113.7 --agent-url https://fra.example.org:8470",
        "ipmicra crawler add ath 198.51.100.9 --latitude 37.98 --longitude 23.73",
    ),
    "crawler list": ("ipmicra crawler list --all",),
    "crawler remove": ("ipmicra crawler remove fra ath", "ipmicra crawler remove fra --now"),
    "crawler drain": ("ipmicra crawler drain fra",),
    "crawler import": ("ipmicra crawler import fleet.toml",),
    "crawler measure": (
        "ipmicra crawler measure --dry-run",
        "ipmicra crawler measure fra --token-file token",
    ),
    "agent": (
        "openssl rand -hex 32 > token && ipmicra agent --token-file token",
        "ipmicra agent --listen 0.0.0.0:8470 --tls-cert c.pem --tls-key k.pem \\\n    --token-file token",
        "ipmicra agent --join-file fra.join --target-log targets.jsonl",
    ),
    "token add": (
        "ipmicra token add alice --role operator > alice.token",
        "ipmicra token add fra --role join --url https://c.example.org:8460 \\\n    --cert ca.pem > fra.join",
    ),
    "store info": ("ipmicra store info",),
    "store copy": (
        "ipmicra store copy state.db postgresql://ipmicra@db.example.org/ipmicra",
        "ipmicra store copy postgresql://me@db.example.org/ipmicra copy.db --replace",
    ),
    "store backup": ("ipmicra store backup backups/monday.db",),
    "store prune": ("ipmicra store prune --dry-run", "ipmicra store prune --sample-days 60 --json"),
    "token list": ("ipmicra token list",),
    "token revoke": ("ipmicra token revoke alice",),
    "crawl": (
        "ipmicra crawl example.org --depth 3 --max-pages 1000",
        "ipmicra crawl --crawler fra --due",
        "ipmicra crawl --status",
    ),
    "export": (
        "ipmicra export --for urlfrontier > urls.jsonl",
        "ipmicra export --for nutch -o nutch",
        "ipmicra export --for seeds --crawler fra sites.txt -o seeds.txt",
        "ipmicra export --for browsertrix --proxy fra=socks5://fra.example.org:1080 \\\n    -o proxies.yaml",
    ),
    "divert": ("ipmicra divert jobs/fra/diversions --to nyc=/mnt/nyc/jobs/crawl/action",),
    "frontier": (
        "ipmicra frontier --upstream 127.0.0.1:7071",
        "ipmicra frontier --upstream f.example.org:7071 --listen 0.0.0.0:7072",
    ),
    "serve": (
        "ipmicra serve --token-file agents.token",
        "ipmicra serve --listen 0.0.0.0:8460 --tls-cert c.pem --tls-key k.pem",
    ),
    "probe": (
        "ipmicra probe example.org",
        "ipmicra probe sites.txt --from all --token-file token --format csv",
        "ipmicra probe sites.txt --from landmarks --token-file token",
    ),
    "delegate": (
        "ipmicra delegate sites.txt --token-file token --format csv > sites.csv",
        "ipmicra delegate sites.txt --dry-run",
        "ipmicra delegate sites.txt --policy paper --again --token-file token",
    ),
    "explain": ("ipmicra explain www.example.org",),
    "forget": (
        "ipmicra forget www.example.org",
        "ipmicra forget 192.0.2.0/24 --dry-run",
        "ipmicra forget --policy hash",
    ),
    "rules": (
        "ipmicra rules",
        "ipmicra rules shop.example --rules rules.txt",
    ),
    "assign": (
        "ipmicra assign sites.txt --pages pages.csv",
        "ipmicra assign sites.txt --evenness 0.8 --dry-run",
        "ipmicra assign sites.txt --backend lbi --dry-run --json",
        "ipmicra assign sites.txt --backend can --scheme NS",
    ),
    "report": (
        "ipmicra report sites.csv --crawlers crawlers.csv -o report.html",
        "ipmicra report --world world --plots plots",
    ),
    "evaluate": (
        "ipmicra evaluate world --policy predict --policy paper",
        "ipmicra evaluate world --seeds 5 --plot policies.svg --json",
        "ipmicra evaluate world --load",
    ),
    "partition": (
        "ipmicra partition --world world --method hash --method country",
        "ipmicra partition sites.txt --locate --parts 3 -m metis-geo -o parts.csv",
        "ipmicra partition sites.txt --crawlers crawlers.csv -m chord -o parts.csv",
    ),
    "simulate crawl": ("ipmicra simulate crawl", "ipmicra simulate crawl --experiment fleet --pages 20"),
    "simulate delegation": ("ipmicra simulate delegation --policy paper --threshold 10",),
    "simulate pieces": ("ipmicra simulate pieces --links links.csv --plot figures",),
    "simulate variation": ("ipmicra simulate variation --measurements day.csv --claims",),
    "simulate splitting": ("ipmicra simulate splitting --population king --seeds 2",),
    "simulate coordinates": ("ipmicra simulate coordinates --matrix king.npz --method vivaldi",),
    "simulate churn": ("ipmicra simulate churn --scheme lbi --scheme balance --steps 2000 --seeds 1",),
    "simulate partition": ("ipmicra simulate partition --hosts 5000 --plot figures",),
}
"""By the command's name, those of a group as `group command`."""

FIRST_STEPS = """\
\b
The usual path:
  ipmicra demo                      see everything work on this machine
  ipmicra fetch                     download the registries' dumps
  ipmicra build rir_dumps/*.gz      build the hierarchy from them
  ipmicra crawler add NAME ADDRESS --agent-url URL
  ipmicra delegate sites.txt --token-file token

\b
Hierarchy and state are kept in one folder: --home DIR, else IPMICRA_HOME,
else the platform's folder for user data (Linux: ~/.local/share/ipmicra).

\b
`ipmicra COMMAND --help` explains each command, with examples. Exit codes:
0 done, 1 failed, 2 wrong usage, 3 done in part (stderr says what is missing).
"""


def examples_of(name: str) -> str | None:
    """Write the examples of a command as the end of its help."""
    lines = EXAMPLES.get(name)
    if not lines:
        return None
    return "\b\n" + "\n".join(
        ["Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)]
    )
