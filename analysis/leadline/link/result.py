# SPDX-License-Identifier: Apache-2.0
"""What a result of the link test is: plain frozen data; matrices are read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum

import numpy as np

from leadline.error import ExitStatus, LeadlineError
from leadline.model.array import LabelledArray
from leadline.model.diagnosis import JudgedResult
from leadline.model.run import (
    BoolArray,
    Column,
    FloatArray,
    IntArray,
    RunProvenance,
    Slice,
    member_of,
)
from leadline.model.table import Record, three_lines
from leadline.settings import Statistic
from leadline.units import bytes_text, counted


class PairClass(str, Enum):
    """How far apart the two ranks of a pair are."""

    SAME_HOST = "same host"
    BETWEEN_HOSTS = "between hosts"


@dataclass(frozen=True, repr=False)
class Provenance(RunProvenance):
    """Where a result of the link test comes from."""

    num_rounds: int
    direction: str


@dataclass(frozen=True)
class Retest:
    """One of the slowest ordered pairs: its median under load, and alone after the main test (NaN = not retested)."""

    repeat: int
    size_index: int
    from_rank: int
    to_rank: int
    time_ns: float
    retest_time_ns: float


@dataclass(frozen=True)
class Spread:
    """Some values in short; NaN = not measured."""

    num: int
    min: float
    mean: float
    max: float


@dataclass(frozen=True)
class AllToAll:
    """Exchanges of all ranks with all others, times in ns of a rank's whole exchange; None = none at that place."""

    message_size_bytes: int
    before: Spread | None  # over the ranks
    after: Spread | None
    each_round: Spread | None  # over ranks and rounds


@dataclass(frozen=True, repr=False)
class LinkTestRecord(Record):
    """What only files from LinkTest 1.2 tell of a run, as they have it (docs/formats/sion.md)."""

    num_iterations: int
    message_size_bytes: int
    has_all_to_all: bool
    is_serial: bool
    is_permuted: bool
    time_s: tuple[float, float, float]  # minimum, maximum, mean
    all_to_all_time_s: tuple[float, float, float]
    location: IntArray  # [N, 4], on Linux rank, 0, 0, 0


ReadRows = Callable[[Slice, str, int, int], FloatArray]
ReadBlock = Callable[[Slice, str, IntArray, IntArray], FloatArray]


@dataclass(frozen=True)
class SampledPairs:
    """The ordered pairs of some ranks that random rounds have drawn, by from, then to. Of those that met several times
    what was measured last.
    """

    from_rank: IntArray
    to_rank: IntArray
    num_of_rows: IntArray  # of each of the ranks
    values: Mapping[str, FloatArray]  # by dataset; NaN = not measured


ReadPairs = Callable[[Slice, Sequence[str], int, int], SampledPairs]


class NotMeasured(IntEnum):
    """Why nothing was measured of an ordered pair. Later versions may know more reasons."""

    NO_REASON = 0  # the run did not come to it, or the rank was lost before it could say
    NOT_IN_SCHEDULE = 1
    LINK_LOST = 2  # the link did not open in time, or broke
    RANK_LOST = 3  # that receives


# What read_rows of a compact result has of pairs beside its columns: these numbers, NaN where the pair was measured.
WHY_NOT_MEASURED = "why_not_measured"


