"""Errors by which a middleware speaks."""


class IgnoreRequest(Exception):  # noqa: N818 - Scrapy's own name
    """The request is not to be sent."""
