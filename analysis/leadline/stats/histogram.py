# SPDX-License-Identifier: Apache-2.0
"""Counts of groups of values over the same bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leadline.model import FloatArray, IntArray
from leadline.stats.tally import Tally


@dataclass(frozen=True)
class Histogram:
    """Counts of several groups over the same bins; edges has one more entry than each row of counts."""

    edges: FloatArray
    counts: dict[str, IntArray]
    logarithmic: bool


def histogram(groups: dict[str, Tally], num_bins: int = 60) -> Histogram:
    """All groups over equal bins from the smallest to the largest value of all, which are logarithmic where these
    differ tenfold or more.
    """
    there = [tally.distribution() for tally in groups.values() if tally.num_values]
    low, high = (min(one.min for one in there), max(one.max for one in there)) if there else (1.0, 2.0)
    if low == high:
        low, high = low * 0.95, high * 1.05
    logarithmic = high / low >= 10
    edges = np.geomspace(low, high, num_bins + 1) if logarithmic else np.linspace(low, high, num_bins + 1)
    edges[0], edges[-1] = low, high
    return Histogram(edges, {name: tally.counts(edges) for name, tally in groups.items()}, logarithmic)