@dataclass(frozen=True, repr=False)
class PairMatrices:
    """Matrices of all pairs by the statistic of their times: `matrices["median"]`. A result with several message sizes
    or repeats has one for each: `matrices["p99", "1MiB"]`, `matrices["p99", "1MiB", 0]`, as in LinkResult.slice(). Each
    takes 8 N² bytes; for many thousands of ranks see LinkResult.row_blocks().
    """

    result: LinkResult
    bandwidth_name: str  # empty = times

    def __getitem__(self, which: str | tuple[str, int | str] | tuple[str, int | str, int]) -> LabelledArray:
        """LeadlineError where there is no such statistic or slice, or several slices fit."""
        statistic, choice = (which, ()) if isinstance(which, str) else (which[0], which[1:])
        part = self.result.slice(*choice)
        try:
            values = self.result.matrix(part, statistic)
            if self.bandwidth_name:
                values = np.asarray(self.result.bandwidth_bytes_per_s(values, part.message_size_bytes))
        except MemoryError as error:
            num_ranks = self.result.num_ranks
            problem = f"a matrix of {num_ranks:,} ranks, {bytes_text(8 * num_ranks**2)}, does not fit into the memory"
            hint = "Read some rows at a time, with row_blocks()"
            raise LeadlineError(problem, hint=hint, status=ExitStatus.SOMETHING_MISSING) from error
        return LabelledArray(
            name=self.bandwidth_name or f"time_ns_{statistic}",
            unit="bytes/s" if self.bandwidth_name else "ns",
            dims=("from_rank", "to_rank"),
            values=values,
            row_hosts=tuple(place.host for place in self.result.ranks),
            message_size_bytes=part.message_size_bytes,
            repeat=part.repeat,
        )

    def __iter__(self) -> Iterator[str]:
        """The statistics."""
        return (one.value for one in self.result.statistics)

    def __repr__(self) -> str:
        """Which matrices there are."""
        what = self.bandwidth_name or "time_ns"
        return three_lines(f"PairMatrices: {what} at {', '.join(self)} of {self.result.path}")


