"""The parts of a Scrapy process that make it a node: scheduler, downloader fence, extension."""
