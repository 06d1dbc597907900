# SPDX-License-Identifier: Apache-2.0
"""Communication patterns: how many messages each rank sends to each other, in which stage."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leadline.error import ExitStatus, LeadlineError
from leadline.model import BoolArray, IntArray, Record, Table

# Stands for the message size that is chosen for the whole pattern.
CHOSEN_SIZE = -1
NAMES = "ring, halo-2d, halo-3d, all-to-all, tree"


@dataclass(frozen=True, repr=False)
class Messages(Table):
    """M entries, each for some messages of one size from one rank to another in one stage; no entry is there twice."""

    stage: IntArray  # [M]
    from_rank: IntArray  # [M]
    to_rank: IntArray  # [M]
    count: IntArray  # [M], at least 1
    size_bytes: IntArray  # [M], or CHOSEN_SIZE


@dataclass(frozen=True, repr=False)
class Pattern(Record):
    """A pattern of `num_ranks` ranks. Its stages run one after another; messages of a stage run at once."""

    name: str  # with the extents that were chosen
    num_ranks: int
    num_stages: int
    messages: Messages | None  # None: all-to-all, in whose stage s rank i sends one message to i + s + 1 (modulo ranks)
    extents: tuple[int, ...] = ()  # of a grid; the first varies fastest

    @property
    def num_messages(self) -> int:
        """Of all ranks in all stages."""
        if self.messages is None:
            return self.num_ranks * (self.num_ranks - 1)
        return int(self.messages.count.sum())


def messages_of(
    from_rank: Sequence[int] | IntArray, to_rank: Sequence[int] | IntArray,
    stage: Sequence[int] | IntArray | None = None, count: Sequence[int] | IntArray | None = None,
    size_bytes: Sequence[int] | IntArray | None = None,
) -> Messages:  # fmt: skip
    """Entries of one length: without a stage all in stage 0, without a count one message, without a size the chosen
    one. Entries of the same ranks, stage and size become one.
    """
    num = len(from_rank)
    keys = np.empty((num, 4), dtype=np.int64)
    keys[:, 0] = 0 if stage is None else stage
    keys[:, 1], keys[:, 2] = from_rank, to_rank
    keys[:, 3] = CHOSEN_SIZE if size_bytes is None else size_bytes
    counts = np.ones(num, dtype=np.int64) if count is None else np.asarray(count, dtype=np.int64)
    keys, inverse = np.unique(keys, axis=0, return_inverse=True)
    merged = np.zeros(len(keys), dtype=np.int64)
    np.add.at(merged, inverse.reshape(-1), counts)
    return Messages(keys[:, 0], keys[:, 1], keys[:, 2], merged, keys[:, 3])


def bad_pattern(problem: str, why: str = "", hint: str = "") -> LeadlineError:
    """The error for a pattern that is none, to be raised."""
    return LeadlineError(problem, why, hint, ExitStatus.BAD_COMMAND_LINE)


def ring(num_ranks: int) -> Pattern:
    """Every rank sends to the next one; one stage."""
    ranks = np.arange(num_ranks)
    return Pattern("ring", num_ranks, 1, messages_of(ranks, (ranks + 1) % num_ranks))


def all_to_all(num_ranks: int) -> Pattern:
    """Pairwise: in stage s (from 1) rank i sends to i + s and receives from i - s."""
    return Pattern("all-to-all", num_ranks, num_ranks - 1, None)


def halo(extents: Sequence[int], is_periodic: bool = False) -> Pattern:
    """Every rank of a grid sends to its neighbours either way in every dimension; one stage. The first extent varies
    fastest. With ends joined, both neighbours in an extent of 2 are the same rank, which gets two messages.
    """
    num_ranks = math.prod(extents)
    ranks, stride = np.arange(num_ranks), 1
    ends: list[tuple[IntArray, IntArray]] = []
    for extent in extents:
        position = ranks // stride % extent
        for step in (1, -1):
            goal = position + step
            is_there: BoolArray = np.full(num_ranks, extent > 1) if is_periodic else (goal >= 0) & (goal < extent)
            neighbour = ranks + (goal % extent - position) * stride
            ends.append((ranks[is_there], neighbour[is_there]))
        stride *= extent
    name = f"halo-{len(extents)}d:{'x'.join(map(str, extents))}{',periodic' if is_periodic else ''}"
    from_rank, to_rank = (np.concatenate(some) for some in zip(*ends, strict=True))
    return Pattern(name, num_ranks, 1, messages_of(from_rank, to_rank), tuple(extents))


def tree(num_ranks: int, arity: int | None = None) -> Pattern:
    """From rank 0 to all. Without an arity binomial, as MPI libraries broadcast: the parent of a rank is the rank
    without its lowest one bit, and far ranks come first, a stage for each distance. With arity K rank i sends to
    K·i + 1 ... K·i + K, a stage for each level.
    """
    ranks = np.arange(1, num_ranks)
    if arity is None:
        lowest = ranks & -ranks
        num_stages = (num_ranks - 1).bit_length()
        stage = num_stages - 1 - np.log2(lowest).astype(np.int64)
        return Pattern("tree", num_ranks, num_stages, messages_of(ranks - lowest, ranks, stage))
    level = np.zeros(num_ranks, dtype=np.int64)
    for rank in range(1, num_ranks):
        level[rank] = level[(rank - 1) // arity] + 1
    stages = messages_of((ranks - 1) // arity, ranks, level[1:] - 1)
    return Pattern(f"tree:{arity}", num_ranks, int(level[-1]), stages)


def even_extents(num_ranks: int, num_dimensions: int) -> tuple[int, ...]:
    """The most cubic grid: the largest extent as small as can be, then the next; largest first, as in the engine."""

    def search(product: int, num: int, limit: int) -> tuple[int, ...] | None:
        if num == 0:
            return () if product == 1 else None
        for extent in range(1, min(product, limit) + 1):
            rest = None if product % extent else search(product // extent, num - 1, extent)
            if rest is not None:
                return (extent, *rest)
        return None

    found = search(num_ranks, num_dimensions, num_ranks)
    assert found is not None, "a grid of N x 1 is always there"
    return found


def named_pattern(word: str, num_ranks: int) -> Pattern | None:
    """A pattern by its name, as `halo-2d:8x4,periodic`; None where the word does not begin as one. LeadlineError for a
    name with a mistake behind it, and for a pattern that so many ranks do not have.
    """
    family = re.match(r"[^:,]*", word)
    name = family[0] if family else ""
    if name not in NAMES.split(", "):
        return None
    if num_ranks < 2:
        raise bad_pattern("one rank has no other rank to send to", hint="Measure at least two ranks")
    tail = word[len(name) :]
    if name.startswith("halo-"):
        return _halo_of(word, tail, int(name[5]), num_ranks)
    if name == "tree" and tail:
        match = re.fullmatch(r":([0-9]{1,9})", tail)
        if not match or int(match[1]) < 2:
            raise bad_pattern(f"there is no pattern {word}", "a tree has an arity of 2 or more", "Write tree or tree:4")
        return tree(num_ranks, int(match[1]))
    if tail:
        raise bad_pattern(f"there is no pattern {word}", f"{name} has nothing behind its name", f"Write {name}")
    return {"ring": ring, "all-to-all": all_to_all, "tree": tree}[name](num_ranks)


def _halo_of(word: str, tail: str, num_dimensions: int, num_ranks: int) -> Pattern:
    example = "8x4" if num_dimensions == 2 else "4x4x2"
    match = re.fullmatch(r"(?::([0-9]{1,9}(?:x[0-9]{1,9})*))?(,periodic)?", tail)
    extents = tuple(int(one) for one in match[1].split("x")) if match and match[1] else ()
    if not match or (extents and (len(extents) != num_dimensions or 0 in extents)):
        why = f"a grid of {num_dimensions} dimensions has {num_dimensions} extents"
        name = word.partition(":")[0].partition(",")[0]
        raise bad_pattern(f"there is no pattern {word}", why, f"Write for example {name}:{example} or {name},periodic")
    extents = extents or even_extents(num_ranks, num_dimensions)
    if math.prod(extents) != num_ranks:
        why = f"{' x '.join(map(str, extents))} is {math.prod(extents)}"
        raise bad_pattern(
            f"there is no such grid of {num_ranks} ranks", why, "The product of the extents is the number of ranks"
        )
    return halo(extents, match[2] is not None)
