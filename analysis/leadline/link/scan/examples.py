# SPDX-License-Identifier: Apache-2.0
"""Single pairs that are kept from a pass: the slowest ones, and some of every stretch of times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leadline.link.scan.blocks import NAN_CODE, NUM_CODES, Codes, Times
from leadline.model import BoolArray, FloatArray, IntArray
from leadline.scan.standout import Cell

MOST_SLOWEST = 1000
# Pairs of each stretch of 1/256 octave, so that a bar of a histogram with bins of half a per cent has some.
MOST_EXAMPLES = 8


@dataclass(frozen=True)
class Cells:
    """Some ordered pairs: ranks, times (ns) and codes of times, all of the same length."""

    from_rank: IntArray
    to_rank: IntArray
    time_ns: FloatArray
    codes: Codes

    def only(self, which: IntArray | BoolArray | slice) -> Cells:
        """Some of them."""
        return Cells(self.from_rank[which], self.to_rank[which], self.time_ns[which], self.codes[which])

    def with_others(self, others: Cells) -> Cells:
        """These, then those."""
        return Cells(
            np.concatenate([self.from_rank, others.from_rank]),
            np.concatenate([self.to_rank, others.to_rank]),
            np.concatenate([self.time_ns, others.time_ns]),
            np.concatenate([self.codes, others.codes]),
        )

    def as_tuple(self) -> tuple[Cell, ...]:
        """One object a pair."""
        rows = zip(self.from_rank.tolist(), self.to_rank.tolist(), self.time_ns.tolist(), strict=True)
        return tuple(Cell(*row) for row in rows)


_NO_RANKS = np.empty(0, dtype=np.int64)
NONE = Cells(_NO_RANKS, _NO_RANKS, np.empty(0), np.empty(0, dtype=np.uint16))


def _at(of: Times, places: IntArray) -> Cells:
    """The pairs at places of the flat array."""
    from_rank, to_rank = of.ranks_at(*np.divmod(places, of.times.shape[1]))
    return Cells(from_rank, to_rank, of.times.reshape(-1)[places], of.codes.reshape(-1)[places])


class Slowest:
    """The first of all pairs by their time; of equal ones those of lower ranks."""

    def __init__(self) -> None:
        """None so far."""
        self.cells, self._least = NONE, -np.inf

    def candidates(self, of: Times) -> Cells:
        """What may be among the slowest, from any thread, as long as rows before these are the only ones added."""
        places = np.flatnonzero(of.times > self._least)
        times = of.times.reshape(-1)[places]
        if places.size > MOST_SLOWEST:
            least = np.partition(times, -MOST_SLOWEST)[-MOST_SLOWEST]
            is_more, is_equal = times > least, np.flatnonzero(times == least)
            is_more[is_equal[: MOST_SLOWEST - np.count_nonzero(is_more)]] = True
            places = places[is_more]
        return _at(of, places)

    def add(self, found: Cells) -> None:
        """What candidates() gave; blocks in the order of their rows."""
        if not found.time_ns.size:
            return
        cells = self.cells.with_others(found)
        self.cells = cells.only(np.argsort(-cells.time_ns, kind="stable")[:MOST_SLOWEST])
        if self.cells.time_ns.size == MOST_SLOWEST:
            self._least = float(self.cells.time_ns[-1])


class Examples:
    """The first pairs of every stretch of times, by their ranks."""

    def __init__(self) -> None:
        """None so far."""
        self.cells, self._num_of = NONE, np.zeros(NUM_CODES, dtype=np.int64)

    def candidates(self, of: Times) -> Cells:
        """What may be among them; see Slowest.candidates()."""
        num_of, found, first = self._num_of.copy(), NONE, 0
        num_of[NAN_CODE:] = MOST_EXAMPLES
        # Few rows first: after these, most of what comes is not looked at.
        for end in (1, 8, len(of.times)):
            if first >= len(of.times):
                break
            is_wanted = num_of < MOST_EXAMPLES
            places = np.flatnonzero(np.take(is_wanted, of.codes[first:end])) + first * of.times.shape[1]
            cells, num_of = _first_of_stretches(_at(of, places), num_of)
            found, first = found.with_others(cells), end
        return found

    def add(self, found: Cells) -> None:
        """What candidates() gave; blocks in the order of their rows."""
        if found.codes.size:
            cells, self._num_of = _first_of_stretches(found, self._num_of)
            self.cells = self.cells.with_others(cells)

    def by_time(self) -> Cells:
        """All that were kept, fastest first."""
        return self.cells.only(np.lexsort((self.cells.to_rank, self.cells.from_rank, self.cells.time_ns)))


def _first_of_stretches(cells: Cells, num_of: IntArray) -> tuple[Cells, IntArray]:
    """As many of the pairs as their stretches still take, in their order, and how many each has then."""
    order = np.argsort(cells.codes, kind="stable")
    codes = cells.codes[order].astype(np.int64)
    num_before = np.arange(codes.size) - np.searchsorted(codes, codes, side="left")
    kept = np.sort(order[num_before + num_of[codes] < MOST_EXAMPLES])
    return cells.only(kept), num_of + np.bincount(cells.codes[kept], minlength=NUM_CODES)
