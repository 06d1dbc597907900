# SPDX-License-Identifier: Apache-2.0
"""Fat trees of two and three levels, also tapered ones (fewer ways up than hosts)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leadline.bisection.simulate.network import NO_LINK, Network, expect_size, joined
from leadline.model import IntArray


@dataclass(frozen=True)
class FatTree(Network):
    """Leaves of `per_leaf` hosts; each has a link to every one of the `num_spines` spines of its pod; the j-th spine of
    every pod has a link to each of the j-th `num_cores` cores. A tree of two levels is one pod, without cores.
    """

    per_leaf: int
    num_leaves: int  # of a pod
    num_pods: int
    num_spines: int  # of a pod
    num_cores: int  # that a spine has links to; two levels: 0

    @property
    def routings(self) -> tuple[str, ...]:
        """See Network."""
        return ("d-mod-k", "ecmp")

    def inner_routes(
        self, routing: str, from_host: IntArray, to_host: IntArray, random: np.random.Generator
    ) -> IntArray:
        """See Network."""
        from_leaf, to_leaf = from_host // self.per_leaf, to_host // self.per_leaf
        from_pod, to_pod = from_leaf // self.num_leaves, to_leaf // self.num_leaves
        if routing == "ecmp":
            spine = random.integers(self.num_spines, size=len(to_host))
            core = random.integers(max(self.num_cores, 1), size=len(to_host))
        else:
            spine = to_host % self.num_spines
            # Hosts that share a spine are numbered on, so that they use all of its cores.
            core = to_host // self.num_spines % max(self.num_cores, 1)
        leaves = self.num_leaves * self.num_pods
        up = 2 * self.num_hosts
        down = up + leaves * self.num_spines
        hops = [up + from_leaf * self.num_spines + spine, down + to_leaf * self.num_spines + spine]
        hops = [np.where(from_leaf != to_leaf, hop, NO_LINK) for hop in hops]
        if self.num_pods > 1:
            core_up = down + leaves * self.num_spines
            core_down = core_up + self.num_pods * self.num_spines * self.num_cores
            far = [
                start + (pod * self.num_spines + spine) * self.num_cores + core
                for start, pod in ((core_up, from_pod), (core_down, to_pod))
            ]
            hops += [np.where(from_pod != to_pod, hop, NO_LINK) for hop in far]
        return joined(hops, len(to_host))


def fat_tree(name: str, extents: tuple[int, ...], num_spines: int | None, num_cores: int | None) -> FatTree:
    """Extents: hosts of a leaf, leaves (of a pod), pods if there are three levels. None = as many as are needed for
    full bandwidth.
    """
    per_leaf, num_leaves = extents[:2]
    num_pods = extents[2] if len(extents) == 3 else 1
    spines = num_spines or per_leaf
    cores = (num_cores or num_leaves) if len(extents) == 3 else 0
    num_hosts = per_leaf * num_leaves * num_pods
    num_links = 2 * (num_hosts + num_leaves * num_pods * spines + num_pods * spines * cores)
    expect_size(name, num_hosts, num_links)
    return FatTree(name, num_hosts, num_links, per_leaf, num_leaves, num_pods, spines, cores)
