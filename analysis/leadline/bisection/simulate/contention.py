# SPDX-License-Identifier: Apache-2.0
"""A bisection test in a model of a network: pattern by pattern the congestion of every connection."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leadline.bisection.result import NO_RANK
from leadline.bisection.simulate.model import SimulatedBisection, SimulatedPattern
from leadline.bisection.simulate.network import NO_LINK, Network
from leadline.bisection.simulate.patterns import Participants
from leadline.model import FloatArray, IntArray
from leadline.stats.interval import mean_interval

# As the engine's (engine/bench/bisection/stopping.hpp): the interval is examined rarely, so that it stays valid.
_MIN_PATTERNS = 20

Progress = Callable[[float], None]
OnPattern = Callable[[int, IntArray], None]


@dataclass(frozen=True)
class Experiment:
    """Who sends where, over what."""

    network: Network
    routing: str
    hosts: tuple[str, ...]  # of every rank
    port: IntArray  # the network's host of every rank
    participants: Participants
    seed: int


@dataclass(frozen=True)
class Extent:
    """How many random patterns: the first `rounds`, or fewer once the half-width is below `precision` of the mean (0 =
    never).
    """

    rounds: int
    precision: float = 0.0


class Congestion:
    """c of every connection of a pattern. Local state: the capacities, and how often each value of c came up."""

    def __init__(self, experiment: Experiment) -> None:
        """For patterns of this experiment."""
        self._experiment, self._capacity = experiment, experiment.network.capacity
        self.num_of: dict[float, int] = {}

    def of(self, send_to: IntArray, stream: tuple[int, int]) -> FloatArray:
        """All connections of the pattern are under way at once. `stream`: of the draws of a routing that has some; for
        each stream of a seed they are the same every time.
        """
        experiment = self._experiment
        sender = np.flatnonzero(send_to != NO_RANK)
        from_host, to_host = experiment.port[sender], experiment.port[send_to[sender]]
        random = np.random.default_rng((experiment.seed, *stream))
        links = experiment.network.routes(experiment.routing, from_host, to_host, random)
        return congestion(links, self._capacity)

    def count(self, congestions: FloatArray) -> None:
        """Remembers values for `num_of`."""
        for value, num in zip(*(one.tolist() for one in np.unique(congestions, return_counts=True)), strict=True):
            self.num_of[value] = self.num_of.get(value, 0) + num


def congestion(links: IntArray, capacity: FloatArray) -> FloatArray:
    """c of every connection from the links of its route, [connections, most links]: flows / capacity on the busiest,
    at least 1. A connection without links (inside a host) shares none.
    """
    flows = np.bincount(links[links != NO_LINK], minlength=len(capacity))
    # The last place is where NO_LINK, -1, points to.
    load = np.append(flows / capacity, 0.0)
    return np.asarray(np.maximum(load[links].max(axis=1, initial=0.0), 1.0))


def simulate(
    experiment: Experiment,
    indices: Sequence[int] | Extent,
    named: Mapping[str, IntArray],
    on_pattern: OnPattern | None = None,
    progress: Progress | None = None,
    measured_nonce: str = "",
) -> SimulatedBisection:
    """Random patterns by their indices, or as many as are enough, and named ones by whom every rank sends to.
    `on_pattern` sees every random pattern first: its index, and whom every rank sends to.
    """
    of_pattern = Congestion(experiment)
    rows: list[tuple[int, float, float, float]] = []
    for index, send_to in _patterns(experiment, indices, rows):
        if on_pattern:
            on_pattern(index, send_to)
        found = of_pattern.of(send_to, (0, index))
        of_pattern.count(found)
        rows.append((index, *_values(found)))
        if progress:
            progress(len(rows) / (indices.rounds if isinstance(indices, Extent) else len(indices)))
    columns = np.array([row[1:] for row in rows], dtype=np.float64).reshape(len(rows), 3)
    relative_mean, relative_harmonic, worst = columns.T
    of_all = _of_all_connections(of_pattern.num_of)
    return SimulatedBisection(
        topology=experiment.network.name,
        routing=experiment.routing,
        seed=experiment.seed,
        num_ranks=experiment.participants.num_ranks,
        hosts=experiment.hosts,
        active_ranks_per_host=experiment.participants.active_ranks_per_host,
        within_hosts=experiment.participants.within_hosts,
        num_participants=experiment.participants.num_participants,
        pattern_index=np.array([row[0] for row in rows], dtype=np.int64),
        relative_mean=relative_mean,
        relative_harmonic=relative_harmonic,
        worst_congestion=worst,
        half_width=mean_interval(relative_mean).half_width,
        relative_median=of_all(0.5),
        relative_p05=of_all(0.05),
        relative_p01=of_all(0.01),
        relative_min=of_all(0.0),
        harmonic=_harmonic(of_pattern.num_of),
        named=tuple(
            _named(name, send_to, of_pattern.of(send_to, (1, number)))
            for number, (name, send_to) in enumerate(named.items())
        ),
        measured_nonce=measured_nonce,
    )


def _patterns(
    experiment: Experiment, wanted: Sequence[int] | Extent, rows: Sequence[tuple[int, float, float, float]]
) -> Iterator[tuple[int, IntArray]]:
    """Random ones with their indices; `rows` are those that are done, with their means in the second place."""
    indices = range(wanted.rounds) if isinstance(wanted, Extent) else wanted
    next_look = _MIN_PATTERNS
    for one in experiment.participants.random(experiment.seed, indices):
        yield one
        if isinstance(wanted, Extent) and len(rows) == next_look:
            interval = mean_interval(np.array([row[1] for row in rows]))
            if interval.half_width < wanted.precision * interval.mean:
                return
            next_look += next_look // 4


def _values(congestions: FloatArray) -> tuple[float, float, float]:
    """Mean of 1/c, 1 / mean of c, largest c; NaN without connections."""
    if not congestions.size:
        return math.nan, math.nan, math.nan
    return float(np.mean(1 / congestions)), float(1 / np.mean(congestions)), float(congestions.max())


def _named(name: str, send_to: IntArray, congestions: FloatArray) -> SimulatedPattern:
    return SimulatedPattern(name, int(np.count_nonzero(send_to != NO_RANK)), *_values(congestions))


def _harmonic(num_of: Mapping[float, int]) -> float:
    total = sum(value * num for value, num in num_of.items())
    return sum(num_of.values()) / total if total else math.nan


def _of_all_connections(num_of: Mapping[float, int]) -> Callable[[float], float]:
    """The quantile of 1/c, between order statistics as docs/metrics.md defines it."""
    congestions = sorted(num_of, reverse=True)
    shares = [1 / value for value in congestions]
    ends = np.cumsum([num_of[value] for value in congestions])

    def quantile(q: float) -> float:
        if not shares:
            return math.nan
        place = (int(ends[-1]) - 1) * q
        low, high = (
            shares[int(np.searchsorted(ends, at, side="right"))] for at in (math.floor(place), math.ceil(place))
        )
        return low + (high - low) * (place - math.floor(place))

    return quantile
