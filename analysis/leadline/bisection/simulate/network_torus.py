# SPDX-License-Identifier: Apache-2.0
"""Tori: hosts on a grid whose ends are joined, each with a router that has a link either way in every dimension."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from leadline.bisection.simulate.network import NO_LINK, Network, expect_hops, expect_size, joined
from leadline.model import IntArray


@dataclass(frozen=True)
class Torus(Network):
    """The first dimension varies fastest. The link of router r in dimension d is number 2d (up) or 2d + 1 (down) of
    its own.
    """

    extents: tuple[int, ...]

    @property
    def routings(self) -> tuple[str, ...]:
        """See Network."""
        return ("dimension-order", "valiant")

    def inner_routes(
        self, routing: str, from_host: IntArray, to_host: IntArray, random: np.random.Generator
    ) -> IntArray:
        """See Network."""
        if routing == "dimension-order":
            return joined(self._leg(from_host, to_host), len(to_host))
        between = random.integers(self.num_hosts, size=len(to_host))
        return joined([*self._leg(from_host, between), *self._leg(between, to_host)], len(to_host))

    def _leg(self, start: IntArray, end: IntArray) -> list[IntArray]:
        """Hop by hop."""
        hops, stride, router = [], 1, start
        for dimension, extent in enumerate(self.extents):
            own, goal = router // stride % extent, end // stride % extent
            up = (goal - own) % extent
            # Half way round both are as short: every second router goes up, so that neither way is the busier.
            goes_up = (2 * up < extent) | ((2 * up == extent) & (own % 2 == 0))
            distance = np.where(goes_up, up, (extent - up) % extent)
            for _ in range(extent // 2):
                is_there = distance == 0
                link = 2 * self.num_hosts + (router * len(self.extents) + dimension) * 2 + ~goes_up
                hops.append(np.where(is_there, NO_LINK, link))
                after = (own + np.where(goes_up, 1, -1)) % extent
                router = np.where(is_there, router, router + (after - own) * stride)
                own, distance = np.where(is_there, own, after), np.where(is_there, 0, distance - 1)
            stride *= extent
        return hops


def torus(name: str, extents: tuple[int, ...]) -> Torus:
    """Of one dimension or more."""
    num_hosts = math.prod(extents)
    num_links = 2 * num_hosts * (1 + len(extents))
    expect_size(name, num_hosts, num_links)
    expect_hops(name, num_hosts, sum(extent // 2 for extent in extents))
    return Torus(name, num_hosts, num_links, extents)
