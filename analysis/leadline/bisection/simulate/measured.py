# SPDX-License-Identifier: Apache-2.0
"""The patterns of a measurement: which there are, and whether they are those that its seed gives here."""

from __future__ import annotations

import numpy as np

from leadline.bisection.result import BisectionResult, PatternKind
from leadline.error import ExitStatus, LeadlineError
from leadline.model import IntArray

_BLOCK_CELLS = 1 << 22


def measured_indices(result: BisectionResult) -> list[int]:
    """Of the random patterns that were measured, with any message size; rising. LeadlineError if there are none."""
    found: set[int] = set()
    for size_index in range(len(result.message_sizes_bytes)):
        found.update(result.reader.patterns(size_index).of_kind(PatternKind.RANDOM).index.tolist())
    if not found:
        raise without_random(result)
    return sorted(found)


def without_random(result: BisectionResult) -> LeadlineError:
    """The error for a result that has nothing to compare, to be raised."""
    why = "it has no random pattern that was measured"
    return LeadlineError(
        f"cannot use '{result.path}'", why, "Measure with --pattern random", ExitStatus.BAD_COMMAND_LINE
    )


def measured_named(result: BisectionResult) -> dict[str, IntArray]:
    """The named patterns that were measured: the rank that every rank sends to, as in the file."""
    found: dict[str, IntArray] = {}
    for size_index in range(len(result.message_sizes_bytes)):
        patterns = result.reader.patterns(size_index).of_kind(PatternKind.NAMED)
        for index, number in zip(patterns.index.tolist(), patterns.number.tolist(), strict=True):
            name = result.pattern_names[index]
            if name not in found:
                ranks = (0, result.num_ranks)
                found[name] = result.reader.partners(size_index, "send_to", ranks, (number, number + 1))[:, 0]
    return found


_LOSSES = ("ranks_absent", "ranks_lost", "pairs_not_measured")  # findings after which patterns are others


class PatternCheck:
    """Compares random patterns with the file's own, of one message size."""

    def __init__(self, result: BisectionResult, size_index: int) -> None:
        """Reads whole blocks, so that rising indices are fast."""
        patterns = result.reader.patterns(size_index).of_kind(PatternKind.RANDOM)
        self._result, self._size_index = result, size_index
        self._number_of = dict(zip(patterns.index.tolist(), patterns.number.tolist(), strict=True))
        self._end = 1 + max(self._number_of.values(), default=-1)
        self._first, self._block = 0, np.empty((result.num_ranks, 0), dtype=np.int64)

    def expect(self, index: int, send_to: IntArray) -> None:
        """LeadlineError where this random pattern was measured as another one."""
        number = self._number_of.get(index)
        if number is None:
            return
        if not self._first <= number < self._first + self._block.shape[1]:
            end = min(number + max(_BLOCK_CELLS // self._result.num_ranks, 1), self._end)
            ranks = (0, self._result.num_ranks)
            self._block = self._result.reader.partners(self._size_index, "send_to", ranks, (number, end))
            self._first = number
        if not np.array_equal(self._block[:, number - self._first], send_to):
            why = f"its random pattern {index} is not the one that seed {self._result.seed} gives here; "
            if any(finding.id in _LOSSES for finding in self._result.findings):
                why += "ranks or pairs of ranks were lost while it was measured"
                hint = "Measure again without them"
            else:
                why += f"it was written by leadline {self._result.provenance.version}"
                hint = "Use the version that measured, or measure again"
            raise LeadlineError(f"cannot follow '{self._result.path}'", why, hint, ExitStatus.RUN_FAILED)
