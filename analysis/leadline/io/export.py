# SPDX-License-Identifier: Apache-2.0
"""The phases of a parallel file test, or its ranks in each phase, as columns for all exported tables."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from leadline.export.table import Block, Table, Words, by_column, plain_name, with_others
from leadline.io.result import IO_TIMES, LATENCIES, RATES, IoPhase, IoResult, PhaseState
from leadline.model import Column, Progress
from leadline.model.run import with_progress

_NAME_COLUMNS = (
    Column("phase", "1", "number of the phase, from 1"),
    Column("operation", "", "write, read, or one on files and directories as a whole"),
    Column("repeat", "1", "number of the repetition, from 1"),
)
_COUNTS = ("bytes", "message_bytes", "num_objects", "num_calls", "num_continued", "num_mismatches")
_RANK_COUNTS = {
    "num_objects": "objects of the rank", "bytes": "that it moved to or from files",
    "message_bytes": "that it sent to or got from other ranks", "num_calls": "write or read calls",
    "num_continued": "calls that moved less than asked", "num_mismatches": "objects that were not as written",
}  # fmt: skip


def table_of(result: IoResult, options: argparse.Namespace) -> tuple[Table[IoResult], Sequence[int]]:
    """The table of its phases, or of the ranks in each of them, and the message sizes that it is of."""
    table = with_others(RANKS, result.other_columns) if options.ranks else PHASES
    return table, result.size_indices(options.message_size)


def _names(phase: IoPhase) -> list[Any]:
    return [phase.index + 1, phase.operation, phase.repeat + 1]


def _phases(result: IoResult, _sizes: Sequence[int], progress: Progress | None = None) -> Iterator[Block]:
    rows = []
    for phase in result.measured_phases:
        rows.append([
            *_names(phase), int(phase.state == PhaseState.COMPLETE),
            *(None if math.isnan(count) else int(count) for count in map(phase.value, _COUNTS)),
            *(phase.value(name) for name in (*RATES, "operations_per_s", *LATENCIES)),
            phase.summary.get("source"), phase.summary.get("is_durable") and 1,
        ])  # fmt: skip
    yield by_column(rows)
    if progress:
        progress(1)


def _ranks(result: IoResult, _sizes: Sequence[int], progress: Progress | None = None) -> Iterator[Block]:
    hosts, files = (
        [plain_name(name) for name in names] for names in ([one.host for one in result.ranks], result.files)
    )
    for phase in with_progress(result.measured_phases, progress):
        moved = result.rows(phase)
        rank = np.flatnonzero(moved.has_row)
        has_calls = moved.num_calls[rank] > 0
        yield (
            *([value] * len(rank) for value in _names(phase)), rank, Words(rank, hosts),
            [files[file] if 0 <= file < len(files) else None for file in moved.file[rank].tolist()],
            *(values[rank] for values in (moved.begin_ns, moved.end_ns, moved.io_ns)),
            *(moved.times_ns[name][rank] for name in IO_TIMES),
            *(getattr(moved, name)[rank] for name in _RANK_COUNTS),
            *(np.where(has_calls, values[rank], np.nan) for values in (moved.call_ns_min, moved.call_ns_max)),
            moved.bytes_per_s[rank], *(values[rank] for values in moved.others.values()),
        )  # fmt: skip


PHASES: Table[IoResult] = Table(
    (
        *_NAME_COLUMNS,
        Column("complete", "1", "1 where it finished"),
        *(Column(name, "bytes" if name.endswith("bytes") else "1", "over all ranks") for name in _COUNTS),
        *(Column(name, "bytes/s", meaning) for name, meaning in RATES.items()),
        Column("operations_per_s", "1/s", "calls by the time of the bandwidth; of metadata by the longest I/O time"),
        *(Column(name, "ns", "time of a call") for name in LATENCIES),
        Column("source", "", "of a read: cache, storage, mixed or not_known"),
        Column("durable", "1", "of a write: 1 where it was synced within its time"),
    ),
    _phases,
)
RANKS: Table[IoResult] = Table(
    (
        *_NAME_COLUMNS,
        Column("rank", "1", "whose row it is"),
        Column("host", "", "its host"),
        Column("file", "", "that its objects are in"),
        Column("begin_ns", "ns", "before its open, since the common start of the phase"),
        Column("end_ns", "ns", "after its close and sync"),
        Column("io_ns", "ns", "between them, without fill, verify and a sync that is outside"),
        *(Column(f"{name}_ns", "ns", "what it spent on this") for name in IO_TIMES),
        *(Column(name, "bytes" if name.endswith("bytes") else "1", text) for name, text in _RANK_COUNTS.items()),
        Column("call_ns_min", "ns", "its fastest call"),
        Column("call_ns_max", "ns", "its slowest call"),
        Column("bytes_per_s", "bytes/s", "its bytes by its I/O time"),
    ),
    _ranks,
)
TABLES = (PHASES, RANKS)
