# SPDX-License-Identifier: Apache-2.0
"""Balanced dragonflies (Kim et al. 2008): routers of a group are all linked to each other, and so are the groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leadline.bisection.simulate.network import NO_LINK, Network, bad_topology, expect_size, joined
from leadline.model import IntArray


@dataclass(frozen=True)
class Dragonfly(Network):
    """h hosts and h global links a router, 2h routers a group; any two routers of a group have a link, any two groups
    `num_parallel`. Global link number p of a group (router p // h) leads p // num_parallel + 1 groups further on.
    """

    per_router: int  # h
    num_groups: int
    num_parallel: int  # 1 in the largest dragonfly of its h

    @property
    def routings(self) -> tuple[str, ...]:
        """See Network."""
        return ("minimal", "valiant")

    @property
    def num_routers(self) -> int:
        """Of a group."""
        return 2 * self.per_router

    def inner_routes(
        self, routing: str, from_host: IntArray, to_host: IntArray, random: np.random.Generator
    ) -> IntArray:
        """See Network."""
        from_router, to_router = from_host // self.per_router, to_host // self.per_router
        cable = to_host % self.num_parallel
        if routing == "minimal":
            hops, reached = self._to_group(from_router, to_router // self.num_routers, cable)
            return joined([*hops, self._local(reached, to_router)], len(to_host))
        # Any group, also one of the two at the ends; inside a group there is nothing to spread.
        own, goal = from_router // self.num_routers, to_router // self.num_routers
        between = np.where(own != goal, random.integers(self.num_groups, size=len(to_host)), goal)
        hops, reached = self._to_group(from_router, between, cable)
        more, reached = self._to_group(reached, goal, cable)
        return joined([*hops, *more, self._local(reached, to_router)], len(to_host))

    def _to_group(self, router: IntArray, group: IntArray, cable: IntArray) -> tuple[list[IntArray], IntArray]:
        """The local and the global link from a router to a group, and the router that is reached; those that are in
        the group stay where they are.
        """
        own = router // self.num_routers
        is_away = own != group
        steps = (group - own) % self.num_groups - 1  # -1 where they stay
        port = np.where(is_away, steps * self.num_parallel + cable, 0)
        exit_router = np.where(is_away, own * self.num_routers + port // self.per_router, router)
        back = (self.num_groups - 2 - steps) * self.num_parallel + cable
        entry = np.where(is_away, group * self.num_routers + back // self.per_router, router)
        ports = self.num_routers * self.per_router
        far = 2 * self.num_hosts + self.num_groups * self.num_routers**2 + own * ports + port
        return [self._local(router, exit_router), np.where(is_away, far, NO_LINK)], entry

    def _local(self, start: IntArray, end: IntArray) -> IntArray:
        """The link between two routers of a group."""
        link = 2 * self.num_hosts + start * self.num_routers + end % self.num_routers
        return np.where(start != end, link, NO_LINK)


def dragonfly(name: str, per_router: int, num_groups: int | None) -> Dragonfly:
    """None = as many groups as the global links allow."""
    most = 2 * per_router**2 + 1
    groups = num_groups or most
    if groups > most:
        raise bad_topology(
            f"--topology {name} has too many groups", f"{2 * per_router**2} global links a group join at most {most}"
        )
    num_hosts = groups * 2 * per_router**2
    # Some are to no other router or group; they have numbers but no traffic.
    num_links = 2 * num_hosts + groups * (4 * per_router**2 + 2 * per_router**2)
    expect_size(name, num_hosts, num_links)
    parallel = 2 * per_router**2 // (groups - 1) if groups > 1 else 1
    return Dragonfly(name, num_hosts, num_links, per_router, groups, parallel)
