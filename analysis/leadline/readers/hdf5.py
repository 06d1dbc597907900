# SPDX-License-Identifier: Apache-2.0
"""From an HDF5 result of the link test (docs/formats/hdf5.md) to a LinkResult, or to one line on what is wrong."""

from __future__ import annotations

from collections.abc import Mapping

from leadline.model import Column, LinkResult, LinkTestRecord, Provenance, Retest, Slice
from leadline.readers import pair_cells
from leadline.readers.contents import (
    MATRICES,
    all_to_all_of,
    bisection_of,
    has_rounds,
    linktest_of,
    retests_of,
)
from leadline.readers.diagnosis import diagnosis_of
from leadline.readers.hdf5_file import FileReader
from leadline.readers.hdf5_rows import RowReader
from leadline.readers.sampled_rounds import NAME as SAMPLED
from leadline.readers.sampled_rounds import SampledReader

# Datasets of the compact form.
_CELLS = (pair_cells.NAME, SAMPLED)


class LinkReader(FileReader):
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
                part.repeat for part in repeats_with_schedule if has_rounds(rows.read_rows, part, num_ranks)
            )
            if self._rounds_follow(f"{slices[0].repeat:04d}", head["options"]):
                repeats_with_rounds = frozenset(part.repeat for part in slices)
        linktest = self._linktest(num_ranks)
        return LinkResult(
            **head,
            slices=slices,
            pair_columns=self._pair_columns(slices[0].repeat),
            retests=self._retests(num_sizes, num_ranks),
            diagnoses=diagnosis_of(summary, slices, num_ranks, len({place.host for place in head["ranks"]})),
            all_to_all=all_to_all_of(summary, slices, linktest),
            bisection_bytes_per_s=bisection_of(summary, slices),
            repeats_with_rounds=repeats_with_rounds,
            linktest=linktest,
            read_rows=rows.read_rows,
            read_block=rows.read_block,
            is_compact=self._is_compact(f"{slices[0].repeat:04d}"),
            read_pairs=sampled.read_pairs if sampled else None,
        )

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
        others = set(self._members(f"repeats/{repeat}")) - set(MATRICES)
        return (*MATRICES, *sorted(name for name in others if name.startswith("time_ns_")))

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
        num_rows = len(self._array("retest/from", 1))
        names = ("repeat", "size_index", "from", "to", "time_ns", "retest_time_ns")
        columns = [self._array(f"retest/{name}", 1, num_rows).tolist() for name in names]
        return retests_of(columns, num_sizes, num_ranks)

    def _linktest(self, num_ranks: int) -> LinkTestRecord | None:
        if not self._has("linktest"):
            return None
        return linktest_of(self._attributes("linktest"), self._array("linktest/location", 2, num_ranks), num_ranks)
