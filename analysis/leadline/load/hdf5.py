# SPDX-License-Identifier: Apache-2.0
"""From an HDF5 result (docs/formats/hdf5.md) to a Result, or to one line that says what is wrong with the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from leadline.error import LeadlineError
from leadline.load.contents import (
    BAD_VALUES,
    FORMAT_VERSION,
    MATRICES,
    all_to_all_of,
    bisection_of,
    findings_of,
    has_rounds,
    linktest_of,
    place_of,
    provenance_of,
    reason_of,
    retests_of,
    summary_of,
    text_of,
)
from leadline.load.hdf5_rows import Place, RowReader
from leadline.load.input_file import InputFile, truncated, unreadable
from leadline.model import LinkTestRecord, RankPlace, Result, Retest, Slice


def load_hdf5(input_file: InputFile) -> Result:
    """Reads all but the matrices, and checks that those are there; LeadlineError for whatever is not a result."""
    with _opened(input_file.path) as file:
        return _Reader(input_file, file).result()


@contextmanager
def _opened(path: Path) -> Iterator[h5py.File]:
    """The file for reading; whatever the library or numpy trips over inside comes out as one line."""
    try:
        # A run may still be writing its rows into the file: reading must not depend on locks.
        with h5py.File(path, "r", locking=False) as file:
            yield file
    except LeadlineError:
        raise
    except (OSError, *BAD_VALUES) as error:
        if "truncated" in str(error):
            raise truncated(path) from error
        raise unreadable(path, f"damaged: {reason_of(error)}") from error


class _Reader:
    """One pass over an open file."""

    def __init__(self, input_file: InputFile, file: h5py.File) -> None:
        self._input, self._path, self._file = input_file, input_file.path, file
        self._file_number = h5py.h5o.get_info(file.id).fileno
        self._places: dict[str, Place] = {}

    def result(self) -> Result:
        self._check_format()
        provenance = provenance_of(self._group("provenance").attrs)
        sizes = tuple(int(size) for size in self._array("message_size_bytes", 1))
        ranks = self._ranks()
        if not sizes or not ranks or provenance.num_ranks != len(ranks):
            raise self._damaged(f"{provenance.num_ranks} ranks, {len(ranks)} places, {len(sizes)} message sizes")
        slices = self._slices(sizes, len(ranks))
        repeats_with_schedule = self._find_schedules(slices, len(ranks))
        rows = RowReader(self._input, self._places, len(ranks))
        complete = bool(self._scalar("status/complete"))
        summary = summary_of(text_of(self._scalar("summary"))) if "summary" in self._file else None
        linktest = self._linktest(len(ranks))
        return Result(
            path=self._path,
            format_version=int(self._file.attrs["format_version"]),
            nonce=text_of(self._file.attrs.get("nonce", "")),
            provenance=provenance,
            options={name: text_of(value) for name, value in self._group("options").attrs.items()},
            message_sizes_bytes=sizes,
            ranks=ranks,
            slices=slices,
            retests=self._retests(len(sizes), len(ranks)),
            findings=findings_of(summary),
            summary=summary,
            complete=complete,
            incomplete_reason="" if complete else text_of(self._scalar("status/reason")) or "no reason given",
            all_to_all=all_to_all_of(summary, slices, linktest),
            bisection_bytes_per_s=bisection_of(summary, slices),
            repeats_with_rounds=frozenset(
                part.repeat for part in repeats_with_schedule if has_rounds(rows.read_rows, part, len(ranks))
            ),
            linktest=linktest,
            read_rows=rows.read_rows,
            read_block=rows.read_block,
        )

    def _damaged(self, why: str) -> LeadlineError:
        return unreadable(self._path, f"damaged: {why}")

    def _check_format(self) -> None:
        attributes = self._file.attrs
        if text_of(attributes.get("format", "")) != "leadline":
            raise unreadable(self._path, "HDF5, but not a result of leadline", "A result of leadline link is wanted")
        version = int(attributes["format_version"])
        if version > FORMAT_VERSION:
            why = f"format version {version}; this program knows up to {FORMAT_VERSION}"
            raise unreadable(self._path, why, "Use a newer leadline")
        if text_of(attributes.get("benchmark", "")) != "link":
            raise unreadable(self._path, f"a result of '{text_of(attributes.get('benchmark', ''))}', not of 'link'")

    def _object(self, name: str, kind: type) -> Any:
        found = self._file.get(name)
        if not isinstance(found, kind):
            raise self._damaged(f"/{name} is missing")
        # A file may say that a part of it is another file's; whoever opens a result means that one.
        is_elsewhere = h5py.h5o.get_info(self._file[name].id).fileno != self._file_number
        if is_elsewhere or (isinstance(found, h5py.Dataset) and (found.external or found.is_virtual)):
            raise self._damaged(f"/{name} lies in another file")
        return found

    def _group(self, name: str) -> h5py.Group:
        return self._object(name, h5py.Group)

    def _scalar(self, name: str) -> Any:
        return np.asarray(self._table(name)[()]).reshape(-1)[0]

    def _table(self, name: str) -> h5py.Dataset:
        """A dataset to be read as a whole: no larger than the file, which shapes alone may claim to be."""
        dataset = self._object(name, h5py.Dataset)
        if dataset.size is None or dataset.size * dataset.dtype.itemsize > 1024 + 64 * self._input.size_bytes:
            raise self._damaged(f"/{name} has the shape {dataset.shape}, more than the file has room for")
        return dataset

    def _array(self, name: str, num_dimensions: int, length: int | None = None) -> Any:
        dataset = self._table(name)
        if dataset.ndim != num_dimensions or (length is not None and dataset.shape[0] != length):
            raise self._damaged(f"/{name} has the shape {dataset.shape}")
        return dataset[()]

    def _ranks(self) -> tuple[RankPlace, ...]:
        hosts = self._array("ranks/host", 1)
        names = ("device", "cpus", "pid", "num_cpus", "numa_node")
        device, cpus, *numbers = (self._array(f"ranks/{name}", 1, len(hosts)) for name in names)
        return tuple(
            place_of(rank, text_of(hosts[rank]), text_of(device[rank]), text_of(cpus[rank]), *of_rank)
            for rank, of_rank in enumerate(zip(*(column.tolist() for column in numbers), strict=True))
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
        dataset = self._object(name, h5py.Dataset)
        if dataset.shape != shape or dataset.dtype.kind not in kinds:
            raise self._damaged(f"/{name} is {dataset.dtype} of the shape {dataset.shape}")
        offset = dataset.id.get_offset()
        if offset is not None and offset + dataset.size * dataset.dtype.itemsize > self._input.size_bytes:
            raise truncated(self._path)
        self._places[name] = Place(offset, dataset.dtype, num_ranks=shape[-1])

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
