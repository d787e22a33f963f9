"""The levels' model written out: one big Gaussian over all nodes, conditioned by solving linear equations."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ipmicra.model.types import Floats


@dataclass
class SlowForest:
    """A single tree. A leaf's value is the sum of its nodes' own numbers, each with a known variance."""

    variances: dict[str, float] = field(default_factory=dict)
    seen: list[tuple[tuple[str, ...], float, float]] = field(default_factory=list)
    """Nodes of a leaf, what was seen there, and the noise's variance."""

    def expect(self, leaf: tuple[str, ...]) -> tuple[float, float]:
        """Return mean and variance of a leaf's value by the textbook's formula."""
        names = sorted(self.variances)
        prior = np.diag([self.variances[name] for name in names])
        wanted = self._sums(names, leaf)
        if not self.seen:
            return 0.0, float(wanted @ prior @ wanted)
        rows = np.array([self._sums(names, nodes) for nodes, _value, _noise in self.seen])
        noise = np.diag([noise for _nodes, _value, noise in self.seen])
        values = np.array([value for _nodes, value, _noise in self.seen])
        gain = wanted @ prior @ rows.T @ np.linalg.inv(rows @ prior @ rows.T + noise)
        return float(gain @ values), float(wanted @ prior @ wanted - gain @ rows @ prior @ wanted)

    @staticmethod
    def _sums(names: list[str], nodes: tuple[str, ...]) -> Floats:
        return np.array([float(name in nodes) for name in names])
