"""What a crawl node keeps on disk and puts into Scrapy.

| file | has |
|---|---|
| `frontier.py` | the URLs of a crawl and the pages of earlier ones, in SQLite |
| `outputs.py`, `warc.py`, `tables.py` | files that grow; after a kill they are cut to what was committed |
| `scheduler.py` | Scrapy's scheduler on the frontier |
| `middlewares.py` | address blocks as download slots, conditional requests, what is recorded of a response |
| `parts.py`, `names.py` | what these share; hosts and their address blocks |
| `status.py` | what a node says about itself |
"""
