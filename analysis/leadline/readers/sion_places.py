# SPDX-License-Identifier: Apache-2.0
"""Where each part of a result lies in the bytes of one rank of a SION file (docs/formats/sion.md)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

COMMON_HEAD_BYTES = 289  # of LinkTest's record, before its tables
RUN_HEAD_BYTES = 120  # more of it on rank 0
ENVELOPE_BYTES = 24  # of the extension, before its payload
RANK_HEAD_BYTES = 960  # of the payload
RUN_REASON_OFFSET, RUN_REASON_BYTES = 8, 1024
RUN_TEXTS_OFFSET = RUN_REASON_OFFSET + RUN_REASON_BYTES

# In the order in which they lie in the extension.
_STATISTICS = ("time_ns_min", "time_ns_median", "time_ns_mean", "time_ns_p99", "time_ns_max")
_HOST_BYTES, _DEVICE_BYTES, _CPUS_BYTES = 512, 128, 256


@dataclass(frozen=True)
class Shape:
    """What decides the length of everything; all but the first two are of the extension."""

    num_ranks: int
    has_all_to_all: bool
    num_sizes: int = 0
    num_repeats: int = 0
    num_permutations: int = 0
    num_all_to_all_slots: int = 0
    has_rounds: bool = False

    # Offsets in a rank's content.

    def record_times(self, rank: int) -> int:
        """Of float64 [N] in s; behind them int32 [N], the steps."""
        return COMMON_HEAD_BYTES + (RUN_HEAD_BYTES if rank == 0 else 0)

    def record_steps(self, rank: int) -> int:
        """Of int32 [N]."""
        return self.record_times(rank) + 8 * self.num_ranks

    def record_retests(self) -> int:
        """On rank 0, of two columns of float64 [N] and two of int32 [N]."""
        return self.record_steps(0) + (12 if self.has_all_to_all else 4) * self.num_ranks

    def record_bytes(self, rank: int) -> int:
        """All of LinkTest's record."""
        retests = 24 * self.num_ranks if rank == 0 else 0
        return self.record_steps(rank) + (12 if self.has_all_to_all else 4) * self.num_ranks + retests

    def payload(self, rank: int) -> int:
        """Of the extension."""
        return self.record_bytes(rank) + ENVELOPE_BYTES

    # Offsets in the payload of the extension.

    def repeat(self, index: int) -> int:
        """Of its number and its permutation."""
        slice_bytes = 44 * self.num_ranks + 8 * self.num_all_to_all_slots
        repeat_bytes = 8 + (4 * self.num_ranks if self.has_rounds else 0) + self.num_sizes * slice_bytes
        return RANK_HEAD_BYTES + 4 * self.num_permutations + index * repeat_bytes

    def rank_part_bytes(self) -> int:
        """All of it but the part of the run, which the last rank has behind this."""
        return self.repeat(self.num_repeats)

    def rounds(self, index: int) -> int:
        """Of int32 [N]."""
        return self.repeat(index) + 8

    def matrix(self, index: int, size_index: int, name: str) -> int:
        """Of uint32 [N] for `count`, float64 [N] for a time."""
        slice_bytes = 44 * self.num_ranks + 8 * self.num_all_to_all_slots
        count = self.rounds(index) + (4 * self.num_ranks if self.has_rounds else 0) + size_index * slice_bytes
        return count if name == "count" else count + (4 + 8 * _STATISTICS.index(name)) * self.num_ranks


@dataclass(frozen=True)
class RankHead:
    """What each rank's payload begins with."""

    shape: Shape
    rank: int
    pid: int
    num_cpus: int
    numa_node: int
    host: str
    device: str
    cpus: str


def decode_rank_head(head: bytes, order: str, has_all_to_all: bool) -> RankHead:
    """From RANK_HEAD_BYTES bytes; `order` as struct has it, `has_all_to_all` as the record says."""
    num_ranks, rank, num_sizes, num_repeats, num_permutations, num_slots, has_rounds = struct.unpack_from(
        f"{order}7I", head
    )
    shape = Shape(num_ranks, has_all_to_all, num_sizes, num_repeats, num_permutations, num_slots, has_rounds != 0)
    texts, offset = [], RANK_HEAD_BYTES - _HOST_BYTES - _DEVICE_BYTES - _CPUS_BYTES
    for length in (_HOST_BYTES, _DEVICE_BYTES, _CPUS_BYTES):
        texts.append(padded_text(head[offset : offset + length]))
        offset += length
    return RankHead(shape, rank, *struct.unpack_from(f"{order}3i", head, 28), *texts)


def padded_text(padded: bytes) -> str:
    """What stands before the first zero."""
    return padded.partition(b"\0")[0].decode("utf-8", errors="replace")
