# SPDX-License-Identifier: Apache-2.0
"""The random patterns of engine/schedule/pattern.cpp: equal participants, seed and index give equal patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leadline.error import ExitStatus, LeadlineError
from leadline.model import NO_RANK, IntArray
from leadline.simulate.random import Random

_RANDOM_PATTERN_STREAM = 1 << 61


@dataclass(frozen=True)
class Participants:
    """Who takes part in random patterns, and what pairs they may have."""

    host_of: tuple[int, ...]  # host index of every rank
    active_ranks_per_host: int = 0  # so many ranks of each host take part, those with the lowest numbers; 0 = all
    within_hosts: bool = False  # pairs on one host are as good as others

    @property
    def num_ranks(self) -> int:
        """Of all, also those that take no part."""
        return len(self.host_of)

    def ranks(self) -> tuple[int, ...]:
        """Those that take part, rising; LeadlineError where they are fewer than two."""
        found, num_of_host = [], dict.fromkeys(self.host_of, 0)
        for rank, host in enumerate(self.host_of):
            num_of_host[host] += 1
            if not self.active_ranks_per_host or num_of_host[host] <= self.active_ranks_per_host:
                found.append(rank)
        if len(found) < 2:
            hint = "Take at least 2 ranks" if self.num_ranks < 2 else "Let more ranks of a host take part"
            raise LeadlineError(
                f"{len(found)} ranks form no pair", "a pair needs two", hint, ExitStatus.BAD_COMMAND_LINE
            )
        return tuple(found)


def random_pattern(participants: Participants, ranks: Sequence[int], seed: int, index: int) -> IntArray:
    """Where every rank sends to, NO_RANK = it is idle; `ranks` are those of participants.ranks(). Same random numbers
    in the same order as in the engine, whose comments say why.
    """
    random = Random(seed, _RANDOM_PATTERN_STREAM + index)
    seats = list(ranks)
    random.shuffle(seats)
    if not participants.within_hosts:
        _part_hosts(seats, participants.host_of)
    half = len(seats) // 2
    first, second = np.array(seats[:half], dtype=np.int64), np.array(seats[half : 2 * half], dtype=np.int64)
    if not participants.within_hosts:
        host_of = np.array(participants.host_of)
        apart = host_of[first] != host_of[second]
        first, second = first[apart], second[apart]
    send_to = np.full(participants.num_ranks, NO_RANK, dtype=np.int64)
    send_to[first], send_to[second] = second, first
    return send_to


def _part_hosts(seats: list[int], host_of: Sequence[int]) -> None:
    """Parts the pairs (i, i + half) on one host, as many as can be."""
    half = len(seats) // 2
    num_seconds = len(seats) - half
    host = [host_of[rank] for rank in seats]
    place = 0  # that the next search looks at first
    for pair in range(half):
        own = host[pair]
        if own != host[pair + half]:
            continue
        for _ in range(num_seconds):
            other, place = place, (place + 1) % num_seconds
            if host[other + half] != own and (other == half or host[other] != own):
                break
        else:
            return
        one, two = pair + half, other + half
        seats[one], seats[two] = seats[two], seats[one]
        host[one], host[two] = host[two], host[one]
