# SPDX-License-Identifier: Apache-2.0
"""The lines of a network's file: cables, each between two nodes, and which nodes are hosts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from leadline.bisection.simulate.network import MOST_HOSTS, bad_topology
from leadline.error import LeadlineError
from leadline.text_file import read_text

_MOST_BYTES = 1 << 28
_EXAMPLE = "A line is: NODE NODE [CAPACITY]"


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


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path, self._number = path, 0
        self._cables = Cables()
        self._node_of: dict[str, int] = {}
        self._line_of: dict[tuple[int, int], int] = {}
        self._host_lines: dict[str, int] = {}  # name: line

    def cables(self) -> Cables:
        for line in read_text(self._path, _MOST_BYTES, self._wrong, _EXAMPLE).splitlines():
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
