# SPDX-License-Identifier: Apache-2.0
"""The patterns of the bisection test, which the program `leadline` draws: equal participants, seed and index give equal
patterns.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leadline.model import IntArray
from leadline.program import output_of, unusable
from leadline.readers.sion import temporary_folder

_PROBLEM = "cannot draw the patterns"
_DEADLINE_S = 600.0
# Of a table that is asked for at once, beginning with few: more may not be needed.
_MOST_CELLS = 1 << 23
_FIRST_ROUNDS = 32


@dataclass(frozen=True)
class Drawn:
    """Whom every rank sends to, NO_RANK = it is idle: named patterns, then random ones."""

    num_participants: int
    names: tuple[str, ...]
    has_random: bool
    send_to: IntArray  # [patterns, ranks]

    @property
    def named(self) -> dict[str, IntArray]:
        """The named patterns."""
        return dict(zip(self.names, self.send_to, strict=False))


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

    @cached_property
    def num_participants(self) -> int:
        """LeadlineError where they are fewer than two."""
        return self.drawn("random", rounds=0).num_participants

    def random(self, seed: int, indices: Sequence[int]) -> Iterator[tuple[int, IntArray]]:
        """Random patterns, each with its index; indices rise."""
        place, rounds = 0, _FIRST_ROUNDS
        while place < len(indices):
            first = indices[place]
            rounds = min(rounds, max(1, _MOST_CELLS // self.num_ranks), indices[-1] - first + 1)
            send_to = self.drawn("random", seed, first, rounds).send_to
            while place < len(indices) and indices[place] < first + rounds:
                yield indices[place], send_to[indices[place] - first]
                place += 1
            rounds *= 2

    def drawn(self, pattern: str, seed: int = 1, first: int = 0, rounds: int = 1) -> Drawn:
        """Those that a list of names on a command line stands for; where random is one, so many of a seed."""
        words = [f"--pattern={pattern}", f"--seed={seed}", f"--first={first}", f"--rounds={rounds}"]
        words.append(f"--active-ranks-per-host={self.active_ranks_per_host}")
        if self.within_hosts:
            words.append("--within-hosts")
        with temporary_folder(_PROBLEM, "Set TMPDIR to a folder with room for a table of them") as folder:
            hosts, table = folder / "hosts", folder / "patterns.npy"
            hosts.write_text("".join(f"{host}\n" for host in self.host_of))
            words += [f"--output={table}", "--json", "--", str(hosts)]
            program, output = output_of(["patterns", *words], _PROBLEM, _DEADLINE_S)
            try:
                said, send_to = json.loads(output), np.load(table, allow_pickle=False)
                names = tuple(name for name in said["patterns"] if name != "random")
                drawn = Drawn(said["num_participants"], names, "random" in said["patterns"], send_to)
            except (OSError, LookupError, TypeError, ValueError, EOFError) as error:
                raise unusable(program, error) from error
        shape = (len(drawn.names) + rounds * drawn.has_random, self.num_ranks)
        if send_to.shape != shape or send_to.dtype != np.int32:
            raise unusable(program, ValueError(f"it is no table of {self.num_ranks} ranks"))
        return drawn
