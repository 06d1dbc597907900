# SPDX-License-Identifier: Apache-2.0
"""A search for a placement of a pattern's ranks that costs less: all of them for few ranks, else swaps of two."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np

from leadline.cost.board import Board
from leadline.cost.bound import cost_bound
from leadline.cost.evaluate import rank_loads
from leadline.cost.model import PatternCost, Placement
from leadline.cost.pattern import Pattern, bad_pattern
from leadline.cost.starts import starts
from leadline.cost.times import MeasuredTimes, Progress
from leadline.model import FloatArray, IntArray
from leadline.settings import EFFORT_PER_PAIR, MOST_EFFORT, MOST_RANKS_EXHAUSTIVE, PLACEMENT_TIME_LIMIT_S

# Cells of all matrices that a search keeps in memory, 8 bytes each: 4096 ranks and two message sizes.
MOST_CELLS = 1 << 25

# Partners that one rank is swapped with in one step; of more ranks as many are drawn.
_MOST_OTHERS = 256
# Places that count as near another one.
_NUM_NEAR = 16
# Ranks that one step tries to move: the slowest one of a stage and its partners.
_MOST_MOVED = 8
_MOST_STAGES = 4
# Entries of messages that are looked at in one go.
_BATCH_ENTRIES = 1 << 18
# What is less than this better is rounding.
_RELATIVE = 1e-9


def usual_effort(num_ranks: int) -> int:
    """Swaps to try where their number is not given."""
    return min(EFFORT_PER_PAIR * num_ranks**2, MOST_EFFORT)


def why_no_placement(pattern: Pattern, cost: PatternCost, times: MeasuredTimes) -> str:
    """The reason for which cannot search for a better placement; empty if there is none."""
    if pattern.messages is None:
        return "in all-to-all every pair is used wherever ranks are; only which pairs share a stage would change"
    if cost.is_lower_bound:
        return "pairs without a time would look as if they cost nothing"
    cells = len(times.parts) * pattern.num_ranks**2
    if cells > MOST_CELLS:
        return f"a search keeps at most {MOST_CELLS:,} pairs in memory, and these are {cells:,}"
    return ""


def better_placement(
    pattern: Pattern, cost: PatternCost, times: MeasuredTimes, seed: int = 1, effort: int | None = None,
    time_limit_s: float = PLACEMENT_TIME_LIMIT_S, progress: Progress | None = None,
) -> Placement:  # fmt: skip
    """Looks for a placement with a lower cost than `cost`, by so many swaps of two ranks (None: usual_effort()). It
    ends before when the time is over; without that the same seed finds the same. LeadlineError where there is a reason
    of why_no_placement().
    """
    reason = why_no_placement(pattern, cost, times)
    messages = pattern.messages
    if reason or messages is None:
        raise bad_pattern("cannot search for a better placement", reason)
    return search(
        pattern,
        times.size_index(messages),
        times.matrices(),
        times.result.host_index,
        seed,
        effort,
        time_limit_s,
        progress,
    )


def search(
    pattern: Pattern, size_index: IntArray, times: FloatArray, host_of: IntArray, seed: int = 1,
    effort: int | None = None, time_limit_s: float = PLACEMENT_TIME_LIMIT_S, progress: Progress | None = None,
) -> Placement:  # fmt: skip
    """As better_placement(), of times in ns [sizes, N, N], with the size of every entry of messages [M] and the host of
    every place [N]. NaN = no two ranks that exchange messages may be there.
    """
    bound = cost_bound(pattern, times[0]) if len(times) == 1 else math.nan
    # So dear that no placement with such a pair can be the best, and yet a number that can be added to others.
    dear = 1000 * np.nanmax(times) * pattern.num_messages
    allowed = np.where(np.isnan(times), dear, times)
    if pattern.num_ranks <= MOST_RANKS_EXHAUSTIVE:
        return _best_of_all(pattern, size_index, allowed, seed)
    identity = np.arange(pattern.num_ranks)
    board = Board(pattern, size_index, allowed, identity)
    budget = _Budget(usual_effort(pattern.num_ranks) if effort is None else effort, time_limit_s, progress)
    climb = _Climb(board, pattern, budget, seed, bound)
    identity_ns = board.cost_ns
    climb.descend()
    for place in starts(pattern, host_of, size_index, allowed):
        board.move_to(place)
        climb.descend()
    climb.go_on()
    stopped_by = "time limit" if budget.is_late else "effort"
    if climb.best_ns <= bound * (1 + _RELATIVE):
        stopped_by = "bound"
    return Placement(climb.best, climb.best_ns, identity_ns, bound, budget.num_tried, stopped_by, seed)


def _best_of_all(pattern: Pattern, size_index: IntArray, times: FloatArray, seed: int) -> Placement:
    """The first of the best in lexical order; the identity is the first of all."""
    messages = pattern.messages
    assert messages is not None
    best_ns, best, identity_ns = math.inf, np.arange(pattern.num_ranks), math.nan
    num_tried = 0
    for place in itertools.permutations(range(pattern.num_ranks)):
        places = np.array(place)
        total = times[size_index, places[messages.from_rank], places[messages.to_rank]] * messages.count
        cost_ns = float(rank_loads(pattern, total).max(axis=(1, 2)).sum())
        identity_ns = cost_ns if num_tried == 0 else identity_ns
        num_tried += 1
        if cost_ns < best_ns * (1 - _RELATIVE):
            best_ns, best = cost_ns, places
    return Placement(best, best_ns, identity_ns, best_ns, num_tried, "all tried", seed)


class _Budget:
    """How much may still be tried."""

    def __init__(self, effort: int, time_limit_s: float, progress: Progress | None) -> None:
        self._effort, self._progress = effort, progress
        self._begin, self._limit_s = time.monotonic(), time_limit_s
        self.num_tried, self.is_late = 0, False

    @property
    def is_over(self) -> bool:
        """Reads the clock only between batches, so that a run within its time is the same every time."""
        spent_s = time.monotonic() - self._begin
        self.is_late = self.is_late or spent_s >= self._limit_s
        if self._progress:
            self._progress(min(max(self.num_tried / self._effort, spent_s / self._limit_s), 1.0))
        return self.is_late or self.num_tried >= self._effort


class _Climb:
    """Goes down by the best of some swaps; in a valley, makes a few swaps at random and goes on from there, back to the
    best when that has led nowhere (iterated local search).
    """

    def __init__(self, board: Board, pattern: Pattern, budget: _Budget, seed: int, bound: float) -> None:
        self._board, self._pattern, self.budget, self._bound = board, pattern, budget, bound
        self._random = np.random.Generator(np.random.PCG64(seed))
        self._near = board.nearest_places(_NUM_NEAR)
        self.best, self.best_ns, self._best_rough = board.place.copy(), board.cost_ns, board.roughness

    def go_on(self) -> None:
        """Until the budget is over, or what is found cannot be better."""
        while not self._is_done():
            self._board.move_to(self.best)
            ranks = np.arange(self._pattern.num_ranks)
            slow = self._slow_stages()[0]
            for _ in range(int(self._random.integers(1, 4))):
                near = self._board.critical_ranks(slow, _MOST_MOVED)
                one = int(self._random.choice(near))
                self._board.swap(one, int(self._random.choice(np.delete(ranks, one))))
            self.descend()

    def descend(self) -> None:
        """As long as a swap of a slowest rank, or of one of its partners, makes it better."""
        while not self._is_done() and self._step():
            pass
        board = self._board
        if self._is_better(board.cost_ns, board.roughness, self.best_ns, self._best_rough):
            self.best, self.best_ns, self._best_rough = board.place.copy(), board.cost_ns, board.roughness

    def _is_done(self) -> bool:
        least = min(self.best_ns, self._board.cost_ns)
        return least <= self._bound * (1 + _RELATIVE) or self.budget.is_over

    def _slow_stages(self) -> list[int]:
        order: list[int] = np.argsort(-self._board.stage_ns, kind="stable")[:_MOST_STAGES].tolist()
        return order

    def _step(self) -> bool:
        for stage in self._slow_stages():
            for one in self._board.critical_ranks(stage, _MOST_MOVED).tolist():
                if self.budget.is_over:
                    return False
                if self._swap_best(one, self._others(one)):
                    return True
        return False

    def _others(self, one: int) -> IntArray:
        num_ranks = self._pattern.num_ranks
        if num_ranks <= _MOST_OTHERS:
            return np.delete(np.arange(num_ranks), one)
        drawn = self._random.choice(num_ranks, _MOST_OTHERS // 2, replace=False)
        others: IntArray = np.union1d(drawn, self._near_partners(one))
        without: IntArray = others[others != one]
        return without

    def _near_partners(self, one: int) -> IntArray:
        """Ranks that stand near the partners of this one."""
        rank_at = np.argsort(self._board.place)
        partners = self._board.partners(one)[:_MOST_MOVED]
        others: IntArray = np.unique(rank_at[self._near[self._board.place[partners]]])
        without: IntArray = others[others != one]
        return without

    def _swap_best(self, one: int, others: IntArray) -> bool:
        """The best of this rank's swaps, if it is better than none."""
        board = self._board
        found, best_ns, best_rough = -1, board.cost_ns, board.roughness
        for some in self._batches(one, others):
            swapped = board.try_swaps(one, some)
            self.budget.num_tried += len(some)
            first = int(np.lexsort((swapped.roughness, swapped.cost_ns))[0])
            cost_ns, rough = float(swapped.cost_ns[first]), float(swapped.roughness[first])
            if self._is_better(cost_ns, rough, best_ns, best_rough):
                found, best_ns, best_rough = int(some[first]), cost_ns, rough
        if found >= 0:
            board.swap(one, found)
        return found >= 0

    def _batches(self, one: int, others: IntArray) -> list[IntArray]:
        work = np.cumsum(self._board.degree(others) + self._board.degree(np.array([one])))
        return [some for some in np.split(others, self._cuts(work)) if len(some)]

    @staticmethod
    def _cuts(work: IntArray) -> IntArray:
        cuts: IntArray = np.flatnonzero(np.diff(work // _BATCH_ENTRIES)) + 1
        return cuts

    @staticmethod
    def _is_better(cost_ns: float, rough: float, than_ns: float, than_rough: float) -> bool:
        if cost_ns < than_ns * (1 - _RELATIVE):
            return True
        return cost_ns <= than_ns * (1 + _RELATIVE) and rough < than_rough * (1 - _RELATIVE)
