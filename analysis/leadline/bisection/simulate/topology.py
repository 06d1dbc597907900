# SPDX-License-Identifier: Apache-2.0
"""Networks by a formula or a file: fat tree, dragonfly, torus; the words that choose one."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from leadline.bisection.simulate.network import NO_LINK, Network, bad_topology, expect_hops, expect_size, joined
from leadline.bisection.simulate.network_file import file_network
from leadline.error import LeadlineError
from leadline.model import IntArray

# By kind: how it is written, how many extents it has, and what may follow behind commas.
_KINDS: dict[str, tuple[str, range, tuple[str, ...]]] = {
    "fat-tree": ("fat-tree:HOSTSxLEAVES[xPODS][,spines=N][,cores=N]", range(2, 4), ("spines", "cores")),
    "dragonfly": ("dragonfly:H[,groups=G]", range(1, 2), ("groups",)),
    "torus": ("torus:XxYx...", range(1, 9), ()),
}
_NUMBER = re.compile("[1-9][0-9]{0,6}")


def parse_topology(word: str) -> Network:
    """The network that a user means. LeadlineError for what is none."""
    kind, colon, rest = word.partition(":")
    if kind in _KINDS:
        if not colon:
            raise _wrong(word, "it has no extents")
        extents, settings = _settings(word, rest)
        return _network(word, kind, extents, settings)
    path = Path(word)
    if not word or not path.exists():
        forms = ", ".join(form for form, _, _ in _KINDS.values())
        why = "neither a kind of network nor a file"
        raise bad_topology(f"--topology cannot be '{word}'", why, f"Write {forms}, or the name of a file")
    return file_network(path)


def _network(word: str, kind: str, extents: tuple[int, ...], settings: dict[str, int]) -> Network:
    if math.prod(extents) < 2 and kind != "dragonfly":
        raise _wrong(word, "it has one host")
    if kind == "torus":
        return torus(word, extents)
    if kind == "dragonfly":
        return dragonfly(word, extents[0], settings.get("groups"))
    if len(extents) == 2 and "cores" in settings:
        raise _wrong(word, "a tree of two levels has no cores")
    return fat_tree(word, extents, settings.get("spines"), settings.get("cores"))


def _settings(word: str, text: str) -> tuple[tuple[int, ...], dict[str, int]]:
    """The extents, and what is set behind them."""
    _, num_extents, known = _KINDS[word.partition(":")[0]]
    first, *others = text.split(",")
    extents = tuple(_number(word, one) for one in first.split("x"))
    if len(extents) not in num_extents:
        raise _wrong(word, f"it has {len(extents)} extents")
    settings: dict[str, int] = {}
    for other in others:
        name, _, value = other.partition("=")
        if name not in known:
            raise _wrong(word, f"'{other}' means nothing here")
        if name in settings:
            raise _wrong(word, f"{name} is given twice")
        settings[name] = _number(word, value)
    return extents, settings


def _number(word: str, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise _wrong(word, f"'{text}' is no number from 1 to 9999999")
    return int(text)


def _wrong(word: str, why: str) -> LeadlineError:
    return bad_topology(f"--topology cannot be '{word}'", why, f"Write {_KINDS[word.partition(':')[0]][0]}")


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
