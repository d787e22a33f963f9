"""Crawls that are measured: real Scrapy processes on a loopback web, beside what the model says.

| file | has |
|---|---|
| `nodes.py` | the processes: one node per crawler, all starting at the same moment |
| `measured.py` | what came of it, by the servers' own record and by the nodes |
| `model.py` | what the download equation says about the same crawl |
| `running.py` | a loopback web in a subprocess, for the experiments |
| `fleet.py`, `speed_up.py` | a whole crawl by balance and by hash; one node to eight |
| `small_test.py` | section 5.1 of Xu et al. 2010, crawled for real |
| `two_nodes.py`, `coordinator_process.py` | two nodes that exchange links through a coordinator |
"""
