# SPDX-License-Identifier: Apache-2.0
"""The plain rules do what their descriptions say."""

from __future__ import annotations

import numpy as np
import pytest
from baselines import RULES, Matrix, judged_matrix
from findings import Finding

KIB, MIB = 1 << 10, 1 << 20
NUM_HOSTS, RANKS = 8, 2
HOSTS = [f"h{rank // RANKS}" for rank in range(NUM_HOSTS * RANKS)]


def sound() -> Matrix:
    """1 us with a scatter of one per cent; 0 on the diagonal."""
    times = 1000 * np.exp(0.01 * np.random.default_rng(1).standard_normal((len(HOSTS), len(HOSTS))))
    np.fill_diagonal(times, 0)
    return times


def slow_host(factor: float) -> Matrix:
    """Host 3."""
    times = sound()
    times[6:8, :] *= factor
    times[:, 6:8] *= factor
    return times


@pytest.mark.parametrize("name", RULES)
def test_sound_clusters_are_sound(name: str) -> None:
    assert judged_matrix(name, sound(), HOSTS, KIB) == []


@pytest.mark.parametrize("name", RULES)
def test_a_host_that_takes_three_times_as_long_is_named(name: str) -> None:
    assert judged_matrix(name, slow_host(3), HOSTS, KIB) == [Finding("host", frozenset(["h3"]))]


@pytest.mark.parametrize("name", RULES)
def test_one_rank_a_host_will_do(name: str) -> None:
    times = slow_host(3)[::2, ::2]
    assert judged_matrix(name, times, HOSTS[::2], KIB) == [Finding("host", frozenset(["h3"]))]


def test_medians_name_a_rank_beside_a_sound_one() -> None:
    times = sound()
    times[6, :] *= 2
    times[:, 6] *= 2
    found = judged_matrix("medians", times, HOSTS, KIB)
    assert Finding("rank", frozenset(["h3"]), ranks=frozenset([6])) in found


def test_medians_hold_with_three_bad_of_eight() -> None:
    times = sound()
    bad = [0, 1, 6, 7, 10, 11]
    times[bad, :] *= 2
    times[:, bad] *= 2
    found = judged_matrix("medians", times, HOSTS, KIB)
    assert found == [Finding("host", frozenset([name])) for name in ("h0", "h3", "h5")]


@pytest.mark.parametrize(("size", "factor", "is_named"), [(KIB, 2.3, True), (KIB, 2.0, False), (MIB, 1.15, True)])
def test_clusterkit_s_limits(size: int, factor: float, is_named: bool) -> None:
    """2.1 times the least latency; 93 % of the greatest bandwidth, which scatter must not reach."""
    found = judged_matrix("clusterkit", slow_host(factor), HOSTS, size)
    assert (Finding("host", frozenset(["h3"])) in found) == is_named


def test_clusterkit_names_a_bad_pair() -> None:
    times = sound()
    times[0:2, 4:6] *= 3
    times[4:6, 0:2] *= 3
    assert judged_matrix("clusterkit", times, HOSTS, KIB) == [Finding("link", frozenset(["h0"]), frozenset(["h2"]))]


def test_slow_with_half_is_not_slow_with_all() -> None:
    times = sound()
    times[6:8, :8] *= 3
    times[:8, 6:8] *= 3
    assert judged_matrix("with all", times, HOSTS, KIB) == []
