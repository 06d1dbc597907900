# SPDX-License-Identifier: Apache-2.0
"""What a topology says with one message size: its rates, and how late messages, ranks and hosts are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leadline.model import FloatArray, IntArray
from leadline.scan import AxisName, Cell, Grid, Picture, axis_of, edge_for
from leadline.stats.distribution import Distribution, describe
from leadline.stats.medians import MedianOfEach
from leadline.topology.messages import MessageScan, scan_messages
from leadline.topology.result import Definition, Rates, ServedChannels, Topology, TopologyCell, TopologyResult

FEWEST_CENTRES = 3  # stars around so many centres are shown as one family
MOST_SLOWEST = 16


@dataclass(frozen=True)
class TopologyGroup:
    """What a report shows as one: a topology, or a family of stars around different centres."""

    name: str
    topologies: tuple[Topology, ...]
    centres: tuple[int, ...]  # of a family, one rank a topology; else empty

    @property
    def first(self) -> Topology:
        """Its topology, or one of the family: they have the same number of channels."""
        return self.topologies[0]

    @property
    def is_family(self) -> bool:
        """Whether it has several topologies."""
        return bool(self.centres)


@dataclass(frozen=True)
class Timing:
    """Times of an exchange (ns) by one definition: over all timed exchanges of all repeats, and the median of each
    repeat. Of a family: over the medians of its stars, and no repeats.
    """

    times: Distribution
    repeats_ns: tuple[float, ...]


@dataclass(frozen=True)
class EndRatios:
    """Ranks or hosts as senders and receivers: how long their messages take to arrive, divided by what the middle rank
    or host needs. All arrays are [N] or [hosts]; NaN = none.
    """

    from_ratio: FloatArray
    to_ratio: FloatArray

    @property
    def ratio(self) -> FloatArray:
        """The larger of the two."""
        return np.fmax(self.from_ratio, self.to_ratio)


@dataclass(frozen=True)
class GroupAnalysis:
    """All that the report says about a group with one message size."""

    group: TopologyGroup
    size_index: int
    message_size_bytes: int
    num_cells: int  # of all repeats
    num_measured: int
    served: ServedChannels  # by the first topology in all measured cells
    timings: dict[Definition, Timing]
    rank_times_ns: FloatArray  # [N] a rank's own time, median over the repeats; of a family, that of its star's centre
    rank_rates: FloatArray  # [N] bytes a second by that time
    silent_ranks: tuple[int, ...]  # with channels, but without a time of their own where others have one
    num_messages: int  # with a time to arrival
    num_missing: int  # traced, and without one
    median_ns: float  # of the messages; NaN = none
    fairness: float  # Jain's index over the rates of the messages; NaN = none
    slowest: tuple[Cell, ...]  # slowest messages first, at most MOST_SLOWEST
    ranks: EndRatios
    hosts: EndRatios
    centre_ns: FloatArray  # [N] of a family: median time to arrival of the messages of a rank's star; NaN = none
    pictures: tuple[Picture, ...]

    def rates(self, time_ns: float) -> Rates:
        """Rates of an exchange of the group that takes so long."""
        return self.group.first.rates(self.message_size_bytes, time_ns, self.served)


def groups_of(result: TopologyResult) -> tuple[TopologyGroup, ...]:
    """In the order in which they were asked for."""
    groups: list[TopologyGroup] = []
    is_done: set[int] = set()
    for topology in result.topologies:
        if topology.index in is_done:
            continue
        alike = [one for one in result.topologies if (one.shape, one.mode) == (topology.shape, topology.mode)]
        if topology.shape == "star" and len(alike) >= FEWEST_CENTRES:
            is_done |= {one.index for one in alike}
            centres = tuple(_centre_of(result, one) for one in alike)
            mode = "" if topology.mode == "both-ways" else f" {topology.mode}"
            groups.append(TopologyGroup(f"{len(alike):,} stars{mode}", tuple(alike), centres))
        else:
            groups.append(TopologyGroup(topology.name, (topology,), ()))
    return tuple(groups)


def _centre_of(result: TopologyResult, topology: Topology) -> int:
    return int(np.argmax(np.diff(result.reader.row_start(topology.index))))


def analyse_group(
    result: TopologyResult, group: TopologyGroup, size_index: int, axes: Sequence[AxisName] = (),
    largest_size: int = 1024,
) -> GroupAnalysis:  # fmt: skip
    """Reads everything that was measured of the group with the size; with a picture of the messages for each axis, of
    at most so many cells on a side.
    """
    size, cells = result.message_sizes_bytes[size_index], _cells_of(result, group, size_index)
    wanted = [axis_of(result, name) for name in axes]
    grids = [Grid(axis, edge_for(axis.num_positions, largest_size)) for axis in wanted]
    measured = {index: [cell for cell in of_one if result.is_measured(cell)] for index, of_one in cells.items()}
    found = scan_messages(result, group.topologies, size_index, grids)
    rank_times, rank_rates = _ranks(result, group, measured)
    centre_ns = np.full(result.num_ranks, math.nan)
    centre_ns[list(group.centres)] = found.topology_ns if group.is_family else []
    sides = _sides(group, found, centre_ns if np.isfinite(centre_ns).any() else rank_times)
    return GroupAnalysis(
        group=group,
        size_index=size_index,
        message_size_bytes=size,
        num_cells=sum(len(of_one) for of_one in cells.values()),
        num_measured=sum(len(of_one) for of_one in measured.values()),
        served=result.served_channels(measured[group.first.index]),
        timings={definition: _timing(result, group, measured, definition) for definition in Definition},
        rank_times_ns=rank_times,
        rank_rates=rank_rates,
        silent_ranks=_silent(result, measured),
        num_messages=found.times.num_values,
        num_missing=found.num_missing if found.times.num_values else 0,
        median_ns=found.times.quantile(0.5),
        fairness=found.fairness,
        slowest=_slowest(found),
        ranks=_ratios_of(sides),
        hosts=_hosts(result, sides),
        centre_ns=centre_ns,
        pictures=found.pictures,
    )


def _cells_of(result: TopologyResult, group: TopologyGroup, size_index: int) -> dict[int, list[TopologyCell]]:
    size = result.message_sizes_bytes[size_index]
    return {
        topology.index: [TopologyCell(topology.index, size_index, repeat, size) for repeat in range(result.num_repeats)]
        for topology in group.topologies
    }


def _timing(
    result: TopologyResult, group: TopologyGroup, measured: dict[int, list[TopologyCell]], definition: Definition
) -> Timing:
    times = {
        index: [result.exchange_times_ns(cell, definition) for cell in cells]
        for index, cells in measured.items()
        if cells
    }
    kept = {index: [one[np.isfinite(one)] for one in of_repeats] for index, of_repeats in times.items()}
    if group.is_family:
        medians = [float(np.median(np.concatenate(of_repeats))) for of_repeats in kept.values()]
        return Timing(describe(np.array(medians)), ())
    of_all = [one for of_repeats in kept.values() for one in of_repeats if one.size]
    return Timing(
        describe(np.concatenate(of_all) if of_all else np.empty(0)),
        tuple(float(np.median(one)) for one in of_all),
    )


def _ranks(
    result: TopologyResult, group: TopologyGroup, measured: dict[int, list[TopologyCell]]
) -> tuple[FloatArray, FloatArray]:
    """Every rank's own time, and its rate by that."""
    times, rates = np.full(result.num_ranks, np.nan), np.full(result.num_ranks, np.nan)
    for place, topology in enumerate(group.topologies):
        cells = measured[topology.index]
        if not cells:
            continue
        of_repeats = np.stack([result.rank_times_ns(cell) for cell in cells])
        there = np.isfinite(of_repeats).any(axis=0)
        if group.is_family:
            there &= np.arange(result.num_ranks) == group.centres[place]
        times[there] = np.nanmedian(of_repeats[:, there], axis=0)
        served = np.stack([result.num_served(cell) for cell in cells]).astype(float)
        served[np.isnan(of_repeats)] = np.nan  # a rank is lost in a later repeat
        num_served = np.nanmin(served[:, there], axis=0)
        rates[there] = 1e9 * topology.num_ways * cells[0].message_size_bytes * num_served / times[there]
    return times, rates


