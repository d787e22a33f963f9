"""Crawlers that come and go, sites that are crawled again and again: section 5.3 of Xu et al. 2010."""
