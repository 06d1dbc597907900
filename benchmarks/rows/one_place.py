# SPDX-License-Identifier: Apache-2.0
# Pairs of launches that found the two cores equally far from each other.
"""The host of a virtual machine moves its processors, most of all those that sleep: within a second the same two cores
share one core's caches, or a cache of several cores, or nothing. OnePlace keeps only pairs that it left alone."""

import contextlib

from .launch import NotMeasuredError, run
from .pairs import order_of, two_cores

MOST_ATTEMPTS = 10  # a pair that is wanted
SAME = 1.5  # the kinds of distance lie more than twice apart


class OnePlace:
    """The two cores that pairs.py binds to, and how far they are from each other."""

    def __init__(self, bench):
        self._cores = two_cores()
        source = "bare/core_distance.c"
        self._program = bench.compile("cc", source, "core_distance", ["-O2", "-D_GNU_SOURCE"], ["-pthread"])

    def in_turn(self, num_pairs, sides):
        """As bisection.in_turn(); a pair during which the cores were moved is made again."""
        found = ([], [])
        for _ in range(MOST_ATTEMPTS * num_pairs):
            with contextlib.suppress(MovedError):
                times = self._pair(order_of(len(found[0])), sides)
                for side in (0, 1):
                    found[side].append(times[side])
            if len(found[0]) == num_pairs:
                return found
        raise NotMeasuredError(
            f"the host of this machine keeps moving its cores: it left them alone for {len(found[0])} pairs of launches"
        )

    def _pair(self, order, sides):
        start_ns = self._distance_ns()
        times = {}
        for side in order:
            times[side] = sides[side]()
            end_ns = self._distance_ns()
            if max(start_ns, end_ns) > SAME * min(start_ns, end_ns):
                raise MovedError
        return times

    def _distance_ns(self):
        return float(run([self._program, *self._cores], limit_s=20).stdout)


class MovedError(Exception):
    """The cores were moved between two looks."""
