# SPDX-License-Identifier: Apache-2.0
"""From a SION result (docs/formats/sion.md), LinkTest 1.2's or our own, to a LinkResult, as the engine reads it."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from leadline.error import LeadlineError
from leadline.model import Column, IntArray, LinkResult, Provenance, RankLocation, Slice
from leadline.readers.contents import (
    BAD_VALUES,
    FORMAT_VERSION,
    MATRICES,
    all_to_all_of,
    bisection_of,
    findings_of,
    has_rounds,
    linktest_of,
    provenance_of,
    rank_placement,
    reason_of,
    retests_of,
    summary_of,
)
from leadline.readers.diagnosis import diagnosis_of
from leadline.readers.input_file import InputFile, another_kind, unreadable
from leadline.readers.sion_container import SionContainer, damaged_sion
from leadline.readers.sion_places import (
    COMMON_HEAD_BYTES,
    ENVELOPE_BYTES,
    RANK_HEAD_BYTES,
    RUN_REASON_BYTES,
    RUN_REASON_OFFSET,
    RUN_TEXTS_OFFSET,
    RankHead,
    Shape,
    decode_rank_head,
    padded_text,
)
from leadline.readers.sion_rows import RowReader, ns_of_seconds

_RECORD_VERSION = (1, 2, 1)
_MAGIC = b"LEADLINE"
_EXTENSION_VERSION = 1
_MOST_PERMUTATIONS = 1 << 20
_MOST_PAYLOAD_BYTES = 1 << 62
_TEXT_PIECE_BYTES = 1 << 16
_REASON_FROM_THE_START = "still running, or killed without a word"
_RETEST_COLUMNS = ("repeat", "size_index", "from", "to", "time_ns", "retest_time_ns")


def load_sion(file: InputFile) -> LinkResult:
    """Reads all but the matrices, and looks at every rank's record; LeadlineError for whatever is not a result."""
    container = SionContainer(file)
    try:
        return _Reader(container).result()
    except BAD_VALUES as error:
        raise unreadable(file.path, f"damaged: {reason_of(error)}") from error


@dataclass
class _Run:
    """What the file says of the whole run, whatever part of it said so."""

    provenance: dict[str, Any] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    nonce: str = ""
    format_version: int = FORMAT_VERSION
    message_sizes_bytes: tuple[int, ...] = ()
    repeats: list[tuple[int, int]] = field(default_factory=list)  # number, permutation
    retests: list[list[Any]] = field(default_factory=lambda: [[] for _ in _RETEST_COLUMNS])
    summary: str = ""
    complete: bool = True
    reason: str = ""
    linktest: dict[str, Any] | None = None


