# SPDX-License-Identifier: Apache-2.0
"""Choices, defaults and limits that command lines and computations share. Imports nothing slow: a command line is
parsed, and its help printed, before numpy is loaded.
"""

from __future__ import annotations

from enum import Enum


class Statistic(str, Enum):
    """What is kept of the timed batches of an ordered pair; times are nanoseconds a message."""

    MEDIAN = "median"
    MIN = "min"
    MEAN = "mean"
    P99 = "p99"
    P999 = "p999"
    MAX = "max"


# Every routing of a simulated network by its name, and what it does.
ROUTINGS = {
    "d-mod-k": "each switch on the way up takes the port given by the number of the destination",
    "ecmp": "each connection takes one of the shortest routes at random",
    "minimal": "the one shortest route",
    "valiant": "each connection goes through a group, or host, chosen at random",
    "dimension-order": "along the first dimension, then the next, each in the shorter direction",
    "shortest": "the shortest route; if there are several, by the number of the destination",
}
MOST_RANKS = 1 << 24  # of a simulation
DEFAULT_ROUNDS = 1000  # random patterns of a simulation
MOST_ROUNDS = 10_000_000
DEFAULT_PRECISION = 0.01

# Swaps that the search for a placement tries: a number for each pair of ranks, up to a limit. Enough that more effort
# finds less than a per cent more; a few seconds.
EFFORT_PER_PAIR = 100
MOST_EFFORT = 200_000
PLACEMENT_TIME_LIMIT_S = 60.0
# All placements of so few ranks are tried: 8! = 40,320.
MOST_RANKS_EXHAUSTIVE = 8
