# SPDX-License-Identifier: Apache-2.0
"""The network in a result: which group of each level a host belongs to (docs/formats/hdf5.md, /network)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadline.readers.contents import DamagedError


def groups_of_hosts(network: Mapping[str, Any], num_hosts: int) -> tuple[tuple[int, ...], ...]:
    """For each level, innermost first, the number of the group of each host; empty where the file left them out.
    BAD_VALUES or DamagedError for what no network of so many hosts is.
    """
    levels = []
    for level in network.get("levels") or ():
        group_of = [-1] * num_hosts
        for group, ranges in enumerate(level["hosts"]):
            for host in _numbers(str(ranges), num_hosts):
                group_of[host] = group
        if -1 in group_of:
            raise DamagedError("the network has a host in no group")
        levels.append(tuple(group_of))
    return tuple(levels)


def _numbers(ranges: str, limit: int) -> list[int]:
    """Of `0-3,8`."""
    numbers: list[int] = []
    for part in ranges.split(",") if ranges else ():
        first, _, last = part.partition("-")
        low, high = int(first), int(last or first)
        if not 0 <= low <= high < limit:
            raise DamagedError(f"the network names the hosts {part} of {limit}")
        numbers += range(low, high + 1)
    return numbers
