"""Crawling: which sites a node may fetch, and what is done with links to other sites."""
