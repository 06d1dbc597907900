# SPDX-License-Identifier: Apache-2.0
"""What makes times scatter, without any fault: jitter, spikes, drift, other jobs, launches, timers.

Kinds follow what is published of such clusters: noise of the operating system, a few per cent with rare interruptions
far beyond it (Petrini, Kerbyson, Pakin 2003; Hoefler, Schneider, Lumsdaine 2010), heavy tails under the load of other
jobs (Chunduri et al. 2017), scatter from launch to launch beyond that in one (Hunold, Carpen-Amarie 2016). Sizes are
chosen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Singles = npt.NDArray[np.float32]


# Until a lost message is sent again: the shortest timeout of InfiniBand adapters in use is about half a millisecond.
SENT_AGAIN_NS = 500_000.0


@dataclass(frozen=True)
class Noise:
    """Shares and standard deviations of natural logarithms, unless a unit says otherwise."""

    jitter: float = 0.03  # of a batch
    pair_scatter: float = 0.005  # of a pair in all its batches: lengths of cables, caches
    load_scatter: float = 0.0  # of a pair under load, its absolute value: none is faster than alone
    launch_scatter: float = 0.0  # of a host as long as the run lasts
    spike_share: float = 0.01  # of the batches
    spike_exponent: float = 1.5  # a spike multiplies by 1 + 0.5 · Pareto
    tail_rank_share: float = 0.0  # the same of batches with the first rank of a host, which serves interrupts
    drift: float = 0.0  # of all pairs of a round, autocorrelated
    drift_rounds: float = 30.0  # the rounds after which the correlation has fallen to 1/e
    neighbour_factor: float = 1.0  # of pairs that leave some hosts, during a share of the rounds
    neighbour_share: float = 0.1
    timer_step_ns: float = 0.0
    messages_per_batch: int = 5


QUIET = Noise()
# Several of them at once, each at the size that a busy cluster shows.
BUSY = Noise(jitter=0.04, launch_scatter=0.01, tail_rank_share=0.1, drift=0.02)


def drift_of_rounds(noise: Noise, num_rounds: int, generator: np.random.Generator) -> Singles:
    """A factor for each round: the exponential of an autoregression of first order."""
    if noise.drift == 0 or num_rounds == 0:
        return np.ones(num_rounds, dtype=np.float32)
    kept = np.exp(-1 / noise.drift_rounds)
    steps = generator.standard_normal(num_rounds) * noise.drift * np.sqrt(1 - kept**2)
    steps[0] = generator.standard_normal() * noise.drift
    value, factors = 0.0, np.empty(num_rounds)
    for number, step in enumerate(steps):
        value = kept * value + step
        factors[number] = value
    return np.exp(factors).astype(np.float32)


def batches(
    base_ns: Singles,
    has_tail: npt.NDArray[np.bool_],
    lost: Singles | None,
    noise: Noise,
    num: int,
    generator: np.random.Generator,
) -> Singles:
    """Mean times of a message in so many batches of each base time, [num, ...base]; `lost`: the share of messages."""
    shape = (num, *base_ns.shape)
    times = generator.standard_normal(shape, dtype=np.float32)
    times *= np.float32(noise.jitter)
    np.exp(times, out=times)
    times *= base_ns
    if noise.pair_scatter > 0:
        times *= np.exp(generator.standard_normal(base_ns.shape, dtype=np.float32) * np.float32(noise.pair_scatter))
    if noise.load_scatter > 0:
        scatter = generator.standard_normal(base_ns.shape, dtype=np.float32) * np.float32(noise.load_scatter)
        times *= np.exp(np.abs(scatter))
    _add_spikes(times, np.broadcast_to(base_ns > 0, shape), noise.spike_share, noise, generator)
    if noise.tail_rank_share > 0:
        _add_spikes(times, np.broadcast_to(has_tail, shape), noise.tail_rank_share, noise, generator)
    if lost is not None:
        num_lost = generator.binomial(noise.messages_per_batch, np.broadcast_to(lost, shape))
        times += num_lost.astype(np.float32) * np.float32(SENT_AGAIN_NS / noise.messages_per_batch)
    if noise.timer_step_ns > 0:
        step = np.float32(noise.timer_step_ns / noise.messages_per_batch)
        # Where the batch begins between two steps of the timer is random: rounded up or down by chance.
        times += generator.random(shape, dtype=np.float32) * step
        times = np.maximum(np.floor(times / step), 1) * step
    return times


def _add_spikes(
    times: Singles, where: npt.NDArray[np.bool_], share: float, noise: Noise, generator: np.random.Generator
) -> None:
    if share <= 0:
        return
    flat = times.reshape(-1)
    at = generator.integers(0, flat.size, generator.binomial(flat.size, share))
    at = at[where.reshape(-1)[at]] if not where.all() else at
    flat[at] *= 1 + np.float32(0.5) * generator.pareto(noise.spike_exponent, at.size).astype(np.float32)
