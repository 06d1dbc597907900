# SPDX-License-Identifier: Apache-2.0
"""What a result of the topology test is: plain frozen data; times are read when they are asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from leadline.error import LeadlineError
from leadline.model.array import LabelledArray
from leadline.model.diagnosis import JudgedResult
from leadline.model.run import BoolArray, FloatArray, IntArray, member_of, no_choice
from leadline.model.table import Table, first_of
from leadline.settings import Statistic

# A matrix of all ranks with all ranks has at most so many bytes.
_MOST_MATRIX_BYTES = 1 << 30


# Of the times of ranks.
RANK_STATISTICS = (Statistic.MEDIAN, Statistic.MIN, Statistic.MEAN, Statistic.P99, Statistic.MAX)


class Definition(str, Enum):
    """What the time of an exchange is."""

    EXCHANGE = "exchange"  # of its slowest rank, without the closing barrier
    WITH_BARRIER = "with_barrier"  # on the clock of rank 0, closing barrier included: NETTEST's definition


@dataclass(frozen=True)
class Rates:
    """Bytes a second that move in an exchange, sent and received; NaN where there is no time."""

    local: float  # by the busiest rank
    total: float  # by all channels together
    average: float  # by one channel


@dataclass(frozen=True)
class ServedChannels:
    """Those over which messages went: all of a topology, but for those of ranks and pairs that were lost."""

    num: int
    max_rank: int  # of the busiest rank


@dataclass(frozen=True)
class Topology:
    """Which ranks share a channel, and which way its messages go."""

    index: int  # into TopologyResult.topologies
    name: str  # "star2", "torus:4x4"
    shape: str  # "star", "ring" ...
    mode: str  # "both-ways", "answered", "phased" or "one-way"
    num_channels: int
    max_channels_rank: int  # of the busiest rank; a star's centre
    num_ways: int  # messages that a channel carries in an exchange
    extents: tuple[int, ...]  # torus only

    @property
    def has_answers(self) -> bool:
        """Whether a channel's answer waits for its first message."""
        return self.mode in ("answered", "phased")

    @property
    def all_channels(self) -> ServedChannels:
        """What is served where nothing is lost."""
        return ServedChannels(self.num_channels, self.max_channels_rank)

    def rates(self, message_size_bytes: int, time_ns: float, served: ServedChannels | None = None) -> Rates:
        """Rates of an exchange over these channels, all of them by default, that takes so long."""
        served = served or self.all_channels
        average = 1e9 * self.num_ways * message_size_bytes / time_ns if time_ns > 0 else math.nan
        return Rates(average * served.max_rank, average * served.num, average)


@dataclass(frozen=True)
class TopologyCell:
    """One topology with one message size in one repeat."""

    topology_index: int
    size_index: int  # into TopologyResult.message_sizes_bytes
    repeat: int  # 0-based
    message_size_bytes: int


@dataclass(frozen=True)
class LoadPoint:
    """With --duration: some seconds of one cell; its repeat is how often all cells had come before."""

    cell: TopologyCell
    served: ServedChannels  # at its end
    begin_s: float  # since the load began
    elapsed_s: float
    num_exchanges: int
    num_verified: int
    time_ns_median: float  # of an exchange, its slowest rank, without the barrier
    time_ns_max: float

    @property
    def time_ns_mean(self) -> float:
        """Of an exchange with all that is around it: barriers, checks, and whatever held it up."""
        return 1e9 * self.elapsed_s / self.num_exchanges


@dataclass(frozen=True, repr=False)
class Channels(Table):
    """The channels of some ranks, each rank's in a row; every channel stands with both of its ranks."""

    first_rank: int
    row_start: IntArray  # [ranks + 1], where each rank's channels begin among those of all ranks
    partner: IntArray
    starts: BoolArray  # whether the rank of the row starts the channel

    @property
    def rank(self) -> IntArray:
        """The rank that each of them stands with."""
        num_ranks = len(self.row_start) - 1
        return np.repeat(np.arange(self.first_rank, self.first_rank + num_ranks), np.diff(self.row_start))

    def to_table(self) -> dict[str, NDArray[Any]]:
        """See Table; a row each channel and rank."""
        return {"rank": self.rank, "partner": self.partner, "starts": self.starts}


