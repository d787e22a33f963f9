"""Types of columns: what an array holds, named once.

Address columns are not here: an `Address` is a noun of its own (`ipmicra.model.address`), and importing it
must not load numpy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Quantities: round trips, distances, coordinates, loads."""

Rows = NDArray[np.int64]
"""Row numbers that point into another table: crawlers, sites, subnets, pieces."""

NOBODY = -1
"""In a column of crawlers: no crawler."""
