# SPDX-License-Identifier: Apache-2.0
"""What a message passes: elements with a latency and two limits of bandwidth, and the time along a path of them.

A path is a row of element numbers. The time of one message one way is the sum of the latencies plus the bytes divided
by the least bandwidth on the way (store-and-forward costs of single packets are in the latencies): the alpha-beta model
of Hockney (1994) with the minimum over the path in place of one beta. Concurrent flows share the capacity of an element
evenly where they want more than it has, and otherwise wait for each other as in a queue.

Latencies are ns, bandwidths bytes/ns (1 byte/ns = 1 GB/s).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

# Of a ping-pong each direction of a path is busy half of the time.
PING_PONG_DUTY = 0.5
NOTHING = 0  # this element costs nothing: it fills up short paths


@dataclass
class Elements:
    """All elements of a cluster, by number. Number 0 costs nothing."""

    latency_ns: list[float] = field(default_factory=lambda: [0.0])
    capacity: list[float] = field(default_factory=lambda: [np.inf])  # bytes/ns, shared by the flows of a round
    flow_limit: list[float] = field(default_factory=lambda: [np.inf])  # bytes/ns, of each single flow

    def add(self, latency_ns: float, capacity: float = np.inf, flow_limit: float = np.inf) -> int:
        """A new element; its number."""
        self.latency_ns.append(latency_ns)
        self.capacity.append(capacity)
        self.flow_limit.append(flow_limit)
        return len(self.latency_ns) - 1

    def add_many(self, num: int, latency_ns: float, capacity: float = np.inf, flow_limit: float = np.inf) -> Ints:
        """So many alike; their numbers."""
        first = len(self.latency_ns)
        self.latency_ns += [latency_ns] * num
        self.capacity += [capacity] * num
        self.flow_limit += [flow_limit] * num
        return np.arange(first, first + num, dtype=np.int32)

    def table(self) -> Table:
        """The same as arrays."""
        arrays = (np.array(self.latency_ns), np.array(self.capacity), np.array(self.flow_limit))
        return Table(*arrays, np.zeros(len(self.latency_ns)))


@dataclass
class Table:
    """Elements as arrays, which faults change."""

    latency_ns: Floats
    capacity: Floats
    flow_limit: Floats
    loss: Floats  # the share of messages that an element loses, so that they are sent again

    def copy(self) -> Table:
        """To plant faults in."""
        return Table(self.latency_ns.copy(), self.capacity.copy(), self.flow_limit.copy(), self.loss.copy())

    def shares(self, paths: Ints, group: Ints, num_groups: int, size_bytes: float) -> Floats:
        """By how much each element of each path is divided, [paths, length], among the paths of its group (a round).

        An element whose flows want less than it has makes them wait as a queue with random arrivals and equal services
        does (M/D/1: load / (2 (1 - load)) services); otherwise all its flows get the same.
        """
        num = self.latency_ns.size
        place = paths + group[:, None] * np.int64(num)
        rate = PING_PONG_DUTY * size_bytes / self.times_ns(paths, size_bytes, 1.0)
        wanted = np.bincount(place.ravel(), np.repeat(rate, paths.shape[1]), minlength=num_groups * num)
        flows = np.bincount(place.ravel(), minlength=num_groups * num) * PING_PONG_DUTY
        load = np.minimum(wanted.reshape(num_groups, num) / self.capacity, 1 - 1e-9).ravel()
        return np.asarray(np.maximum(np.minimum(flows, 1 + load / (2 * (1 - load))), 1)[place])

    def times_ns(self, paths: Ints, size_bytes: float, shares: Floats | float) -> Floats:
        """One way, for each path. `shares` as above; 1 of a pair that is alone."""
        bandwidth = np.minimum(self.flow_limit[paths], self.capacity[paths] / shares).min(axis=1)
        return np.asarray(self.latency_ns[paths].sum(axis=1) + size_bytes / bandwidth)

    def loss_share(self, paths: Ints) -> Floats:
        """Of each path, the share of messages that are lost on it."""
        return np.asarray(1 - np.prod(1 - self.loss[paths], axis=1))


def joined(columns: Sequence[Ints]) -> Ints:
    """Columns of element numbers side by side, one row a path."""
    return np.column_stack(columns).astype(np.int32)
