# SPDX-License-Identifier: Apache-2.0
"""Each kind of noise does what its name says, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import networks
import numpy as np
import pytest
from cluster import Cluster, Layout
from measuring import Plan, measure
from noise import SENT_AGAIN_NS, Noise, Singles, batches, drift_of_rounds

STILL = Noise(jitter=0, pair_scatter=0, spike_share=0)
NUM = 1000


def some(noise: Noise, *, has_tail: bool = False, lost: float = 0) -> Singles:
    base = np.full((100,), 1500, dtype=np.float32)
    share = np.full(base.shape, lost, dtype=np.float32) if lost else None
    return batches(base, np.full(base.shape, has_tail), share, noise, NUM, np.random.default_rng(1))


def test_without_noise_every_time_is_the_base() -> None:
    assert some(STILL) == pytest.approx(np.full((NUM, 100), 1500))


def test_jitter_is_a_standard_deviation_of_logarithms() -> None:
    logs = np.log(some(replace(STILL, jitter=0.05)))
    assert logs.std() == pytest.approx(0.05, rel=0.03)


def test_a_pair_keeps_its_own_scatter() -> None:
    times = some(replace(STILL, pair_scatter=0.05))
    assert np.log(times[0]).std() == pytest.approx(0.05, rel=0.2)
    assert (times == times[0]).all()


def test_spikes_have_their_share_and_a_heavy_tail() -> None:
    times = some(replace(STILL, spike_share=0.05))
    assert np.mean(times > 1501) == pytest.approx(0.05, abs=0.01)
    assert times.max() > 20 * 1500


def test_only_pairs_of_the_first_rank_of_a_host_have_its_tail() -> None:
    noise = replace(STILL, tail_rank_share=0.2)
    assert np.mean(some(noise, has_tail=True) > 1501) == pytest.approx(0.2, abs=0.03)
    assert some(noise) == pytest.approx(np.full((NUM, 100), 1500))


def test_a_timer_of_1_us_leaves_few_values() -> None:
    values = np.unique(some(replace(STILL, timer_step_ns=1000)))
    assert values.tolist() == [1400, 1600]  # five messages a batch: steps of 200 ns


def test_drift_is_autocorrelated_and_as_large_as_it_says() -> None:
    noise = replace(STILL, drift=0.05, drift_rounds=30)
    logs = np.log(drift_of_rounds(noise, 20_000, np.random.default_rng(1)).astype(float))
    assert logs.std() == pytest.approx(0.05, rel=0.1)
    assert np.corrcoef(logs[:-30], logs[30:])[0, 1] == pytest.approx(1 / np.e, abs=0.1)


def test_lost_messages_come_late_and_medians_do_not_show_it() -> None:
    times = some(STILL, lost=0.01)
    late = 1500 + SENT_AGAIN_NS / STILL.messages_per_batch
    assert np.mean(times > 1501) == pytest.approx(1 - 0.99**5, abs=0.01)
    assert times.min() == 1500 and late in times
    assert np.median(times) == 1500


def test_a_neighbour_disturbs_some_hosts_for_a_while() -> None:
    noise = replace(STILL, neighbour_factor=3.0, neighbour_share=0.2)
    got = measure(Cluster(networks.star(16), Layout()), [], noise, Plan(num_batches=1)).slices[0]
    slow = np.argwhere(got.times_ns["median"] > 2 * 1500)
    assert 0 < len(slow) < 0.2 * 16 * 15
    assert all(one.alone_ns < 2 * 1500 for one in got.retests)


def test_launches_scatter_hosts() -> None:
    noise = replace(STILL, launch_scatter=0.1)
    got = measure(Cluster(networks.star(16), Layout(2)), [], noise, Plan(num_batches=1)).slices[0].times_ns["median"]
    of_host = np.array([np.median(got[2 * host : 2 * host + 2, :][got[2 * host : 2 * host + 2, :] > 0])
                        for host in range(16)])  # fmt: skip
    assert of_host.std() / of_host.mean() > 0.02
    assert np.abs(got[0, 4] / got[1, 5] - 1) < 1e-6
