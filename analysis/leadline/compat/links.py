# SPDX-License-Identifier: Apache-2.0
"""Pairs beyond a limit: how many there are, and the most extreme of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leadline.model import FloatArray

MOST_LINKS = 10_000  # of each kind, as with LinkTest 1.2


@dataclass(frozen=True)
class Link:
    """One ordered pair."""

    from_rank: int
    to_rank: int
    time_s: float
    bandwidth_mib_per_s: float


_KIND = np.dtype([("from", "i8"), ("to", "i8"), ("time_s", "f8"), ("bandwidth", "f8")])


class LinksBeyond:
    """Keeps MOST_LINKS of the pairs on one side of a bandwidth; those that are farthest from it."""

    def __init__(self, limit_mib_per_s: float, is_below: bool) -> None:
        """`is_below`: pairs with less bandwidth are meant, else those with more."""
        self._limit, self._sign = limit_mib_per_s, 1 if is_below else -1
        self._kept: NDArray[np.void] = np.empty(0, _KIND)
        self.num_found = 0

    def add(self, first_row: int, time_s: FloatArray, bandwidth_mib_per_s: FloatArray) -> None:
        """Rows from `first_row` on, [some, N]; NaN = not measured."""
        is_beyond = self._sign * bandwidth_mib_per_s < self._sign * self._limit
        rows, columns = np.nonzero(is_beyond)
        found = np.empty(rows.size, _KIND)
        found["from"], found["to"] = rows + first_row, columns
        found["time_s"], found["bandwidth"] = time_s[is_beyond], bandwidth_mib_per_s[is_beyond]
        self.num_found += rows.size
        self._kept = np.concatenate([self._kept, found])
        if len(self._kept) > MOST_LINKS:
            most_extreme = np.argsort(self._sign * self._kept["bandwidth"], kind="stable")[:MOST_LINKS]
            self._kept = self._kept[np.sort(most_extreme)]

    def links(self) -> list[Link]:
        """By rows, then columns."""
        return [Link(*row) for row in self._kept.tolist()]
