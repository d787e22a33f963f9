"""Subnets and owners of tables of Spark: `with_subnets`, `with_owners`, `group_by_subnet`."""

from __future__ import annotations

from ipmicra.errors import EXTRA_OF, MissingExtraError

try:
    import pyspark  # noqa: F401 - named in the error if it is missing

    from ipmicra.app.spark.frames import group_by_subnet, with_owners, with_subnets
except ModuleNotFoundError as error:
    package = (error.name or "").partition(".")[0]
    if package not in EXTRA_OF:
        raise
    raise MissingExtraError("Spark", package) from error

__all__ = ["group_by_subnet", "with_owners", "with_subnets"]
