# SPDX-License-Identifier: Apache-2.0
"""Networks as a list of cables in a file (docs/how-to/simulate-a-bisection.md): shortest routes over any graph."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from leadline.bisection.simulate.network import MOST_HOSTS, NO_LINK, Network, bad_topology, expect_hops, joined
from leadline.error import LeadlineError
from leadline.model import FloatArray, IntArray
from leadline.program import output_of
from leadline.readers.sion import temporary_folder
from leadline.text_file import read_text

# Distances from all switches to those with hosts, and ports of all switches: at most so many.
_MOST_DISTANCES = 1 << 28
_MOST_PORTS = 1 << 26
_MOST_BYTES = 1 << 28
_EXAMPLE = "A line is: NODE NODE [CAPACITY]"
# Of Slurm's topology.conf, and of the output of ibnetdiscover.
_OTHER_FORM = re.compile(r"^\s*switchname=|^(vendid|devid|switchguid|caguid)=|^Switch\s+\d+\s", re.I | re.M)
_DEADLINE_S = 60


@dataclass(frozen=True)
class FileNetwork(Network):
    """Switches with numbers of their own; each host is at one of them. V = switches, P = ports of the largest."""

    names: tuple[str, ...]  # of the hosts
    link_capacity: FloatArray  # [links]
    switch_of: IntArray  # of each host
    neighbour: IntArray  # [V, P], the switch at the other end; -1 = no more
    link: IntArray  # [V, P], the link to it
    distance: NDArray[np.int32]  # [switches with hosts, V], hops to it
    row_of: IntArray  # [V], into `distance`

    @property
    def routings(self) -> tuple[str, ...]:
        """See Network."""
        return ("shortest", "ecmp")

    @property
    def capacity(self) -> FloatArray:
        """See Network."""
        return self.link_capacity

    @property
    def host_names(self) -> tuple[str, ...]:
        """See Network."""
        return self.names

    def inner_routes(
        self, routing: str, from_host: IntArray, to_host: IntArray, random: np.random.Generator
    ) -> IntArray:
        """Hop by hop for all connections at once. "shortest" counts on through the number of the destination: of n
        ports that lead nearer the one of number % n, and what is left of the number / n decides at the next such
        switch, so that a fat tree is routed as by d-mod-k.
        """
        at, row, number = self.switch_of[from_host], self.row_of[self.switch_of[to_host]], to_host.copy()
        left = self.distance[row, at].astype(np.int64)
        hops = []
        for _ in range(int(left.max(initial=0))):
            going = np.flatnonzero(left > 0)
            ports = self.neighbour[at[going]]
            nearer = (self.distance[row[going, None], ports] == left[going, None] - 1) & (ports >= 0)
            count = nearer.sum(axis=1)
            if routing == "ecmp":
                choice = random.integers(count)
            else:
                choice = number[going] % count
                number[going] //= count
            port = np.argmax(np.cumsum(nearer, axis=1) > choice[:, None], axis=1)
            hop = np.full(len(at), NO_LINK, dtype=np.int64)
            hop[going] = self.link[at[going], port]
            hops.append(hop)
            at[going] = ports[np.arange(len(going)), port]
            left[going] -= 1
        return joined(hops, len(to_host))


def file_network(path: Path) -> FileNetwork:
    """LeadlineError with the line for whatever is not a network of hosts that all reach each other."""
    cables = read_cables(path)
    num_hosts, hosts = len(cables.hosts), set(cables.hosts)
    switches = [node for node in range(len(cables.names)) if node not in hosts]
    host_index = {node: index for index, node in enumerate(cables.hosts)}
    switch_index = {node: index for index, node in enumerate(switches)}
    switch_of, host_capacity = np.full(num_hosts, -1, dtype=np.int64), np.ones(num_hosts)
    between: list[tuple[int, int, float]] = []
    for one, other, capacity, line in zip(cables.one, cables.other, cables.capacity, cables.line, strict=True):
        host, node = (one, other) if one in hosts else (other, one)
        if host not in hosts:
            between.append((switch_index[one], switch_index[other], capacity))
            continue
        if node in hosts:
            why = f"line {line}: both ends, {cables.names[one]} and {cables.names[other]}, are hosts"
            raise bad_topology(f"cannot use '{path}'", why, "Hosts are at switches")
        switch_of[host_index[host]], host_capacity[host_index[host]] = switch_index[node], capacity
    neighbour, link = _ports(path, len(switches), 2 * num_hosts, between)
    distance, row_of = _distances(path, neighbour, switch_of)
    _expect_connected(path, cables, distance[0], switch_of)
    expect_hops(str(path), num_hosts, int(distance.max()))
    # What one connection alone can use is the unit of all.
    inner = np.repeat([capacity for _, _, capacity in between], 2)
    capacities = np.concatenate([host_capacity, host_capacity, inner]) / host_capacity.min()
    names = tuple(cables.names[node] for node in cables.hosts)
    return FileNetwork(
        str(path), num_hosts, len(capacities), names, capacities, switch_of, neighbour, link, distance, row_of
    )


def _ports(
    path: Path, num_switches: int, first_link: int, between: list[tuple[int, int, float]]
) -> tuple[IntArray, IntArray]:
    """Of every switch, in the order of the file: the neighbours, and the links to them."""
    num_ports = np.zeros(num_switches, dtype=np.int64)
    for one, other, _ in between:
        num_ports[one] += 1
        num_ports[other] += 1
    most = int(num_ports.max(initial=0))
    if num_switches * most > _MOST_PORTS:
        raise bad_topology(f"cannot use '{path}'", f"{num_switches:,} switches of up to {most:,} ports are too many")
    neighbour = np.full((num_switches, most), -1, dtype=np.int64)
    link = np.full((num_switches, most), NO_LINK, dtype=np.int64)
    taken = np.zeros(num_switches, dtype=np.int64)
    for number, (one, other, _) in enumerate(between):
        for way, (start, end) in enumerate(((one, other), (other, one))):
            neighbour[start, taken[start]], link[start, taken[start]] = end, first_link + 2 * number + way
            taken[start] += 1
    return neighbour, link


def _distances(path: Path, neighbour: IntArray, switch_of: IntArray) -> tuple[NDArray[np.int32], IntArray]:
    """Hops from every switch to each one that has hosts, -1 = no way; and the row of each such switch."""
    goals = np.unique(switch_of)
    num_switches = len(neighbour)
    if len(goals) * num_switches > _MOST_DISTANCES:
        raise bad_topology(f"cannot use '{path}'", f"{num_switches:,} switches are too many")
    row_of = np.full(num_switches, -1, dtype=np.int64)
    row_of[goals] = np.arange(len(goals))
    distance = np.full((len(goals), num_switches), -1, dtype=np.int32)
    for row, goal in enumerate(goals.tolist()):
        front, hops = np.array([goal]), 0
        while front.size:
            distance[row, front] = hops
            hops += 1
            reached = neighbour[front].reshape(-1)
            reached = np.unique(reached[reached >= 0])
            front = reached[distance[row, reached] < 0]
    return distance, row_of


def _expect_connected(path: Path, cables: Cables, distance: NDArray[np.int32], switch_of: IntArray) -> None:
    unreachable = np.flatnonzero(distance[switch_of] < 0)
    if unreachable.size:
        # The first row is of the lowest switch with hosts.
        near = int(np.flatnonzero(distance[switch_of] >= 0)[0])
        one, other = (cables.names[cables.hosts[host]] for host in (near, int(unreachable[0])))
        raise bad_topology(
            f"cannot use '{path}'", f"no cables lead from {one} to {other}", "All hosts must reach each other"
        )


@dataclass
class Cables:
    """All that is in the file. Nodes are numbered in the order in which the cables name them."""

    names: list[str] = field(default_factory=list)
    one: list[int] = field(default_factory=list)
    other: list[int] = field(default_factory=list)
    capacity: list[float] = field(default_factory=list)
    line: list[int] = field(default_factory=list)  # from 1
    hosts: list[int] = field(default_factory=list)


def read_cables(path: Path) -> Cables:
    """LeadlineError with the line for whatever is none, a cable of a node to itself or one that is there already, and
    hosts that are not, or have more than one cable.
    """
    return _Reader(path).cables()


def _cables_in(path: Path) -> str:
    """A topology.conf or the output of ibnetdiscover as a list of cables: the program reads them."""
    problem = f"cannot use '{path}' as a network"
    with temporary_folder(problem, "Set TMPDIR to a folder with room for a list of cables") as folder:
        cables = folder / "cables"
        output_of(["cables", f"--output={cables}", "--quiet", "--", str(path)], problem, _DEADLINE_S)
        return cables.read_text(encoding="utf-8")


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path, self._number = path, 0
        self._cables = Cables()
        self._node_of: dict[str, int] = {}
        self._line_of: dict[tuple[int, int], int] = {}
        self._host_lines: dict[str, int] = {}  # name: line

    def cables(self) -> Cables:
        text = read_text(self._path, _MOST_BYTES, self._wrong, _EXAMPLE)
        if _OTHER_FORM.search(text):
            text = _cables_in(self._path)
        for line in text.splitlines():
            self._number += 1
            words = line.partition("#")[0].split()
            if words[:1] == ["hosts:"]:
                self._add_hosts(words[1:])
            elif words:
                self._add_cable(words)
        if not self._cables.one:
            raise self._wrong("it has no cable", _EXAMPLE)
        self._cables.hosts = self._hosts()
        return self._cables

    def _wrong(self, why: str, hint: str = "") -> LeadlineError:
        return bad_topology(f"cannot use '{self._path}' as a network", why, hint)

    def _wrong_line(self, why: str, hint: str = "", line: int | None = None) -> LeadlineError:
        return self._wrong(f"line {line or self._number}: {why}", hint)

    def _add_hosts(self, names: list[str]) -> None:
        for name in names:
            if name in self._host_lines:
                raise self._wrong_line(f"host {name} is named twice")
            self._host_lines[name] = self._number

    def _add_cable(self, words: list[str]) -> None:
        if not 2 <= len(words) <= 3:
            raise self._wrong_line(f"{len(words)} words", _EXAMPLE)
        if words[0] == words[1]:
            raise self._wrong_line(f"the cable leads from {words[0]} to itself")
        one, other = (self._node(name) for name in words[:2])
        ends = min(one, other), max(one, other)
        if ends in self._line_of:
            why = f"{words[0]} and {words[1]} have a cable in line {self._line_of[ends]} already"
            raise self._wrong_line(why, "One line is both ways; write several cables as one of more capacity")
        self._line_of[ends] = self._number
        self._cables.one.append(one)
        self._cables.other.append(other)
        self._cables.capacity.append(self._capacity(words[2]) if len(words) == 3 else 1.0)
        self._cables.line.append(self._number)

    def _node(self, name: str) -> int:
        if name not in self._node_of:
            self._node_of[name] = len(self._node_of)
            self._cables.names.append(name)
        return self._node_of[name]

    def _capacity(self, word: str) -> float:
        try:
            capacity = float(word)
        except ValueError:
            capacity = math.nan
        # Beyond this quotients of capacities are no numbers any more.
        if not 1e-100 < capacity < 1e100:
            raise self._wrong_line(f"'{word}' is no capacity", "It is a number above 0, in any unit")
        return capacity

    def _hosts(self) -> list[int]:
        """Those that are named, or else all with one cable."""
        num_cables = [0] * len(self._cables.names)
        for one, other in zip(self._cables.one, self._cables.other, strict=True):
            num_cables[one] += 1
            num_cables[other] += 1
        for name, line in self._host_lines.items():
            count = num_cables[self._node_of[name]] if name in self._node_of else 0
            if count != 1:
                raise self._wrong_line(f"host {name} has {count} cables", "A host has one", line)
        found = [self._node_of[name] for name in self._host_lines]
        found = found or [node for node, count in enumerate(num_cables) if count == 1]
        if not 2 <= len(found) <= MOST_HOSTS:
            why = f"it has {len(found)} hosts, which are {'named' if self._host_lines else 'nodes with one cable'}"
            raise self._wrong(why, "At least two are needed")
        return found
