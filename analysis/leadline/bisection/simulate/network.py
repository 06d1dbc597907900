# SPDX-License-Identifier: Apache-2.0
"""What a model of a network is: hosts, directed links with capacities, and the routes between hosts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leadline.error import ExitStatus, LeadlineError
from leadline.model import FloatArray, IntArray
from leadline.model.run import no_choice
from leadline.settings import ROUTINGS

NO_LINK = -1

# A model is plain arrays; beyond so many hosts or links they would fill the memory.
MOST_HOSTS = 1 << 21
MOST_LINKS = 1 << 26
_MOST_ROUTE_LINKS = 1 << 27


@dataclass(frozen=True)
class Network(ABC):
    """Every host has one port: link `host` leads from it into the network, link `num_hosts + host` back to it. All
    links are directed, a cable is two of them; the capacity of a host's link is 1, what one connection alone can use.
    """

    name: str  # as asked for
    num_hosts: int
    num_links: int

    @property
    @abstractmethod
    def routings(self) -> tuple[str, ...]:
        """Names of those that fit; the first is the usual one."""

    @abstractmethod
    def inner_routes(
        self, routing: str, from_host: IntArray, to_host: IntArray, random: np.random.Generator
    ) -> IntArray:
        """The links between switches of every connection, [connections, most hops]; NO_LINK where a route has fewer.
        No connection is from a host to itself.
        """

    @property
    def capacity(self) -> FloatArray:
        """Of every link, [num_links]."""
        return np.ones(self.num_links)

    @property
    def host_names(self) -> tuple[str, ...]:
        """Of every host; empty where hosts have numbers only."""
        return ()

    def routing(self, word: str | None) -> str:
        """A routing in a user's words, None = the usual one."""
        if word is None:
            return self.routings[0]
        if word not in ROUTINGS:
            raise no_choice("routing", word, ROUTINGS)
        if word not in self.routings:
            why = f"{self.name} is routed {' or '.join(self.routings)}"
            raise bad_topology(f"--routing {word} does not fit this network", why)
        return word

    def routes(self, routing: str, from_host: IntArray, to_host: IntArray, random: np.random.Generator) -> IntArray:
        """The directed links of every connection, those of the hosts included; NO_LINK fills up. A connection inside a
        host has none.
        """
        between = np.flatnonzero(from_host != to_host)
        start, end = from_host[between], to_host[between]
        inner = self.inner_routes(routing, start, end, random)
        found = np.full((len(from_host), inner.shape[1] + 2), NO_LINK, dtype=np.int64)
        found[between] = np.column_stack([start, self.num_hosts + end, inner])
        return found


def bad_topology(problem: str, why: str = "", hint: str = "") -> LeadlineError:
    """The user's mistake in naming a network, to be raised."""
    return LeadlineError(problem, why, hint, ExitStatus.BAD_COMMAND_LINE)


def expect_size(name: str, num_hosts: int, num_links: int) -> None:
    """LeadlineError for a network that no memory holds."""
    if num_hosts > MOST_HOSTS or num_links > MOST_LINKS:
        why = f"{num_hosts:,} hosts and {num_links:,} links; a model has at most {MOST_HOSTS:,} and {MOST_LINKS:,}"
        raise bad_topology(f"--topology {name} is too large", why)


def expect_hops(name: str, num_hosts: int, num_hops: int) -> None:
    """LeadlineError for a network whose routes no memory holds."""
    if num_hosts * num_hops > _MOST_ROUTE_LINKS:
        why = f"{num_hosts:,} hosts with routes of up to {num_hops:,} hops"
        raise bad_topology(f"--topology {name} is too large", why)


def joined(columns: Sequence[IntArray], num_connections: int) -> IntArray:
    """Links hop by hop as the routes of connections."""
    if not columns:
        return np.empty((num_connections, 0), dtype=np.int64)
    return np.column_stack(columns)
