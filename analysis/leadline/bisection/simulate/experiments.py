# SPDX-License-Identifier: Apache-2.0
"""Ranks on the hosts of a network: some on each host in turn, or as they were in a measurement."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leadline.bisection.result import BisectionResult
from leadline.bisection.simulate.contention import Experiment
from leadline.bisection.simulate.network import Network, bad_topology
from leadline.bisection.simulate.patterns import Participants
from leadline.error import ExitStatus, LeadlineError
from leadline.model import IntArray
from leadline.settings import MOST_RANKS


def experiment_of_ranks(
    network: Network, routing: str | None, num_ranks: int | None, num_hosts: int | None, ranks_per_host: int, seed: int
) -> Experiment:
    """So many ranks on each of the first hosts. None = as many as the other number asks for, or the network has."""
    if num_ranks is not None:
        hosts_needed = -(-num_ranks // ranks_per_host)
    else:
        hosts_needed = network.num_hosts if num_hosts is None else num_hosts
        num_ranks = hosts_needed * ranks_per_host
    _expect_room(network, hosts_needed)
    if num_ranks > MOST_RANKS:
        raise bad_topology(f"{num_ranks:,} ranks are too many", f"a model has at most {MOST_RANKS:,}")
    port = np.arange(num_ranks, dtype=np.int64) // ranks_per_host
    names = network.host_names or tuple(f"host{host}" for host in range(hosts_needed))
    participants = Participants(tuple(port.tolist()), within_hosts=hosts_needed == 1)
    return Experiment(network, network.routing(routing), tuple(names[host] for host in port), port, participants, seed)


def experiment_of_result(network: Network, routing: str | None, result: BisectionResult) -> Experiment:
    """The ranks of a result where they were: its hosts on those of the network in the order of their lowest ranks or,
    where the network's have names, by these.
    """
    hosts = result.hosts
    if network.host_names:
        host_on = _by_name(network, hosts)
    else:
        _expect_room(network, len(hosts))
        host_on = np.arange(len(hosts), dtype=np.int64)
    participants = participants_of_result(result)
    names = tuple(place.host for place in result.ranks)
    return Experiment(network, network.routing(routing), names, host_on[result.host_index], participants, result.seed)


def participants_of_result(result: BisectionResult) -> Participants:
    """Those that had part in its patterns. LeadlineError where they are not as many as the file says."""
    participants = Participants(tuple(result.host_index.tolist()), result.active_ranks_per_host, result.within_hosts)
    expected = participants.num_participants
    if expected != result.num_participants:
        why = f"{result.num_participants} ranks take part, but its hosts and --active-ranks-per-host give {expected}"
        raise LeadlineError(f"cannot follow '{result.path}'", why, status=ExitStatus.RUN_FAILED)
    return participants


def _expect_room(network: Network, num_hosts: int) -> None:
    if num_hosts > network.num_hosts:
        why = f"{num_hosts:,} are needed, and it has {network.num_hosts:,}"
        raise bad_topology(f"--topology {network.name} has too few hosts", why, "Name a larger network")


def _by_name(network: Network, hosts: Sequence[str]) -> IntArray:
    """The network's host of each name; where a name is missing, the host of the same name up to the first dot will do,
    if there is one only.
    """
    full = {name: number for number, name in enumerate(network.host_names)}
    short: dict[str, list[int]] = {}
    for name, number in full.items():
        short.setdefault(name.partition(".")[0], []).append(number)
    found: list[int] = []
    for host in hosts:
        numbers = [full[host]] if host in full else short.get(host.partition(".")[0], [])
        if len(numbers) != 1:
            why = f"it has {'several hosts' if numbers else 'no host'} of the name {host}"
            raise bad_topology(
                f"the result does not fit the network '{network.name}'", why, "Name the hosts there as the result does"
            )
        found += numbers
    doubled = next((host for host, number in zip(hosts, found, strict=True) if found.count(number) > 1), None)
    if doubled is not None:
        why = f"several hosts of the result would be its {network.host_names[found[hosts.index(doubled)]]}"
        raise bad_topology(f"the result does not fit the network '{network.name}'", why)
    return np.array(found, dtype=np.int64)
