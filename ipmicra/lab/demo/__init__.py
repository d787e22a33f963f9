"""The demonstration: the whole path of delegating on one machine, with real agents, sites and probes.

| file | has |
|---|---|
| `config.py` | every number of it |
| `dumps.py` | the dumps it starts from |
| `invent.py` | the world that is played: crawlers, sites in the hierarchy's subnets, round trips |
| `run.py` | the steps, one after another |
| `crawl.py` | the sites really downloaded, in three ways |
| `compare.py` | what the delegation is worth beside other ways of assigning the same sites |
"""