@dataclass(frozen=True, repr=False)
class LinkResult(JudgedResult):
    """What a run of the link test left in its file. N = ranks; row = from, column = to."""

    benchmark = "link"

    provenance: Provenance
    pair_columns: tuple[Column, ...]  # what the file has of each pair; names are those of read_rows
    retests: tuple[Retest, ...]  # slowest first in each slice
    all_to_all: Mapping[Slice, AllToAll]  # only slices that have such exchanges
    bisection_bytes_per_s: Mapping[Slice, Spread]  # bandwidth across the cut over the rounds; only where there is one
    repeats_with_rounds: frozenset[int]  # repeats whose schedule is known: which pairs meet, and in which round
    linktest: LinkTestRecord | None  # only of files that LinkTest wrote, also converted ones
    read_rows: ReadRows  # (slice, dataset name, first row, row behind the last) -> [rows, N]
    network_groups: tuple[tuple[int, ...], ...]  # by level, innermost first: the group of each host; () = not known
    read_block: ReadBlock  # (slice, dataset name, ranks of the rows, of the columns) -> [rows, columns], in any order
    is_compact: bool = False  # four bytes a pair: median, p99 and count, rounded (docs/metrics.md)
    # Only where the file stores sampled rounds, so that few of the pairs are there and rows of all ranks are large:
    # (slice, dataset names, first row, row behind the last) -> the pairs of these ranks.
    read_pairs: ReadPairs | None = None

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """Those of the pairs' times that the file has: one of an earlier version has fewer."""
        names = {column.name for column in self.pair_columns}
        return tuple(one for one in Statistic if f"time_ns_{one.value}" in names)

    def matrix(self, part: Slice, statistic: Statistic | str = Statistic.MEDIAN) -> FloatArray:
        """Times in ns a message, float64 [N, N]; NaN = not measured (the diagonal, unless N is 1).

        LeadlineError where the file does not have the statistic.
        """
        name = member_of(Statistic, statistic, self.statistics).value
        return self.read_rows(part, f"time_ns_{name}", 0, self.num_ranks)

    def count(self, part: Slice) -> FloatArray:
        """Timed batches, float64 [N, N]; NaN = not measured."""
        return self.read_rows(part, "count", 0, self.num_ranks)

    def to_measure(self, part: Slice) -> BoolArray:
        """Cells that a complete run fills, bool [N, N]; see rows_to_measure()."""
        return self.rows_to_measure(part, 0, self.num_ranks)

    def rows_to_measure(self, part: Slice, first: int, end: int) -> BoolArray:
        """Cells that a complete run fills, bool [end - first, N]: those of its schedule. Where the file has none, all
        but the diagonal, which only one rank alone has.
        """
        to_measure: BoolArray
        if part.repeat in self.repeats_with_rounds and not self.is_compact:
            to_measure = np.isfinite(self.read_rows(part, "round", first, end))
            return to_measure
        is_other: BoolArray = np.arange(first, end)[:, None] != np.arange(self.num_ranks)[None, :]
        to_measure = is_other | (self.num_ranks == 1)
        if self.is_compact:
            to_measure &= self.read_rows(part, WHY_NOT_MEASURED, first, end) != NotMeasured.NOT_IN_SCHEDULE
        return to_measure

    def block_to_measure(self, part: Slice, rows: IntArray, columns: IntArray) -> BoolArray:
        """The same of the ranks of these rows and columns, [rows, columns], in any order."""
        if part.repeat in self.repeats_with_rounds and not self.is_compact:
            in_rounds: BoolArray = np.isfinite(self.read_block(part, "round", rows, columns))
            return in_rounds
        to_measure: BoolArray = (rows[:, None] != columns[None, :]) | (self.num_ranks == 1)
        if self.is_compact:
            to_measure &= self.read_block(part, WHY_NOT_MEASURED, rows, columns) != NotMeasured.NOT_IN_SCHEDULE
        return to_measure

    def why_not_measured(self, part: Slice) -> FloatArray:
        """Numbers of NotMeasured, float64 [N, N]; NaN = measured. Files in the full form do not tell which pairs were
        lost, but for their findings.
        """
        if self.is_compact:
            return self.read_rows(part, WHY_NOT_MEASURED, 0, self.num_ranks)
        reasons = np.where(self.to_measure(part), NotMeasured.NO_REASON, NotMeasured.NOT_IN_SCHEDULE).astype(np.float64)
        reasons[np.isfinite(self.count(part))] = np.nan
        return reasons

    def knows_schedule(self, part: Slice) -> bool:
        """Whether the file says which pairs a complete run fills; else all are taken for them."""
        return self.is_compact or part.repeat in self.repeats_with_rounds

    def bandwidth_bytes_per_s(self, time_ns: float | FloatArray, message_size_bytes: int) -> float | FloatArray:
        """Bytes a second that a pair moves; both directions count where both are sent at once."""
        num_directions = 2 if self.provenance.direction == "bidirectional" else 1
        return num_directions * message_size_bytes * 1e9 / time_ns

    def slice(self, size: int | str | None = None, repeat: int | None = None) -> Slice:
        """The slice of a message size (1024, "1KiB") and a repeat (0-based). What is left out must have only one value
        in the result; LeadlineError where it has several, or where there is no such slice.
        """
        return self._only_one("slice", self.slices, size, repeat)

    @property
    def times(self) -> PairMatrices:
        """Times of a message in ns, by statistic, one of `statistics`: `times["median"]`."""
        return PairMatrices(self, "")

    @property
    def bandwidths(self) -> PairMatrices:
        """Bandwidths in bytes/s at a statistic of the times: `bandwidths["min"]` has the best."""
        return PairMatrices(self, "bandwidth_bytes_per_s")

    def row_blocks(self, part: Slice, dataset: str, num_cells: int = 1 << 20) -> Iterator[tuple[int, FloatArray]]:
        """All rows of a matrix (`time_ns_median` ..., `count`, `round`), some at a time: the first row's rank and
        float64 [some, N]. About `num_cells` cells a time, whatever N is.
        """
        num_rows = max(num_cells // self.num_ranks, 1)
        for first in range(0, self.num_ranks, num_rows):
            yield first, self.read_rows(part, dataset, first, min(first + num_rows, self.num_ranks))

    def class_of(self, from_rank: int, to_rank: int) -> PairClass:
        """How far apart two ranks are."""
        same = self.ranks[from_rank].host == self.ranks[to_rank].host
        return PairClass.SAME_HOST if same else PairClass.BETWEEN_HOSTS

    def _parts(self) -> str:
        repeats = counted(len({part.repeat for part in self.slices}), "repeat")
        form = " in the compact form" if self.is_compact else ""
        statistics = ", ".join(one.value for one in self.statistics)
        return f"{statistics} times of all pairs{form}, {repeats}"
