# SPDX-License-Identifier: Apache-2.0
"""The simulated bisection test gives the reference values of its model, and says how well it knows them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from leadline.bisection.simulate.contention import Congestion, Extent, simulate
from leadline.bisection.simulate.experiments import experiment_of_ranks
from leadline.bisection.simulate.model import SimulatedBisection
from leadline.bisection.simulate.topology import parse_topology
from leadline.error import LeadlineError

pytestmark = pytest.mark.usefixtures("real_program")

# Relative eBB, spread between patterns, 1 / mean of c, mean of the worst c of a pattern; patterns to simulate.
REFERENCE = [
    ("fat-tree:8x8", "d-mod-k", 0.740, 0.066, 0.619, 3.2, 600),
    ("fat-tree:8x8", "ecmp", 0.595, 0.086, 0.486, 3.7, 600),
    ("fat-tree:8x16", "d-mod-k", 0.701, 0.045, 0.577, 3.7, 300),
    ("fat-tree:12x24", "d-mod-k", 0.679, 0.030, 0.550, 4.3, 100),
    ("fat-tree:18x36", "d-mod-k", 0.664, 0.021, 0.534, 4.8, 50),
    ("fat-tree:18x36", "ecmp", 0.511, 0.025, 0.423, 5.3, 50),
    ("fat-tree:24x27,spines=12", "d-mod-k", 0.403, 0.027, 0.346, 6.5, 50),
    ("fat-tree:8x8x16", "d-mod-k", 0.531, 0.018, 0.443, 5.1, 40),
    ("fat-tree:8x8x16", "ecmp", 0.405, 0.018, 0.358, 5.7, 40),
    ("fat-tree:12x12x24", "d-mod-k", 0.511, 0.010, 0.425, 5.9, 15),
    ("dragonfly:4", "minimal", 0.466, 0.024, 0.400, 5.0, 40),
    ("dragonfly:4", "valiant", 0.288, 0.021, 0.257, 7.6, 40),
    ("dragonfly:8", "minimal", 0.431, 0.006, 0.372, 6.6, 5),
    ("dragonfly:8", "valiant", 0.262, 0.0035, 0.240, 9.6, 5),
]


def simulated(
    topology: str, routing: str | None = None, rounds: int = 20, precision: float = 0.0, per_host: int = 1,
    num_ranks: int | None = None, num_hosts: int | None = None, seed: int = 1, names: tuple[str, ...] = (),
) -> SimulatedBisection:  # fmt: skip
    network = parse_topology(topology)
    experiment = experiment_of_ranks(network, routing, num_ranks, num_hosts, per_host, seed)
    named = experiment.participants.drawn(",".join(names), rounds=0).named if names else {}
    return simulate(experiment, Extent(rounds, precision), named)


@pytest.mark.parametrize(("topology", "routing", "ebb", "spread", "harmonic", "worst", "rounds"), REFERENCE)
def test_reference_values(
    topology: str, routing: str, ebb: float, spread: float, harmonic: float, worst: float, rounds: int
):
    found = simulated(topology, routing, rounds)
    # Both sides are means of some patterns; the reference has three digits.
    tolerance = 4 * spread / math.sqrt(rounds) + 0.002
    assert found.ebb == pytest.approx(ebb, rel=tolerance)
    assert found.harmonic == pytest.approx(harmonic, rel=1.3 * tolerance)
    # The worst of a pattern scatters by some 0.9.
    assert found.worst_congestion.mean() == pytest.approx(worst, abs=0.15 + 3.5 * 0.9 / math.sqrt(rounds))
    if rounds >= 40:
        assert np.std(found.relative_mean, ddof=1) / found.ebb == pytest.approx(spread, rel=0.35)


def test_what_is_said_of_one_small_network():
    """Two leaves of two hosts, one spine: a pattern is inside the leaves, or all four connections cross."""
    found = simulated("fat-tree:2x2,spines=1", rounds=300, names=("halves", "neighbour"))
    assert set(found.relative_mean.tolist()) == {1.0, 0.5}
    crossing = float(np.mean(found.relative_mean == 0.5))
    assert 0.55 < crossing < 0.78, "two of the three matchings cross"
    assert found.ebb == pytest.approx(1 - crossing / 2)
    assert found.harmonic == pytest.approx(1 / (1 + crossing))
    assert (found.relative_min, found.relative_median) == (0.5, 0.5)
    assert np.array_equal(found.worst_congestion, 1 / found.relative_mean)
    halves, neighbour = found.named
    assert (halves.name, halves.num_connections, halves.relative_mean, halves.worst_congestion) == ("halves", 4, 0.5, 2)
    assert (neighbour.relative_mean, neighbour.relative_harmonic, neighbour.worst_congestion) == (1, 1, 1)


def test_quantiles_lie_between_order_statistics():
    # One pattern over a tapered tree of three levels with many different c.
    found = simulated("fat-tree:4x4x4,spines=2,cores=1", rounds=1)
    experiment = experiment_of_ranks(parse_topology("fat-tree:4x4x4,spines=2,cores=1"), None, None, None, 1, 1)
    (send_to,) = experiment.participants.drawn("random", seed=1).send_to
    shares = (1 / Congestion(experiment).of(send_to, (0, 0))).tolist()
    assert found.relative_p05 == pytest.approx(np.quantile(shares, 0.05))
    assert found.relative_p01 == pytest.approx(np.quantile(shares, 0.01))
    assert found.relative_median == pytest.approx(np.quantile(shares, 0.5))
    assert found.relative_min == min(shares)
    assert found.relative_mean[0] == pytest.approx(np.mean(shares))


def test_the_same_seed_gives_the_same_and_another_one_another():
    one, again, other = (simulated("dragonfly:2", "valiant", seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.relative_mean, again.relative_mean)
    assert not np.array_equal(one.relative_mean, other.relative_mean)


def test_patterns_do_not_depend_on_how_many_there_are():
    few, many = simulated("fat-tree:4x4", "ecmp", 5), simulated("fat-tree:4x4", "ecmp", 30)
    assert np.array_equal(few.relative_mean, many.relative_mean[:5])


def test_it_stops_when_it_knows_enough():
    found = simulated("fat-tree:8x8", rounds=1000, precision=0.01)
    # It looks after 20 patterns and whenever there are a quarter more.
    assert found.num_patterns in (90, 112, 140, 175, 218, 272)
    assert found.half_width < 0.01 * found.ebb
    assert simulated("fat-tree:18x36", rounds=1000, precision=0.5).num_patterns == 20
    assert simulated("fat-tree:8x8", rounds=30, precision=0.0001).num_patterns == 30
    one = simulated("fat-tree:8x8", rounds=1)
    assert math.isnan(one.half_width)


def test_several_ranks_share_the_cable_of_their_host():
    found = simulated("fat-tree:4x4", per_host=2, rounds=50)
    assert (found.num_ranks, found.num_participants, len(set(found.hosts))) == (32, 32, 16)
    assert found.hosts[:3] == ("host0", "host0", "host1")
    assert found.relative_mean.max() <= 0.5
    assert not found.within_hosts


def test_ranks_of_one_host_meet_nobody():
    found = simulated("fat-tree:4x4", num_hosts=1, per_host=6)
    assert found.within_hosts
    assert found.ebb == 1
    assert found.half_width == 0


def test_hosts_and_ranks():
    assert simulated("fat-tree:4x4", num_hosts=5).num_ranks == 5
    partly = simulated("fat-tree:4x4", num_ranks=5, per_host=2)
    assert partly.hosts == ("host0", "host0", "host1", "host1", "host2")
    with pytest.raises(LeadlineError, match="too few hosts \\(17 are needed, and it has 16\\)"):
        simulated("fat-tree:4x4", num_hosts=17)
    with pytest.raises(LeadlineError, match="too few hosts"):
        simulated("fat-tree:4x4", num_ranks=33, per_host=2)
    with pytest.raises(LeadlineError, match="1 rank forms no pair"):
        simulated("fat-tree:4x4", num_hosts=1)
