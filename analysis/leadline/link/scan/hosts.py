# SPDX-License-Identifier: Apache-2.0
"""Which cells of some rows lie inside a host, and which ranks and hosts met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from leadline.link.scan.blocks import Rows
from leadline.model import BoolArray, IntArray

Number = TypeVar("Number", np.float64, np.uint16, np.bool_)

# Up to so many ranks, and hosts, each pair of them that met is remembered (16 MiB, 4 MiB).
_MOST_RANKS, _MOST_HOSTS = 4096, 2048


class OwnHosts:
    """Finds the cells of rows whose pairs share a host."""

    def __init__(self, host_of: IntArray) -> None:
        """`host_of` is int [N]."""
        self.host_of = host_of
        self.sizes = np.bincount(host_of)
        self._order = np.argsort(host_of, kind="stable")
        self._starts = np.cumsum(self.sizes) - self.sizes

    def members(self, host: int) -> IntArray:
        """Its ranks, lowest first."""
        return self._order[self._starts[host] :][: self.sizes[host]]

    def stretches(self, first: int, end: int) -> list[tuple[slice, slice | IntArray]]:
        """Neighbouring rows (counted from `first`) on the same host, and the columns of that host."""
        cuts = np.flatnonzero(np.diff(self.host_of[first:end])) + 1
        starts = np.concatenate([[0], cuts]).tolist()
        ends = np.concatenate([cuts, [end - first]]).tolist()
        found: list[tuple[slice, slice | IntArray]] = []
        for start, stop in zip(starts, ends, strict=True):
            columns = self.members(int(self.host_of[first + start]))
            is_run = int(columns[-1] - columns[0]) == columns.size - 1
            found.append((slice(start, stop), slice(int(columns[0]), int(columns[-1]) + 1) if is_run else columns))
        return found

    def inside(self, first: int, cells: NDArray[Number], missing: float) -> NDArray[Number]:
        """The cells inside hosts, [rows, largest number of ranks on one of their hosts]; `missing` behind the last."""
        end = first + len(cells)
        width = int(self.sizes[self.host_of[first:end]].max())
        found = np.full((end - first, width), missing, dtype=cells.dtype)
        for rows, columns in self.stretches(first, end):
            part = cells[rows, columns]
            found[rows, : part.shape[1]] = part
        return found

    def outside(self, first: int, cells: NDArray[Number], missing: float) -> NDArray[Number]:
        """A copy with `missing` inside hosts."""
        found: NDArray[Number] = cells.copy()
        for rows, columns in self.stretches(first, first + len(cells)):
            found[rows, columns] = missing
        return found

    def any_of_hosts(self, cells: BoolArray) -> BoolArray:
        """Whether any cell of a row is in the columns of each host, bool [rows, H] from [rows, N]."""
        is_in_order = bool(np.all(np.diff(self.host_of) >= 0))
        by_host = cells if is_in_order else np.take(cells, self._order, axis=1)
        found: BoolArray = np.logical_or.reduceat(by_host, self._starts, axis=1)
        return found

    def receiver(self, from_rank: IntArray, place: IntArray) -> IntArray:
        """The rank behind a column of inside()."""
        found: IntArray = self._order[self._starts[self.host_of[from_rank]] + place]
        return found


@dataclass(frozen=True)
class Met:
    """The ranks that the ranks of some rows were measured with."""

    rows: slice
    num_sent: IntArray  # [rows] other ranks
    num_received: IntArray  # [N] of the rows' ranks
    hosts: IntArray  # [U] hosts of the rows
    hosts_met: BoolArray  # [U, H] which others each of them met
    num_hosts_met: IntArray  # [U] the most that one of its ranks here met


class Meetings:
    """Counts others that were measured with each rank and each host."""

    def __init__(self, own: OwnHosts) -> None:
        """No pair has met."""
        num_ranks, num_hosts = own.host_of.size, own.sizes.size
        self._own = own
        self._met = np.zeros((num_ranks, num_ranks), dtype=bool) if num_ranks <= _MOST_RANKS else None
        self._hosts_met = np.zeros((num_hosts, num_hosts), dtype=bool) if num_hosts <= _MOST_HOSTS else None
        self._num_sent, self._num_received = (np.zeros(num_ranks, dtype=np.int64) for _ in range(2))
        self._num_hosts_met = np.zeros(num_hosts, dtype=np.int64)

    def met(self, rows: Rows) -> Met:
        """From any thread."""
        num_ranks, place = self._own.host_of.size, np.arange(rows.first, rows.end)
        if self._met is not None:
            self._met[rows.first : rows.end] = rows.there
        host = self._own.host_of[place]
        hosts = np.unique(host)
        if rows.to_measure is None:
            num_sent, num_received = np.full(place.size, num_ranks - 1), np.full(num_ranks, place.size)
            num_received[place] -= 1
            hosts_met = np.ones((hosts.size, self._own.sizes.size), dtype=bool)
            hosts_met[np.arange(hosts.size), hosts] = False
            return Met(slice(rows.first, rows.end), num_sent, num_received, hosts, hosts_met, hosts_met.sum(axis=1))
        there = rows.there.copy()
        there[place - rows.first, place] = False
        of_ranks = self._own.any_of_hosts(there)
        of_ranks[place - rows.first, host] = False
        order = np.argsort(host, kind="stable")
        starts = np.searchsorted(host[order], hosts)
        return Met(
            slice(rows.first, rows.end),
            np.count_nonzero(there, axis=1),
            np.count_nonzero(there, axis=0),
            hosts,
            np.logical_or.reduceat(of_ranks[order], starts, axis=0),
            np.maximum.reduceat(np.count_nonzero(of_ranks, axis=1)[order], starts),
        )

    def add(self, found: Met) -> None:
        """Rows may come in any order, each once."""
        self._num_sent[found.rows] = found.num_sent
        self._num_received += found.num_received
        self._num_hosts_met[found.hosts] = np.maximum(self._num_hosts_met[found.hosts], found.num_hosts_met)
        if self._hosts_met is not None:
            self._hosts_met[found.hosts] |= found.hosts_met

    def num_partners(self) -> IntArray:
        """Of every rank, int64 [N]."""
        if self._met is None:
            return np.maximum(self._num_sent, self._num_received)
        met = self._met | self._met.T
        return np.asarray(np.count_nonzero(met, axis=1) - met.diagonal(), dtype=np.int64)

    def num_host_partners(self) -> IntArray:
        """Of every host, int64 [H]."""
        if self._hosts_met is None:
            return self._num_hosts_met
        return np.asarray(np.count_nonzero(self._hosts_met | self._hosts_met.T, axis=1), dtype=np.int64)
