# SPDX-License-Identifier: Apache-2.0
"""From an HDF5 result of the link test (docs/formats/hdf5.md) to a LinkResult, or to one line on what is wrong."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leadline.benchmarks import load_as
from leadline.link import pair_cells
from leadline.link.result import AllToAll, LinkResult, LinkTestRecord, Provenance, ReadRows, Retest, Spread
from leadline.link.rows import RowReader
from leadline.link.sampled_rounds import NAME as SAMPLED
from leadline.link.sampled_rounds import SampledReader
from leadline.model import Column, Slice
from leadline.readers.contents import DamagedError, facts_of, of_slices, real_of, text_of
from leadline.readers.diagnosis import diagnosis_of, faults_of
from leadline.readers.hdf5_file import FileReader
from leadline.readers.network import groups_of_hosts

# Of the pairs, in every file.
_MATRICES = ("count", "time_ns_min", "time_ns_median", "time_ns_mean", "time_ns_p99", "time_ns_max")
# Datasets of the compact form.
_CELLS = (pair_cells.NAME, SAMPLED)
_BLOCK_CELLS = 1 << 19


def load_link(path: str | os.PathLike[str]) -> LinkResult:
    """As load(), for results of the link test: LeadlineError for one of another benchmark."""
    return load_as(path, LinkResult)


class Reader(FileReader):
    """Reads all but the matrices, and checks that those are there."""

    def result(self) -> LinkResult:
        """LeadlineError or a bad value for whatever is not one."""
        head = self._head(Provenance)
        num_sizes, num_ranks, summary = len(head["message_sizes_bytes"]), len(head["ranks"]), head["summary"]
        slices = self._slices(head["message_sizes_bytes"], num_ranks)
        repeats_with_schedule = self._find_schedules(slices, num_ranks)
        has_stored_rounds = self._has_stored_rounds(f"{slices[0].repeat:04d}")
        rows: RowReader | SampledReader
        if has_stored_rounds:
            sampled = rows = SampledReader(self._input, self._file, self._datasets)
            repeats_with_rounds = frozenset(part.repeat for part in slices)
        else:
            sampled, rows = None, RowReader(self._input, self._file, self._datasets, num_ranks)
            repeats_with_rounds = frozenset(
                part.repeat for part in repeats_with_schedule if _has_rounds(rows.read_rows, part, num_ranks)
            )
            if self._rounds_follow(f"{slices[0].repeat:04d}", head["options"]):
                repeats_with_rounds = frozenset(part.repeat for part in slices)
        linktest = self._linktest(num_ranks)
        diagnoses = diagnosis_of(summary, slices, num_ranks, len({place.host for place in head["ranks"]}))
        return LinkResult(
            **head,
            slices=slices,
            pair_columns=self._pair_columns(slices[0].repeat),
            retests=self._retests(num_sizes, num_ranks),
            diagnoses=diagnoses,
            faults=faults_of(summary, slices, diagnoses),
            all_to_all=_all_to_all_of(summary, slices, linktest),
            bisection_bytes_per_s=_bisection_of(summary, slices),
            repeats_with_rounds=repeats_with_rounds,
            linktest=linktest,
            network_groups=self._network_groups(len({place.host for place in head["ranks"]})),
            read_rows=rows.read_rows,
            read_block=rows.read_block,
            is_compact=self._is_compact(f"{slices[0].repeat:04d}"),
            read_pairs=sampled.read_pairs if sampled else None,
        )

    def _network_groups(self, num_hosts: int) -> tuple[tuple[int, ...], ...]:
        """Of the network that the run was told of, or none."""
        text = text_of(self._scalar("network")) if self._has("network") else ""
        return groups_of_hosts(json.loads(text), num_hosts) if text else ()

    def _slices(self, sizes: tuple[int, ...], num_ranks: int) -> tuple[Slice, ...]:
        slices: list[Slice] = []
        names = sorted(self._members("repeats"), key=int)
        matrices = self._matrices(names[0]) if names else ()
        num_rounds = self._num_rounds(names[0], num_ranks) if matrices == (SAMPLED,) else 0
        for name in names:
            for matrix in matrices:
                kinds = "u" if matrix in _CELLS else "uif"
                width = num_rounds if matrix == SAMPLED else num_ranks
                self._add(f"repeats/{name}/{matrix}", (len(sizes), num_ranks, width), kinds)
                kind = self._datasets[f"repeats/{name}/{matrix}"].dtype
                if matrix in _CELLS and kind.itemsize != pair_cells.NUM_BYTES:
                    raise self._damaged(f"/repeats/{name}/{matrix} is {kind}")
            facts = self._attributes(f"repeats/{name}")
            repeat, permutation = int(facts["repeat"]), int(facts["permutation"])
            if repeat != int(name):
                raise self._damaged(f"/repeats/{name} says that it is repeat {repeat}")
            slices += [Slice(repeat, permutation, index, size) for index, size in enumerate(sizes)]
        if not slices:
            raise self._damaged("/repeats has none")
        return tuple(slices)

    def _matrices(self, repeat: str) -> tuple[str, ...]:
        """Those that every file has, later ones that this one has, and whatever else it says of the pairs' times. In
        the compact form there is one.
        """
        if self._has_stored_rounds(repeat):
            return (SAMPLED,)
        if self._is_compact(repeat):
            return (pair_cells.NAME,)
        others = set(self._members(f"repeats/{repeat}")) - set(_MATRICES)
        return (*_MATRICES, *sorted(name for name in others if name.startswith("time_ns_")))

    def _is_compact(self, repeat: str) -> bool:
        return self._has(f"repeats/{repeat}/{pair_cells.NAME}") or self._has_stored_rounds(repeat)

    def _rounds_follow(self, repeat: str, options: Mapping[str, str]) -> bool:
        """Whether the program can tell who meets whom from the options: unless they are randomly sampled rounds."""
        is_sample = options.get("rounds", "0") != "0" or options.get("budget", "0") != "0"
        return self._is_compact(repeat) and not is_sample

    def _has_stored_rounds(self, repeat: str) -> bool:
        return self._has(f"repeats/{repeat}/{SAMPLED}")

    def _num_rounds(self, repeat: str, num_ranks: int) -> int:
        """For which there is room; fewer than ranks, since else there is a matrix."""
        name = f"repeats/{repeat}/{SAMPLED}"
        shape = self._shape(name)
        if len(shape) != 3 or not 0 < shape[2] < num_ranks:
            raise self._damaged(f"/{name} has the shape {shape}")
        return shape[2]

    def _pair_columns(self, repeat: int) -> tuple[Column, ...]:
        """See LinkResult."""
        if self._is_compact(f"{repeat:04d}"):
            return pair_cells.COLUMNS
        names = self._matrices(f"{repeat:04d}")
        return tuple(self._column(f"repeats/{repeat:04d}/{name}", "1" if name == "count" else "ns") for name in names)

    def _find_schedules(self, slices: tuple[Slice, ...], num_ranks: int) -> tuple[Slice, ...]:
        """The first slice of each repeat that has a place for its schedule: all, or in older files none, whose runs
        met all pairs.
        """
        firsts = tuple(part for part in slices if part.size_index == 0)
        names = [f"repeats/{part.repeat:04d}/round" for part in firsts]
        if not any(self._has(name) for name in names):
            return ()
        for name in names:
            self._add(name, (num_ranks, num_ranks), "ui")
        return firsts

    def _retests(self, num_sizes: int, num_ranks: int) -> tuple[Retest, ...]:
        if not self._has("retest/from"):
            return ()
        names = ("repeat", "size_index", "from", "to", "time_ns", "retest_time_ns")
        columns = [column.tolist() for column in self._columns("retest", dict.fromkeys(names, "iuf")).values()]
        return _retests_of(columns, num_sizes, num_ranks)

    def _linktest(self, num_ranks: int) -> LinkTestRecord | None:
        if not self._has("linktest"):
            return None
        return _linktest_of(self._attributes("linktest"), self._array("linktest/location", 2, num_ranks), num_ranks)


def _linktest_of(values: Mapping[str, Any], location: Any, num_ranks: int) -> LinkTestRecord:
    """From the attributes of /linktest and the locations, [N, 4]."""
    places = np.asarray(location)
    if places.shape != (num_ranks, 4) or places.dtype.kind not in "ui":
        raise DamagedError(f"/linktest/location is {places.dtype} of the shape {places.shape}")

    times: dict[str, Any] = {
        name: tuple(real_of(values[f"{name}_{which}"]) for which in ("min", "max", "mean"))
        for name in ("time_s", "all_to_all_time_s")
    }
    return LinkTestRecord(**facts_of(values, LinkTestRecord), **times, location=places.astype(np.int64))


def _retests_of(columns: Sequence[Sequence[Any]], num_sizes: int, num_ranks: int) -> tuple[Retest, ...]:
    """From the columns of /retest in the order of its documentation."""
    retests = []
    for repeat, size_index, from_rank, to_rank, time, again in zip(*columns, strict=True):
        if not (0 <= from_rank < num_ranks and 0 <= to_rank < num_ranks and 0 <= size_index < num_sizes):
            raise DamagedError(f"/retest has the pair {from_rank} to {to_rank} of size {size_index}")
        time_ns, retest_time_ns = (
            float(value) if value is not None and 0 < value < math.inf else math.nan for value in (time, again)
        )
        retests.append(Retest(int(repeat), int(size_index), int(from_rank), int(to_rank), time_ns, retest_time_ns))
    return tuple(retests)


def _spread(entry: Mapping[str, Any], quantity: str) -> Spread:
    values = [entry[f"{quantity}_{which}"] for which in ("min", "mean", "max")]
    return Spread(int(entry["num"]), *(real_of(value) for value in values))


def _all_to_all_of(
    summary: Mapping[str, object] | None, slices: tuple[Slice, ...], linktest: LinkTestRecord | None
) -> dict[Slice, AllToAll]:
    """Exchanges of all ranks with all others, of slices that have them."""
    if linktest and linktest.has_all_to_all:
        # Of one byte before each round, whatever the size of the other messages (LinkTest 1.2).
        num_ranks = len(linktest.location)
        least, most, mean = (1e9 * time_s for time_s in linktest.all_to_all_time_s)
        return {slices[0]: AllToAll(1, None, None, Spread(num_ranks * (num_ranks - 1), least, mean, most))}
    return {
        part: AllToAll(
            int(entry["message_size_bytes"]),
            *(_spread(entry[when], "time_ns") if entry[when] else None for when in ("before", "after", "each_round")),
        )
        for part, entry in of_slices(summary, slices, "all_to_all")
    }


def _bisection_of(summary: Mapping[str, object] | None, slices: tuple[Slice, ...]) -> dict[Slice, Spread]:
    """Bandwidths across the cut, of slices that have one."""
    return {part: _spread(entry, "bandwidth_bytes_per_s") for part, entry in of_slices(summary, slices, "bisection")}


def _has_rounds(read_rows: ReadRows, part: Slice, num_ranks: int) -> bool:
    """Whether the schedule of a slice's repeat was written. None is empty: where all is 0, the run was killed before
    that, or one rank was alone, which all but tells its schedule.
    """
    step = max(1, _BLOCK_CELLS // num_ranks)
    blocks = (read_rows(part, "round", first, min(first + step, num_ranks)) for first in range(0, num_ranks, step))
    return any(bool(np.isfinite(block).any()) for block in blocks)