@dataclass(frozen=True, repr=False)
class Arrivals(Table):
    """Messages of an exchange, each with the time at which it has arrived since the exchange began; NaN = not
    measured. All arrays have the same length.
    """

    from_rank: IntArray
    to_rank: IntArray
    is_answer: BoolArray  # whether it goes to the rank that starts the channel
    time_ns: FloatArray


class TopologyReader(Protocol):
    """Reads from the file; several threads may. Topologies by their index."""

    def row_start(self, topology: int) -> IntArray:
        """Where each rank's channels begin, [N + 1]."""

    def channels(self, topology: int, first: int, end: int) -> Channels:
        """Those of the ranks from `first` to before `end`."""

    def num_served(self, topology: int, first: int, end: int) -> IntArray:
        """A stretch of the numbers of channels that each rank served in each cell."""

    def times(self, topology: int, dataset: str, first: int, end: int) -> FloatArray:
        """A stretch of a dataset of times, all of its dimensions in a row; NaN = not measured."""


@dataclass(frozen=True, repr=False)
class TopologyResult(JudgedResult):
    """What a run of the topology test left in its file. N = ranks. A slice is a topology with a message size, over all
    repeats; with --duration there is none.
    """

    benchmark = "topology"

    topologies: tuple[Topology, ...]
    num_repeats: int  # 0 with --duration
    num_iterations: int  # timed exchanges of a cell
    load: tuple[LoadPoint, ...]  # only with --duration
    is_load: bool  # --duration: exchanges were not kept one by one, and no message was traced
    reader: TopologyReader

    @property
    def cells(self) -> tuple[TopologyCell, ...]:
        """All that the run was to measure, by repeat, then size, then topology; none with --duration."""
        return tuple(
            TopologyCell(topology.index, size_index, repeat, size)
            for repeat in range(self.num_repeats)
            for size_index, size in enumerate(self.message_sizes_bytes)
            for topology in self.topologies
        )

    def topology(self, name: str) -> Topology:
        """A topology by its name."""
        found = [one for one in self.topologies if one.name == name]
        if not found:
            raise no_choice("topology", name, (one.name for one in self.topologies))
        return found[0]

    def cell(self, topology: str, size: int | str | None = None, repeat: int | None = None) -> TopologyCell:
        """The cell of a topology, a message size (1024, "1KiB") and a repeat (0-based). A size or repeat that is left
        out must be the only one in the result.
        """
        index = self.topology(topology).index
        cells = [cell for cell in self.cells if cell.topology_index == index]
        return self._only_one("cell", cells, size, repeat)

    def exchange_times_ns(self, cell: TopologyCell, definition: Definition | str = Definition.EXCHANGE) -> FloatArray:
        """Of every timed exchange in order, float64 [I]; NaN = not measured."""
        dataset = _DATASETS[member_of(Definition, definition)]
        first = self._place(cell, self.num_iterations)
        return self.reader.times(cell.topology_index, dataset, first, first + self.num_iterations)

    def is_measured(self, cell: TopologyCell) -> bool:
        """Whether any exchange of the cell was timed."""
        return bool(np.isfinite(self.exchange_times_ns(cell)).any())

    def rates(
        self, cell: TopologyCell, statistic: str = "median", definition: Definition | str = Definition.EXCHANGE
    ) -> Rates:
        """Rates at the `median` or `mean` time over the cell's exchanges; NaN where none was timed."""
        if statistic not in _AVERAGES:
            raise no_choice("statistic", statistic, _AVERAGES)
        times = self.exchange_times_ns(cell, definition)
        times = times[np.isfinite(times)]
        time_ns = float(_AVERAGES[statistic](times)) if times.size else math.nan
        return self.topologies[cell.topology_index].rates(
            cell.message_size_bytes, time_ns, self.served_channels((cell,))
        )

    def num_served(self, cell: TopologyCell) -> IntArray:
        """How many channels each rank served in the cell, int64 [N]; fewer than it has where partners were lost."""
        first = self._place(cell, self.num_ranks)
        return self.reader.num_served(cell.topology_index, first, first + self.num_ranks)

    def served_channels(self, cells: Sequence[TopologyCell]) -> ServedChannels:
        """The channels that were served in all these cells of one topology."""
        if not cells:
            return ServedChannels(0, 0)
        num = np.min([self.num_served(cell) for cell in cells], axis=0)
        return ServedChannels(int(num.sum()) // 2, int(num.max()))

    def rank_times_ns(self, cell: TopologyCell, statistic: Statistic | str = Statistic.MEDIAN) -> FloatArray:
        """Each rank's own time of an exchange, without the closing barrier, float64 [N]; NaN = not measured, or a rank
        without channels.
        """
        first, num = self._place(cell, self.num_ranks), self.num_ranks
        dataset = f"rank_time_ns_{member_of(Statistic, statistic, RANK_STATISTICS).value}"
        return self.reader.times(cell.topology_index, dataset, first, first + num)

    def rank_rates(self, cell: TopologyCell) -> FloatArray:
        """Bytes a second that each rank sends and receives, by its own median time, float64 [N]."""
        topology = self.topologies[cell.topology_index]
        num_bytes = topology.num_ways * cell.message_size_bytes * self.num_served(cell)
        return np.asarray(1e9 * num_bytes / self.rank_times_ns(cell))

    def channels(self, topology: str, rank: int) -> Channels:
        """Those of one rank, in the order in which it posts them."""
        if not 0 <= rank < self.num_ranks:
            raise no_choice("rank", rank, [f"0 to {self.num_ranks - 1}"])
        return self.reader.channels(self.topology(topology).index, rank, rank + 1)

    def arrivals(self, cell: TopologyCell, first: int = 0, end: int | None = None) -> Arrivals:
        """The messages that arrive at the ranks from `first` to before `end`, all of them by default."""
        channels = self.reader.channels(cell.topology_index, first, self.num_ranks if end is None else end)
        num_of_all = 2 * self.topologies[cell.topology_index].num_channels
        begin = self._place(cell, num_of_all)
        stretch = (int(begin + channels.row_start[0]), int(begin + channels.row_start[-1]))
        times = self.reader.times(cell.topology_index, "arrival_time_ns", *stretch)
        if self.topologies[cell.topology_index].num_ways > 1:
            return Arrivals(channels.partner, channels.rank, channels.starts, times)
        arrives = ~channels.starts  # one way: nothing comes to whoever starts
        return Arrivals(channels.partner[arrives], channels.rank[arrives], channels.starts[arrives], times[arrives])

    def rank_blocks(self, topology_index: int, num_channels: int = 1 << 20) -> Iterator[tuple[int, int]]:
        """All ranks, some at a time, which have about so many channels together (one rank at least)."""
        row_start = self.reader.row_start(topology_index)
        first = 0
        while first < self.num_ranks:
            end = int(np.searchsorted(row_start, row_start[first] + num_channels, side="right")) - 1
            end = min(max(end, first + 1), self.num_ranks)
            yield first, end
            first = end

    def channel_matrix(self, topology: str, size: int | str | None = None, repeat: int | None = None) -> LabelledArray:
        """Times to arrival from every rank to every rank; NaN where there is no channel that way, or nothing was
        measured; the later one of two channels between the same ranks. It takes 8 N² bytes and is refused where that is
        more than 1 GiB: see arrivals().
        """
        cell = self.cell(topology, size, repeat)
        if 8 * self.num_ranks**2 > _MOST_MATRIX_BYTES:
            hint = "Ask for the arrivals() of some ranks at a time"
            raise LeadlineError(f"a matrix of {self.num_ranks:,} ranks does not fit into 1 GiB", hint=hint)
        values = np.full((self.num_ranks, self.num_ranks), np.nan)
        for first, end in self.rank_blocks(cell.topology_index):
            found = self.arrivals(cell, first, end)
            np.fmax.at(values, (found.from_rank, found.to_rank), found.time_ns)
        return LabelledArray(
            name="arrival_time_ns",
            unit="ns",
            dims=("from_rank", "to_rank"),
            values=values,
            row_hosts=tuple(place.host for place in self.ranks),
            message_size_bytes=cell.message_size_bytes,
            repeat=cell.repeat,
        )

    def _parts(self) -> str:
        return f"exchanges in {first_of([topology.name for topology in self.topologies])}"

    def _place(self, cell: TopologyCell, num_values: int) -> int:
        """Where the values of a cell begin in a dataset [R, S, num_values]."""
        if not self.num_repeats:
            raise LeadlineError("the result has no cells", "it is of a load with --duration", "See its load")
        return (cell.repeat * len(self.message_sizes_bytes) + cell.size_index) * num_values


_AVERAGES: dict[str, Callable[[FloatArray], Any]] = {"median": np.median, "mean": np.mean}
_DATASETS = {
    Definition.EXCHANGE: "exchange_time_ns",
    Definition.WITH_BARRIER: "exchange_with_barrier_time_ns",
}
