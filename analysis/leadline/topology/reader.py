# SPDX-License-Identifier: Apache-2.0
"""From an HDF5 result of the topology test (docs/formats/hdf5.md) to a TopologyResult."""

from __future__ import annotations

import os
from collections.abc import Container

import numpy as np

from leadline.benchmarks import load_as
from leadline.model import FloatArray, IntArray, Slice
from leadline.readers.contents import columns_of, facts_of
from leadline.readers.diagnosis import diagnoses_of
from leadline.readers.hdf5_file import FileReader
from leadline.readers.hdf5_numbers import NumberReader
from leadline.topology.result import (
    RANK_STATISTICS,
    Channels,
    LoadPoint,
    ServedChannels,
    Topology,
    TopologyCell,
    TopologyResult,
)

_RANK_TIMES = tuple(f"rank_time_ns_{statistic.value}" for statistic in RANK_STATISTICS)
_EXCHANGE_TIMES = ("exchange_time_ns", "exchange_with_barrier_time_ns")
_LOAD_COLUMNS = dict.fromkeys(("topology_index", "size_index", "repeat"), "iu") | columns_of(LoadPoint)
_SERVED_COLUMNS = ("num_channels", "max_channels_rank")  # older files do not have them


def load_topology(path: str | os.PathLike[str]) -> TopologyResult:
    """As load(), for results of the topology test: LeadlineError for one of another benchmark."""
    return load_as(path, TopologyResult)


class Reader(FileReader):
    """Reads all but channels and times, and checks that those are there."""

    def result(self) -> TopologyResult:
        """LeadlineError or a bad value for whatever is not one."""
        head = self._head()
        self._rooms: set[tuple[int, ...]] = set()  # [R, S, I] of all topologies
        num_sizes, num_ranks = len(head["message_sizes_bytes"]), len(head["ranks"])
        is_load = self._has("load")
        topologies = self._topologies(num_sizes, num_ranks, is_load)
        if len(self._rooms) > 1:
            raise self._damaged(f"the topologies have different numbers of exchanges: {sorted(self._rooms)}")
        num_repeats, _, num_iterations = next(iter(self._rooms), (0, 0, 0))
        sizes = list(enumerate(head["message_sizes_bytes"]))
        slices = tuple(
            Slice(0, -1, index, size, topology.name) for topology in topologies for index, size in sizes if not is_load
        )
        return TopologyResult(
            **head,
            topologies=topologies,
            num_repeats=num_repeats,
            num_iterations=num_iterations,
            load=self._load(head["message_sizes_bytes"], topologies) if is_load else (),
            is_load=is_load,
            slices=slices,
            **diagnoses_of(head, slices),
            reader=_TimeReader(
                NumberReader(self._input, self._file, self._datasets), self._datasets, topologies, num_ranks
            ),
        )

    def _topologies(self, num_sizes: int, num_ranks: int, is_load: bool) -> tuple[Topology, ...]:
        found: list[Topology] = []
        for name in sorted(self._members("topologies"), key=int):
            if int(name) != len(found):
                raise self._damaged(f"/topologies/{len(found):04d} is missing")
            found.append(self._topology(len(found), f"topologies/{name}", num_sizes, num_ranks, is_load))
        if not found:
            raise self._damaged("/topologies has none")
        return tuple(found)

    def _topology(self, index: int, name: str, num_sizes: int, num_ranks: int, is_load: bool) -> Topology:
        facts = facts_of(self._attributes(name), Topology)
        num_channels, num_ways = facts["num_channels"], facts["num_ways"]
        num_rows = 2 * num_channels
        if num_channels < 1 or num_ways not in (1, 2):
            raise self._damaged(f"/{name} has {num_channels} channels of {num_ways} messages")
        self._add(f"{name}/row_start", (num_ranks + 1,), "iu")
        self._add_all(name, (num_rows,), {"partner": "iu", "starts": "iu"})
        if not is_load:
            room = self._room(f"{name}/exchange_time_ns", num_sizes)
            self._rooms.add(room)
            self._add_all(name, room, dict.fromkeys(_EXCHANGE_TIMES, "f"))
            self._add_all(name, (*room[:2], num_ranks), dict.fromkeys(_RANK_TIMES, "f"))
            self._add(f"{name}/arrival_time_ns", (*room[:2], num_rows), "f")
            if self._has(f"{name}/num_served"):
                self._add(f"{name}/num_served", (*room[:2], num_ranks), "iu")
        extents = tuple(int(one) for one in self._array(f"{name}/extents", 1)) if self._has(f"{name}/extents") else ()
        return Topology(index=index, extents=extents, **facts)

    def _room(self, name: str, num_sizes: int) -> tuple[int, ...]:
        """[R, S, I] as a dataset has it."""
        shape = self._shape(name)
        if len(shape) != 3 or shape[1] != num_sizes or 0 in shape:
            raise self._damaged(f"/{name} has the shape {shape}")
        return shape

    def _load(self, sizes: tuple[int, ...], topologies: tuple[Topology, ...]) -> tuple[LoadPoint, ...]:
        has_served = all(self._has(f"load/{name}") for name in _SERVED_COLUMNS)
        columns = self._columns("load", _LOAD_COLUMNS | (dict.fromkeys(_SERVED_COLUMNS, "iu") if has_served else {}))
        served = [columns.pop(name) for name in _SERVED_COLUMNS if has_served]
        if any((column < 0).any() for column in served):
            raise self._damaged("/load has channels that are no counts")
        there = np.flatnonzero(columns["elapsed_s"] > 0)
        points = []
        for at, *row in zip(there.tolist(), *(column[there].tolist() for column in columns.values()), strict=True):
            topology_index, size_index, repeat, *numbers = row
            if not (0 <= topology_index < len(topologies) and 0 <= size_index < len(sizes) and repeat >= 0):
                raise self._damaged(f"/load has topology {topology_index} with size {size_index}")
            if not all(0 <= number < np.inf for number in numbers):
                raise self._damaged("/load has values that no measurement gives")
            cell = TopologyCell(topology_index, size_index, repeat, sizes[size_index])
            channels = topologies[topology_index].all_channels
            if served:
                channels = ServedChannels(*(int(column[at]) for column in served))
            point = LoadPoint(cell, channels, *numbers)
            if point.num_exchanges < 1:
                raise self._damaged("/load has a point without exchanges")
            points.append(point)
        return tuple(points)