def _silent(result: TopologyResult, measured: dict[int, list[TopologyCell]]) -> tuple[int, ...]:
    is_silent = np.zeros(result.num_ranks, dtype=bool)
    for index, cells in measured.items():
        has_channels = np.diff(result.reader.row_start(index)) > 0
        for cell in cells:
            is_silent |= has_channels & np.isnan(result.rank_times_ns(cell))
    return tuple(np.flatnonzero(is_silent).tolist())


def _ratios(values: FloatArray) -> FloatArray:
    there = values[np.isfinite(values)]
    return values / (np.median(there) if there.size else math.nan)


# As sender and as receiver, [N] or [hosts].
_Sides = tuple[FloatArray, FloatArray]


def _sides(group: TopologyGroup, found: MessageScan, centre_ns: FloatArray) -> _Sides:
    """In a family a message's place in the queue of its star says more of its time than its ends do."""
    if group.is_family:
        return centre_ns, np.full(centre_ns.shape, math.nan)
    return found.kinds[0].from_ns, found.kinds[0].to_ns


def _ratios_of(sides: _Sides) -> EndRatios:
    return EndRatios(*(_ratios(values) for values in sides))


def _hosts(result: TopologyResult, sides: _Sides) -> EndRatios:
    """A host has the lower medians of its ranks."""

    def medians(values: FloatArray) -> FloatArray:
        there, of_hosts = np.isfinite(values), MedianOfEach(len(result.hosts))
        of_hosts.add(result.host_index[there], values[there])
        return of_hosts.medians()

    return _ratios_of((medians(sides[0]), medians(sides[1])))


def _slowest(found: MessageScan) -> tuple[Cell, ...]:
    cells = sorted((cell for kind in found.kinds for cell in kind.slowest[:MOST_SLOWEST]), key=lambda one: -one.time_ns)
    return tuple(cells[:MOST_SLOWEST])


def own_slowest(analysis: GroupAnalysis) -> IntArray:
    """Ranks by their own rates, slowest first; only those that have one."""
    there = np.flatnonzero(np.isfinite(analysis.rank_rates))
    return np.asarray(there[np.argsort(analysis.rank_rates[there], kind="stable")])
