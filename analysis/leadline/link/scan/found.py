# SPDX-License-Identifier: Apache-2.0
"""What one pass over the medians of a slice finds."""

from __future__ import annotations

from dataclasses import dataclass

from leadline.link.result import PairClass
from leadline.model import FloatArray, IntArray, Slice
from leadline.scan.picture import Picture
from leadline.scan.standout import Cell
from leadline.stats.tally import Tally

MOST_MISSING = 1000


@dataclass(frozen=True)
class Scan:
    """What one pass over the medians of a slice finds. A rank's row and column are its pairs with other hosts where
    the slice has any such pair, else those with its own.
    """

    part: Slice
    num_to_measure: int
    num_missing: int  # of those
    missing: tuple[tuple[int, int], ...]  # from, to of the first thousand of them
    classes: dict[PairClass, Tally]  # only classes that have pairs to measure
    rows_ns: FloatArray  # [N] median of each rank's row, NaN = nothing measured
    columns_ns: FloatArray  # [N] of its column; of matrices above 4096 ranks within 0.4 % (columns.py)
    inside_ns: FloatArray  # [N] of its row's pairs on the same host
    # [N] other ranks that it was measured with, as sender or receiver; above 4096 ranks the larger number of the two.
    num_partners: IntArray
    # [H] other hosts; above 2048 hosts the largest number that one of its ranks sent to.
    num_host_partners: IntArray
    slowest: dict[PairClass, tuple[Cell, ...]]  # slowest first, the first thousand; of equal ones lower ranks first
    # Of every stretch of 1/256 octave that has pairs its first eight by their ranks, all where it has no more; by time.
    examples: dict[PairClass, tuple[Cell, ...]]
    pictures: tuple[Picture, ...]  # in the order of the grids that were asked for
