# SPDX-License-Identifier: Apache-2.0
"""From an HDF5 result of the link test (docs/formats/hdf5.md) to a LinkResult, or to one line on what is wrong."""

from __future__ import annotations

import h5py

from leadline.model import LinkResult, LinkTestRecord, Provenance, Retest, Slice
from leadline.readers.contents import (
    MATRICES,
    all_to_all_of,
    bisection_of,
    findings_of,
    has_rounds,
    linktest_of,
    provenance_of,
    retests_of,
)
from leadline.readers.diagnosis import diagnosis_of
from leadline.readers.hdf5_file import FileReader
from leadline.readers.hdf5_rows import DatasetLayout, RowReader
from leadline.readers.input_file import InputFile


def read_link_result(input_file: InputFile, file: h5py.File) -> LinkResult:
    """Reads all but the matrices, and checks that those are there; LeadlineError or a bad value for whatever is not a
    result.
    """
    return _Reader(input_file, file).result()


class _Reader(FileReader):
    """One pass over an open file."""

    def __init__(self, input_file: InputFile, file: h5py.File) -> None:
        super().__init__(input_file, file)
        self._layouts: dict[str, DatasetLayout] = {}

    def result(self) -> LinkResult:
        provenance = provenance_of(self._group("provenance").attrs, Provenance)
        head = self._head(provenance.num_ranks)
        num_sizes, num_ranks, summary = len(head["message_sizes_bytes"]), len(head["ranks"]), head["summary"]
        slices = self._slices(head["message_sizes_bytes"], num_ranks)
        repeats_with_schedule = self._find_schedules(slices, num_ranks)
        rows = RowReader(self._input, self._layouts, num_ranks)
        linktest = self._linktest(num_ranks)
        return LinkResult(
            **head,
            provenance=provenance,
            slices=slices,
            retests=self._retests(num_sizes, num_ranks),
            findings=findings_of(summary),
            diagnoses=diagnosis_of(summary, slices, num_ranks, len({place.host for place in head["ranks"]})),
            all_to_all=all_to_all_of(summary, slices, linktest),
            bisection_bytes_per_s=bisection_of(summary, slices),
            repeats_with_rounds=frozenset(
                part.repeat for part in repeats_with_schedule if has_rounds(rows.read_rows, part, num_ranks)
            ),
            linktest=linktest,
            read_rows=rows.read_rows,
            read_block=rows.read_block,
        )

    def _slices(self, sizes: tuple[int, ...], num_ranks: int) -> tuple[Slice, ...]:
        slices: list[Slice] = []
        for name, group in sorted(self._group("repeats").items(), key=lambda item: int(item[0])):
            for matrix in MATRICES:
                self._add_place(f"repeats/{name}/{matrix}", (len(sizes), num_ranks, num_ranks), "uif")
            repeat, permutation = int(group.attrs["repeat"]), int(group.attrs["permutation"])
            if repeat != int(name):
                raise self._damaged(f"/repeats/{name} says that it is repeat {repeat}")
            slices += [Slice(repeat, permutation, index, size) for index, size in enumerate(sizes)]
        if not slices:
            raise self._damaged("/repeats has none")
        return tuple(slices)

    def _find_schedules(self, slices: tuple[Slice, ...], num_ranks: int) -> tuple[Slice, ...]:
        """The first slice of each repeat that has a place for its schedule: all, or in older files none, whose runs
        met all pairs.
        """
        firsts = tuple(part for part in slices if part.size_index == 0)
        names = [f"repeats/{part.repeat:04d}/round" for part in firsts]
        if not any(name in self._file for name in names):
            return ()
        for name in names:
            self._add_place(name, (num_ranks, num_ranks), "ui")
        return firsts

    def _add_place(self, name: str, shape: tuple[int, ...], kinds: str) -> None:
        dataset, offset = self._checked(name, shape, kinds)
        self._layouts[name] = DatasetLayout(offset, dataset.dtype, num_ranks=shape[-1])

    def _retests(self, num_sizes: int, num_ranks: int) -> tuple[Retest, ...]:
        if "retest/from" not in self._file:
            return ()
        num_rows = len(self._array("retest/from", 1))
        names = ("repeat", "size_index", "from", "to", "time_ns", "retest_time_ns")
        columns = [self._array(f"retest/{name}", 1, num_rows).tolist() for name in names]
        return retests_of(columns, num_sizes, num_ranks)

    def _linktest(self, num_ranks: int) -> LinkTestRecord | None:
        if "linktest" not in self._file:
            return None
        return linktest_of(self._group("linktest").attrs, self._array("linktest/location", 2, num_ranks), num_ranks)