class _Reader:
    """One pass over the records of all ranks."""

    def __init__(self, container: SionContainer) -> None:
        self._container, self._path, self._order = container, container.path, container.payload_order
        container.expect_distinct_ranks()
        self._num_ranks = container.num_tasks
        self._last = self._num_ranks - 1
        self._run = _Run()
        self._shape = Shape(self._num_ranks, has_all_to_all=False)
        self._is_extended = False

    def result(self) -> LinkResult:
        record = self._record_of_rank_0()
        if self._is_extended:
            self._take_extension()
        else:
            self._take_record(record)
        run, num_ranks = self._run, self._num_ranks
        self._check_repeats()
        ranks, location = self._places()
        if not self._is_extended:
            run.provenance["num_hosts"] = len({place.host for place in ranks})
        slices = tuple(
            Slice(repeat, permutation, index, size)
            for repeat, permutation in run.repeats
            for index, size in enumerate(run.message_sizes_bytes)
        )
        repeat_index = {repeat: index for index, (repeat, _) in enumerate(run.repeats)}
        rows = RowReader(self._container, self._shape, self._is_extended, repeat_index)
        firsts = [part for part in slices if part.size_index == 0 and self._shape.has_rounds]
        provenance = provenance_of(run.provenance, Provenance)
        if provenance.num_ranks != num_ranks:
            raise self._damaged("EXTENSION", f"{provenance.num_ranks} ranks, {num_ranks} places")
        summary = summary_of(run.summary)
        complete = run.complete and not self._container.is_unfinished
        linktest = None if run.linktest is None else linktest_of(run.linktest, location, num_ranks)
        return LinkResult(
            path=self._path,
            format_version=run.format_version,
            nonce=run.nonce,
            provenance=provenance,
            options=run.options,
            message_sizes_bytes=run.message_sizes_bytes,
            ranks=ranks,
            slices=slices,
            pair_columns=tuple(Column(name, "1" if name == "count" else "ns", "") for name in MATRICES),
            retests=retests_of(run.retests, len(run.message_sizes_bytes), num_ranks),
            findings=findings_of(summary),
            summary=summary,
            complete=complete,
            close=self._container.close,
            incomplete_reason="" if complete else run.reason or _REASON_FROM_THE_START,
            diagnoses=diagnosis_of(summary, slices, num_ranks, len({place.host for place in ranks})),
            all_to_all=all_to_all_of(summary, slices, linktest),
            bisection_bytes_per_s=bisection_of(summary, slices),
            repeats_with_rounds=frozenset(
                part.repeat for part in firsts if has_rounds(rows.read_rows, part, num_ranks)
            ),
            linktest=linktest,
            read_rows=rows.read_rows,
            read_block=rows.read_block,
        )

    def _damaged(self, code: str, detail: str) -> LeadlineError:
        return damaged_sion(self._path, code, detail)

    def _bytes(self, rank: int, offset: int, num_bytes: int) -> bytes:
        available = self._container.size_bytes(rank)
        if offset + num_bytes > available:
            detail = f"rank {rank} has {available} bytes, but {num_bytes} are needed at {offset}"
            raise self._damaged("EXTENSION", detail)
        return self._container.read(rank, offset, num_bytes)

    def _numbers(self, rank: int, offset: int, kind: str) -> tuple[Any, ...]:
        kind = self._order + kind
        return struct.unpack(kind, self._bytes(rank, offset, struct.calcsize(kind)))

    def _record_of_rank_0(self) -> bytes:
        """The common head of its record and of the run; finds out what else there is."""
        size = self._container.size_bytes(0)
        self._expect_layout(self._container.read(0, 0, min(size, COMMON_HEAD_BYTES)))
        if size < self._shape.record_bytes(0):
            raise self._damaged("RECORDSIZE", f"rank 0: the record is cut off after {size} bytes")
        head = self._bytes(0, 0, self._shape.record_times(0))
        has_all_to_all = struct.unpack_from(f"{self._order}i", head, COMMON_HEAD_BYTES + 8)[0] != 0
        self._shape = Shape(self._num_ranks, has_all_to_all)
        expected = self._shape.record_bytes(0)
        if size < expected:
            raise self._damaged("RECORDSIZE", f"rank 0 has {size} bytes, but its record has {expected}")
        if self._bytes(0, expected, min(size - expected, len(_MAGIC))) == _MAGIC:
            self._is_extended = True
        elif size > expected and not self._container.is_unfinished:
            raise self._damaged("RECORDSIZE", f"{size - expected} unknown bytes behind the record of rank 0")
        return head

    def _expect_layout(self, head: bytes) -> None:
        """Whether rank 0 begins as a record of LinkTest 1.2 does."""
        if head.startswith(b"LinkTest"):
            raise self._damaged("RECORDVERSION", "a result of LinkTest 2.x, whose layout is unknown")
        if not head.startswith(b"LKTST"):
            if self._container.is_unfinished:
                raise self._damaged("UNCLOSED", "no result of LinkTest is in it so far")
            raise another_kind(
                self._path, "SION, but not a result of LinkTest", "A result of leadline link or LinkTest is wanted"
            )
        if len(head) < COMMON_HEAD_BYTES:
            raise self._damaged("RECORDSIZE", f"rank 0 has {len(head)} bytes")
        version = struct.unpack_from(f"{self._order}3i", head, 5)
        if version != _RECORD_VERSION:
            name = ".".join(str(number) for number in version)
            raise self._damaged("RECORDVERSION", f"layout {name} of LinkTest is unknown; layout 1.2.1 is read")

    def _take_record(self, head: bytes) -> None:
        """What LinkTest's record says of the run, and what is known of all of its runs."""
        run, num_ranks = self._run, self._num_ranks
        numbers = struct.unpack_from(f"{self._order}10i10d", head, COMMON_HEAD_BYTES)
        num_iterations, size, has_all_to_all, _, is_serial, is_permuted = numbers[:6]
        times = {
            f"{name}_{which}": numbers[10 + 3 * index + position]
            for index, name in enumerate(("time_s", "all_to_all_time_s"))
            for position, which in enumerate(("min", "max", "mean"))
        }
        run.linktest = {
            "num_iterations": num_iterations, "message_size_bytes": size, "has_all_to_all": has_all_to_all != 0,
            "is_serial": is_serial != 0, "is_permuted": is_permuted != 0, **times,
        }  # fmt: skip
        if size < 0:
            raise unreadable(self._path, f"damaged: the message size is {size}")
        self._shape = Shape(num_ranks, has_all_to_all != 0, num_sizes=1, num_repeats=1, has_rounds=True)
        run.message_sizes_bytes, run.repeats = (size,), [(0, -1)]
        self._take_retests_of_record()
        steps = np.frombuffer(self._bytes(0, self._shape.record_steps(0), 4 * num_ranks), f"{self._order}i4")
        # What such a file does not tell is an empty text or 0.
        unknown = ("version", "commit", "start_utc", "launcher", "kernel", "transport_library", "transport_device",
                   "clock_source", "wait")  # fmt: skip
        run.provenance = dict.fromkeys(unknown, "") | {
            "command_line": "[]", "transport": "mpi", "simulated": 0, "clock_resolution_ns": 0.0, "clock_cost_ns": 0.0,
            "control_plane_on_loopback": 0, "num_ranks": num_ranks, "num_hosts": 0, "num_rounds": int(steps.max()),
            "direction": "semidirectional",
        }  # fmt: skip
        run.options = {
            "transport": "mpi", "message_size": str(size), "messages": str(num_iterations),
            "direction": "semidirectional", "all_to_all": "before-each-round" if has_all_to_all else "none",
            "serial": "true" if is_serial else "false", "repeat": "1",
        }  # fmt: skip

    def _take_retests_of_record(self) -> None:
        """Their number is not stored: unused rows at the end are zero."""
        num, offset, columns = self._num_ranks, self._shape.record_retests(), []
        for kind in ("f8", "f8", "i4", "i4"):
            column = np.frombuffer(self._bytes(0, offset, num * int(kind[1])), f"{self._order}{kind}")
            columns.append(column)
            offset += column.nbytes
        used = np.flatnonzero(np.any([column != 0 for column in columns], axis=0))
        end = int(used[-1]) + 1 if used.size else 0
        again, first, from_rank, to_rank = (column[:end] for column in columns)
        times = [ns_of_seconds(column.astype(np.float64)).tolist() for column in (first, again)]
        self._run.retests = [[0] * end, [0] * end, from_rank.tolist(), to_rank.tolist(), *times]

    def _places(self) -> tuple[tuple[RankLocation, ...], IntArray]:
        """Where each rank ran, and LinkTest's location of it, [N, 4]; the records of all ranks are looked at."""
        places, location = [], np.zeros((self._num_ranks, 4), dtype=np.int64)
        for rank in range(self._num_ranks):
            head = self._common_head(rank)
            location[rank] = struct.unpack_from(f"{self._order}4i", head, COMMON_HEAD_BYTES - 16)
            if self._is_extended:
                rank_head = self._rank_head(rank)
                places.append(
                    rank_placement(
                        rank,
                        rank_head.host,
                        rank_head.device,
                        rank_head.cpus,
                        rank_head.pid,
                        rank_head.num_cpus,
                        rank_head.numa_node,
                    )
                )
            else:
                places.append(rank_placement(rank, padded_text(head[17 : COMMON_HEAD_BYTES - 16])))
        return tuple(places), location

    def _common_head(self, rank: int) -> bytes:
        size, expected = self._container.size_bytes(rank), self._shape.record_bytes(rank)
        may_be_longer = self._is_extended or self._container.is_unfinished
        if size < expected or (size > expected and not may_be_longer):
            raise self._damaged("RECORDSIZE", f"rank {rank} has {size} bytes, not {expected}")
        head = self._bytes(rank, 0, COMMON_HEAD_BYTES)
        if not head.startswith(b"LKTST"):
            raise self._damaged("RECORDID", f"rank {rank} has no record")
        return head

    def _extension_bytes(self, rank: int) -> int:
        """The length of a rank's payload, by its envelope."""
        envelope = self._bytes(rank, self._shape.record_bytes(rank), ENVELOPE_BYTES)
        if not envelope.startswith(_MAGIC):
            raise self._damaged("EXTENSION", f"rank {rank} has none")
        version, _, length = struct.unpack_from(f"{self._order}IIQ", envelope, len(_MAGIC))
        if version != _EXTENSION_VERSION:
            why = f"its extension has version {version}; this program knows version {_EXTENSION_VERSION}"
            raise unreadable(self._path, why, "Use a newer leadline")
        room = self._container.size_bytes(rank) - self._shape.payload(rank)
        if length > room or (length < room and not self._container.is_unfinished):
            raise self._damaged("EXTENSION", f"rank {rank} has {length} bytes of it in the space of {room}")
        return int(length)

    def _rank_head(self, rank: int) -> RankHead:
        """Checks that a rank's extension belongs to the run and is as long as it must be."""
        length, wanted = self._extension_bytes(rank), self._shape.rank_part_bytes()
        if length < wanted + RUN_TEXTS_OFFSET if rank == self._last else length != wanted:
            raise self._damaged("EXTENSION", f"rank {rank} has {length} bytes of it, not {wanted}")
        head = self._bytes(rank, self._shape.payload(rank), RANK_HEAD_BYTES)
        decoded = decode_rank_head(head, self._order, self._shape.has_all_to_all)
        if decoded.shape != self._shape or decoded.rank != rank:
            raise self._damaged("EXTENSION", f"rank {rank} says that it is rank {decoded.rank}, or of another run")
        return decoded

    def _take_extension(self) -> None:
        if self._extension_bytes(0) < RANK_HEAD_BYTES:
            raise self._damaged("EXTENSION", "that of rank 0 is cut off")
        head = self._bytes(0, self._shape.payload(0), RANK_HEAD_BYTES)
        shape = decode_rank_head(head, self._order, self._shape.has_all_to_all).shape
        is_sane = (
            shape.num_ranks == self._num_ranks
            and shape.num_permutations <= _MOST_PERMUTATIONS
            and shape.num_all_to_all_slots <= 2 * shape.num_ranks
            and shape.has_all_to_all == (shape.num_all_to_all_slots > 0)
            and shape.rank_part_bytes() < _MOST_PAYLOAD_BYTES
        )
        if not is_sane:
            raise self._damaged("EXTENSION", "the numbers of ranks, permutations or rounds cannot be")
        self._shape = shape
        self._rank_head(0)
        for index in range(shape.num_repeats):
            self._take_repeat(index)
        self._rank_head(self._last)
        self._take_run_part(self._shape.payload(self._last) + self._extension_bytes(self._last))
        if len(self._run.message_sizes_bytes) != shape.num_sizes:
            detail = f"{len(self._run.message_sizes_bytes)} message sizes, but room for {shape.num_sizes}"
            raise self._damaged("EXTENSION", detail)

    def _take_repeat(self, index: int) -> None:
        repeat, permutation = self._numbers(0, self._shape.payload(0) + self._shape.repeat(index), "2i")
        # At once: the number of repeats may be wrong and lead into a hole of the file.
        before = self._run.repeats[-1][0] if self._run.repeats else -1
        if repeat <= before:
            raise self._damaged("EXTENSION", f"repeat {repeat} follows repeat {before}")
        self._run.repeats.append((repeat, permutation))

    def _take_run_part(self, end: int) -> None:
        """What the last rank has of the whole run; its payload ends at `end`."""
        run, begin = self._run, self._shape.payload(self._last) + self._shape.rank_part_bytes()
        run.complete = self._numbers(self._last, begin, "Q")[0] != 0
        run.reason = padded_text(self._bytes(self._last, begin + RUN_REASON_OFFSET, RUN_REASON_BYTES))
        start_text, offset = self._run_text(begin + RUN_TEXTS_OFFSET, end)
        end_text, offset = self._run_text(offset, end)
        run.summary, _ = self._run_text(offset, end)
        try:
            self._take_texts(json.loads(start_text), json.loads(end_text or "{}"))
        except BAD_VALUES as error:
            detail = f"what is said about the run cannot be understood: {reason_of(error)}"
            raise self._damaged("EXTENSION", detail) from error

    def _take_texts(self, start: dict[str, Any], ending: dict[str, Any]) -> None:
        """What was known before the first message, and what the end added."""
        run = self._run
        if start["format_version"] > FORMAT_VERSION:
            why = f"format version {start['format_version']}; this program knows up to {FORMAT_VERSION}"
            raise unreadable(self._path, why, "Use a newer leadline")
        run.format_version, run.nonce = int(start["format_version"]), str(start["nonce"])
        run.provenance = dict(start["provenance"])
        run.options = {str(name): str(value) for name, value in start["options"].items()}
        run.message_sizes_bytes = tuple(int(size) for size in start["message_size_bytes"])
        if "linktest" in start:
            run.linktest = {name: value for name, value in start["linktest"].items() if not isinstance(value, dict)}
            for name in ("time_s", "all_to_all_time_s"):
                run.linktest |= {f"{name}_{which}": value for which, value in start["linktest"][name].items()}
        if "end_utc" in ending:
            run.provenance["end_utc"] = ending["end_utc"]
        if "retest" in ending:
            run.retests = [list(ending["retest"][name]) for name in _RETEST_COLUMNS]

    def _run_text(self, offset: int, end: int) -> tuple[str, int]:
        """A text behind its length, and the place behind it; piece by piece, so that a length that is a lie about a
        hole ends at the first zero.
        """
        length = self._numbers(self._last, offset, "Q")[0]
        offset += 8
        if offset > end or length > end - offset:
            raise self._damaged("EXTENSION", "a text is cut off")
        pieces = []
        for start in range(offset, offset + length, _TEXT_PIECE_BYTES):
            pieces.append(self._bytes(self._last, start, min(_TEXT_PIECE_BYTES, offset + length - start)))
            if b"\0" in pieces[-1]:
                raise self._damaged("EXTENSION", "a text has zeros in it")
        return b"".join(pieces).decode("utf-8", errors="replace"), offset + length

    def _check_repeats(self) -> None:
        sizes = self._run.message_sizes_bytes
        if not sizes or not self._run.repeats:
            raise self._damaged("EXTENSION", f"{len(sizes)} message sizes, {len(self._run.repeats)} repeats")
        if not all(0 <= size < 1 << 64 for size in sizes):
            raise self._damaged("EXTENSION", "a message size leaves 64 bits")
