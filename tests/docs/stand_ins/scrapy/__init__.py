"""The little of Scrapy that the page on calling from a crawler uses, for machines without Scrapy."""
