"""Crawls that are measured: real Scrapy processes on a loopback web, beside what the model says.

| file | has |
|---|---|
| `nodes.py` | the processes: one node per crawler, all starting at the same moment |
| `measured.py` | what came of it, by the servers' own record and by the nodes |
| `model.py` | what the download equation says about the same crawl |
"""