class _TimeReader:
    """See leadline.topology.result.TopologyReader."""

    def __init__(
        self, numbers: NumberReader, datasets: Container[str], topologies: tuple[Topology, ...], num_ranks: int
    ) -> None:
        self._numbers, self._num_ranks, self._datasets = numbers, num_ranks, datasets
        self._num_rows = [2 * topology.num_channels for topology in topologies]

    def row_start(self, topology: int) -> IntArray:
        name = self._name(topology, "row_start")
        found = self._numbers.stretch(name, 0, self._num_ranks + 1).astype(np.int64)
        if found[0] != 0 or found[-1] != self._num_rows[topology] or (np.diff(found) < 0).any():
            raise self._numbers.damaged(f"/{name} does not lead from 0 to {self._num_rows[topology]}")
        return found

    def channels(self, topology: int, first: int, end: int) -> Channels:
        row_start = self.row_start(topology)[first : end + 1]
        stretch = (int(row_start[0]), int(row_start[-1]))
        name = self._name(topology, "partner")
        partner = self._numbers.as_ranks(name, self._numbers.stretch(name, *stretch), self._num_ranks)
        starts = self._numbers.stretch(self._name(topology, "starts"), *stretch).astype(bool)
        return Channels(first, row_start, partner, starts)

    def num_served(self, topology: int, first: int, end: int) -> IntArray:
        name, of_all = self._name(topology, "num_served"), np.diff(self.row_start(topology))
        ranks = np.arange(first, end) % self._num_ranks
        if name not in self._datasets:
            return of_all[ranks]
        found = self._numbers.stretch(name, first, end).astype(np.int64)
        if ((found < 0) | (found > of_all[ranks])).any():
            raise self._numbers.damaged(f"/{name} has more channels than there are")
        return found

    def times(self, topology: int, dataset: str, first: int, end: int) -> FloatArray:
        return self._numbers.times(self._name(topology, dataset), first, end)

    @staticmethod
    def _name(topology: int, dataset: str) -> str:
        return f"topologies/{topology:04d}/{dataset}"
