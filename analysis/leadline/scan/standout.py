# SPDX-License-Identifier: Apache-2.0
"""Single pairs that stand out, and what counts as slow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# As in the engine. A guess: more than the scatter between equal links, and less than what a fault does to one.
SLOW_FACTOR = 1.5
# With two or three ranks it is impossible to say which is slow; with three partners, two outvote a slow one.
FEWEST_PARTNERS = 3
# A pair is circled from the lower one of these on where these are few. Else, from a quarter of the most striking one
# on, at most from the higher one: where times scatter widely, circles around all that are slow hide what matters.
_CIRCLED_FROM, _ALWAYS_CIRCLED = 2.0, 8.0
_FEW_CIRCLES, MOST_CIRCLES = 8, 24


@dataclass(frozen=True)
class Cell:
    """One ordered pair and its time."""

    from_rank: int
    to_rank: int
    time_ns: float


@dataclass(frozen=True)
class Standout:
    """A pair that is slow beyond what explains it: its class, its row, its column and the tail of all pairs."""

    cell: Cell
    ratio: float  # time / what they explain


def num_circled(standouts: Sequence[Standout]) -> int:
    """How many of them, from the first on, a picture puts circles around: all that are far out where these are few,
    else those that come near the most striking one; at most MOST_CIRCLES.
    """
    num_found = sum(one.ratio >= _CIRCLED_FROM for one in standouts)
    if num_found <= _FEW_CIRCLES:
        return num_found
    limit = min(max(standouts[0].ratio / 4, _CIRCLED_FROM), _ALWAYS_CIRCLED)
    return min(sum(one.ratio >= limit for one in standouts), MOST_CIRCLES)
