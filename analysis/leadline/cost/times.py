# SPDX-License-Identifier: Apache-2.0
"""The measured times that a pattern needs, from the matrices of a result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from leadline.cost.pattern import CHOSEN_SIZE, Messages, Pattern, bad_pattern
from leadline.error import LeadlineError
from leadline.link.result import LinkResult
from leadline.model import FloatArray, IntArray, Record, Slice
from leadline.model.run import no_choice, size_in_bytes
from leadline.units import bytes_text

# Receives the share of the work that is done, 0 to 1.
Progress = Callable[[float], None]


@dataclass(frozen=True, repr=False)
class MeasuredTimes(Record):
    """Times in ns of one message, from one repeat of a link test. Z = message sizes that the pattern has."""

    result: LinkResult
    parts: tuple[Slice, ...]  # [Z], one a size, ascending
    chosen: int  # into parts: what CHOSEN_SIZE means; -1 = no message needs it
    statistic: str

    @property
    def dataset(self) -> str:
        """The matrices' name in the file."""
        return f"time_ns_{self.statistic}"

    def size_index(self, messages: Messages) -> IntArray:
        """[M]: of every entry its size, into parts."""
        sizes = np.array([part.message_size_bytes for part in self.parts])
        index = np.searchsorted(sizes, messages.size_bytes)
        return np.where(messages.size_bytes == CHOSEN_SIZE, self.chosen, index)

    def of(self, messages: Messages, progress: Progress | None = None) -> FloatArray:
        """[M]: of one message of every entry; NaN = not measured. The matrices are read by rows, never as a whole."""
        times = np.full(len(messages), np.nan)
        size_index = self.size_index(messages)
        for number, part in enumerate(self.parts):
            entries = np.flatnonzero(size_index == number)
            entries = entries[np.argsort(messages.from_rank[entries], kind="stable")]
            senders = messages.from_rank[entries]
            for first, rows in self.result.row_blocks(part, self.dataset):
                begin, end = np.searchsorted(senders, (first, first + len(rows)))
                here = entries[begin:end]
                times[here] = rows[messages.from_rank[here] - first, messages.to_rank[here]]
                if progress:
                    progress((number + (first + len(rows)) / self.result.num_ranks) / len(self.parts))
        return times

    def matrices(self) -> FloatArray:
        """[Z, N, N], all of them: 8·Z·N² bytes."""
        rows = (self.result.read_rows(part, self.dataset, 0, self.result.num_ranks) for part in self.parts)
        return np.stack([np.asarray(some, dtype=np.float64) for some in rows])


def measured_times(
    result: LinkResult, pattern: Pattern, size: int | str | None = None, repeat: int | None = None,
    statistic: str = "median",
) -> MeasuredTimes:  # fmt: skip
    """The times that a pattern needs. `size` is the size of messages for which the pattern has none of its own, and
    `repeat` (0-based) the repeat; each may be left out where there is only one. LeadlineError where the result has no
    such size or repeat, where it is not clear which, and where a choice has no effect.
    """
    names = [one.value for one in result.statistics]
    if statistic not in names:
        raise no_choice("statistic", statistic, names)
    if pattern.num_ranks != result.num_ranks:
        raise bad_pattern(f"a pattern of {pattern.num_ranks} ranks, and the result has {result.num_ranks}")
    part_of = _parts_of_repeat(result, repeat)
    own = pattern.messages.size_bytes if pattern.messages else np.array([CHOSEN_SIZE])
    wanted = {int(one) for one in np.unique(own)}
    needs_choice = CHOSEN_SIZE in wanted
    wanted.discard(CHOSEN_SIZE)
    chosen_bytes = -1
    if needs_choice:
        chosen_bytes = _chosen_size(part_of, size)
        wanted.add(chosen_bytes)
    elif size is not None:
        raise bad_pattern("a size has no effect here", "every message of the pattern has its own")
    missing = sorted(wanted - part_of.keys())
    if missing:
        raise _no_size(part_of, bytes_text(missing[0]))
    sizes = sorted(wanted)
    chosen = sizes.index(chosen_bytes) if needs_choice else -1
    return MeasuredTimes(result, tuple(part_of[one] for one in sizes), chosen, statistic)


def _parts_of_repeat(result: LinkResult, repeat: int | None) -> dict[int, Slice]:
    repeats = list(dict.fromkeys(part.repeat for part in result.slices))
    if repeat is None:
        if len(repeats) > 1:
            raise bad_pattern("the result has several repeats", hint=f"Choose one; there are {len(repeats)}")
        repeat = repeats[0]
    if repeat not in repeats:
        raise bad_pattern("the result has no such repeat", hint=f"It has {len(repeats)}")
    return {part.message_size_bytes: part for part in result.slices if part.repeat == repeat}


def _chosen_size(part_of: dict[int, Slice], size: int | str | None) -> int:
    if size is not None:
        size_bytes = size_in_bytes(size)
        if size_bytes not in part_of:
            raise _no_size(part_of, bytes_text(size_bytes))
        return size_bytes
    if len(part_of) > 1:
        raise bad_pattern("the result has several message sizes", hint=f"Choose one: {_sizes_text(part_of)}")
    return next(iter(part_of))


def _no_size(part_of: dict[int, Slice], size: str) -> LeadlineError:
    return bad_pattern(f"the result has no message size {size}", hint=f"It has {_sizes_text(part_of)}")


def _sizes_text(part_of: dict[int, Slice]) -> str:
    return ", ".join(bytes_text(one) for one in sorted(part_of))
